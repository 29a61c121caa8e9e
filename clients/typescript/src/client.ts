import { follow, type RequestEvent } from './events.ts';
import { environment, save } from './files-node.ts';
import {
  Calls,
  type InterpretEchoBody,
  type InterpretObstetricBody,
  type Request,
  type ResultArtifact,
} from './generated.ts';
import { createTransport, type Fetch, type FetchInit } from './transport.ts';
import { openSource, type Source, type UploadOptions, upload } from './upload.ts';

export interface SonogateOptions {
  /** Address of the gateway; defaults to `SONOGATE_URL`. */
  url?: string;
  /** API key; defaults to `SONOGATE_KEY`. */
  key?: string;
  /** Number of retries after a failure that may be temporary; defaults to 4. */
  retries?: number;
  fetch?: typeof fetch;
}

type Body = InterpretObstetricBody | InterpretEchoBody;

/**
 * A submission, with the fields of `input` on the same level as all others. Upload ids and https
 * addresses in `files` are sent as they are; everything else is uploaded first.
 */
export type Submission<B extends Body = Body> = Omit<B, 'input'> &
  Omit<B['input'], 'files' | 'prior_files'> & {
    /** Paths of files and folders (Node.js), Files, upload ids or https addresses. */
    files: Source[];
    prior_files?: Source[];
  };

export interface SubmitOptions extends UploadOptions {}

const ENDED: ReadonlySet<string> = new Set([
  'succeeded',
  'failed',
  'canceled',
  'rejected',
  'expired',
]);

const LONGEST_WAIT_SECONDS = 60;

/** A client for the HTTP API of a Sonogate gateway. */
export class Sonogate {
  /** Every call of the API as a method. */
  readonly calls: Calls;
  readonly #request: Fetch;
  readonly #retries: number;
  readonly #fetch: typeof fetch;

  constructor(options: SonogateOptions = {}) {
    const { url = environment('SONOGATE_URL'), key = environment('SONOGATE_KEY') } = options;
    if (!url || !key) throw new Error('Give url and key, or set SONOGATE_URL and SONOGATE_KEY.');
    this.#retries = options.retries ?? 4;
    this.#fetch = options.fetch ?? ((...given) => fetch(...given));
    const transport = createTransport({ url, key, retries: this.#retries, fetch: this.#fetch });
    this.#request = transport.request;
    this.calls = new Calls(transport.send);
  }

  /**
   * Makes a request with the API key, for calls that `calls` does not cover.
   * @throws ApiError, NoAnswerError
   */
  fetch(path: string, init?: FetchInit): Promise<Response> {
    return this.#request(path, init);
  }

  /** Uploads files, and every file in the given folders. Returns the upload ids for `files`. */
  async upload(sources: readonly Source[], options?: UploadOptions): Promise<string[]> {
    const opened = (await Promise.all(sources.map(openSource))).flat();
    return upload(
      { calls: this.calls, fetch: this.#fetch, retries: this.#retries },
      opened,
      options,
    );
  }

  /**
   * Uploads whatever has not been uploaded yet, and submits it. Repeating a submission with the
   * same `idempotencyKey` creates only one request and resumes interrupted uploads.
   */
  async submit(
    endpoint: string,
    submission: Submission<InterpretObstetricBody> | Submission<InterpretEchoBody>,
    options: SubmitOptions = {},
  ): Promise<Request> {
    const { idempotencyKey = crypto.randomUUID(), signal } = options;
    const { files, prior_files, options: wanted, clinical_context, ...rest } = submission;
    const own = (list: Source[], key: string) =>
      this.#ids(list, { ...options, idempotencyKey: `${idempotencyKey}/${key}` });
    const body = {
      ...rest,
      input: {
        files: await own(files, 'files'),
        ...(prior_files && { prior_files: await own(prior_files, 'prior') }),
        ...(wanted && { options: wanted }),
        ...(clinical_context && { clinical_context }),
      },
    };
    const answer = await this.#request(`/v1/run/${endpoint}`, {
      method: 'POST',
      headers: { 'Idempotency-Key': idempotencyKey },
      json: body,
      ...(signal && { signal }),
    });
    return (await answer.json()) as Request;
  }

  /** Replaces each source with its upload id or address, uploading those that have neither. */
  async #ids(sources: readonly Source[], options: UploadOptions): Promise<string[]> {
    const known = (each: Source): each is string =>
      typeof each === 'string' && /^(file_[0-9a-z]{26}$|https?:\/\/)/.test(each);
    const opened = await Promise.all(
      sources.map(async (each) => (known(each) ? each : await openSource(each))),
    );
    const local = opened.filter((each) => typeof each !== 'string').flat();
    const ids = await this.upload(local, options);
    return opened.flatMap((each) =>
      typeof each === 'string' ? [each] : ids.splice(0, each.length),
    );
  }

  /** Yields the events of a request until it has ended, reconnecting as necessary. */
  follow(
    requestId: string,
    options?: { after?: number; signal?: AbortSignal },
  ): AsyncGenerator<RequestEvent> {
    return follow(this.#request, requestId, options);
  }

  /** Waits until a request has ended, and returns it. */
  async wait(requestId: string, options: { signal?: AbortSignal } = {}): Promise<Request> {
    for (;;) {
      const given = { id: requestId, wait: LONGEST_WAIT_SECONDS };
      const request = await this.calls.getRequest(given, options);
      if (ENDED.has(request.status)) return request;
    }
  }

  /** Cancels a request that has not ended. */
  cancel(requestId: string): Promise<Request> {
    return this.calls.cancelRequest({ id: requestId });
  }

  /** Returns an artifact as a response. */
  async artifact(requestId: string, name: string): Promise<Response> {
    const [id, file] = [requestId, name].map(encodeURIComponent);
    return this.#request(`/v1/requests/${id}/artifacts/${file}`);
  }

  /**
   * Saves artifacts to a folder (Node.js), all of them by default, and checks the SHA-256 of each.
   * Returns their paths.
   */
  async download(requestId: string, folder: string, names?: readonly string[]): Promise<string[]> {
    const { data } = await this.calls.listArtifacts({ id: requestId });
    const wanted = names
      ? names.map((name): ResultArtifact => {
          const found = data.find((each) => each.name === name);
          if (!found) throw new Error(`${requestId} has no artifact ${name}`);
          return found;
        })
      : data;
    const paths: string[] = [];
    for (const artifact of wanted) {
      const { body } = await this.artifact(requestId, artifact.name);
      if (!body) throw new Error(`${artifact.name} is empty`);
      paths.push(await save(folder, artifact, body));
    }
    return paths;
  }
}
