import type {
  Bundle,
  BundleEntry,
  BundleEntryRequest,
  CapabilityStatement,
  Resource,
  ResourceType,
} from '@medplum/fhirtypes';
import { Client } from 'fhir-kit-client';
import type { FhirDestination } from '../../config/schema.ts';
import { LONGEST_HOLD_SECONDS } from '../../src/core/outbox/delivery.ts';
import { retryAfterSeconds } from '../../src/platform/outbound/retry-after.ts';
import type { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { type Credentials, credentialsOf } from './authorization.ts';
import { classifyStatus, type Failure, FhirFailure, failureOf } from './outcome.ts';
import type { Content, FhirServer, ResourceOf, TransactionReceipt } from './server.ts';
import { tlsDispatcher } from './tls-dispatcher.ts';

/** Errors that end a connection before any byte of the request was sent. */
const BEFORE_SENDING =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_.*|CERT_.*|.*SELF_SIGNED.*|UNABLE_TO_.*)$/;

/** The error that fhir-kit-client throws for a response that is not JSON or has no 2xx status. */
interface AnswerError {
  response: { status: number; data: unknown };
  config: { headers: Headers };
}

/**
 * Classifies the error of a FHIR interaction. If the response to a write was lost, the write may
 * have been committed, so the failure is ambiguous. The error message is dropped, because it can
 * contain the URL with its credentials.
 */
export function classifyFetchError(error: unknown, interaction: 'read' | 'write'): Failure {
  if (isAnswerError(error)) return classifyAnswer(error, interaction);
  const code = causeCode(error);
  if (interaction === 'read' || BEFORE_SENDING.test(code)) {
    return failureOf('ehr_unavailable', `No answer: ${code}`);
  }
  return failureOf('ehr_ambiguous', `The response was lost: ${code}`);
}

/** Returns true if a failure is a response with one of these statuses. */
export function hasAnswer(failure: Failure, statuses: readonly number[]): boolean {
  return failure.status !== null && statuses.includes(failure.status);
}

function classifyAnswer(error: AnswerError, interaction: 'read' | 'write'): Failure {
  const { status, data } = error.response;
  const { headers } = error.config;
  // fhir-kit-client reports a 2xx response as an error only if its body could not be parsed.
  const damaged = status < 300 && /json/.test(headers.get('content-type') ?? '');
  if (damaged) {
    const code = interaction === 'write' ? 'ehr_ambiguous' : 'ehr_unavailable';
    return { ...failureOf(code, `HTTP ${status} with damaged JSON`), status };
  }
  return classifyStatus(
    status,
    data,
    retryAfterSeconds(headers.get('retry-after'), LONGEST_HOLD_SECONDS),
  );
}

function isAnswerError(error: unknown): error is AnswerError {
  return (
    error instanceof Error &&
    'response' in error &&
    typeof error.response === 'object' &&
    error.response !== null &&
    'status' in error.response &&
    'config' in error &&
    typeof error.config === 'object' &&
    error.config !== null &&
    'headers' in error.config &&
    error.config.headers instanceof Headers
  );
}

/** Returns the system code of the innermost cause, otherwise the name of the error. */
function causeCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.cause instanceof Error) return causeCode(error.cause);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

type FhirConnection = Pick<FhirDestination, 'baseUrl' | 'authorization' | 'tls' | 'timeoutSeconds'>;

const JSON_BODY = { 'content-type': 'application/fhir+json' };

/**
 * Asks the server to return the created resource. Without this header, some servers omit its id.
 */
const RETURNED = { ...JSON_BODY, prefer: 'return=representation' };

/**
 * Maximum length of a string in FHIR R4. The format of a Binary's data has no maximum, but some
 * servers (Medplum) apply this one to every string.
 */
const LONGEST_STRING = 1024 * 1024;

/** Statuses with which a server refuses a Binary in one form but may accept it in the other. */
const CONTENT_REFUSED = [400, 413, 415, 422];

/** HTTP 202: accepted but not carried out yet, so there are no entry statuses to check. */
const ACCEPTED = 202;

/**
 * Makes an unknown search parameter an error: if it were ignored, the search would match every
 * patient.
 */
const STRICT = { prefer: 'handling=strict' };

/** Creates the client for an EHR. No connection is made before the first request. */
export function connectFhir(
  connection: FhirConnection,
  certificates: ClientCertificates,
): FhirServer {
  return new EhrConnection(connection, certificates);
}

/**
 * An EHR, accessed through fhir-kit-client. This class adds time-outs and checks of entry statuses,
 * which the library lacks. Redirects are never followed, so that credentials are sent only to the
 * configured host. A transaction is posted to the base itself, without a trailing slash.
 */
class EhrConnection implements FhirServer {
  readonly #baseUrl: string;
  readonly #timeoutMs: number;
  readonly #credentials: Credentials;
  readonly #client: Client;

  constructor(
    { baseUrl, tls, authorization, timeoutSeconds }: FhirConnection,
    certificates: ClientCertificates,
  ) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
    this.#timeoutMs = timeoutSeconds * 1000;
    const dispatcherNow = tlsDispatcher(tls, certificates);
    const credentials = credentialsOf(authorization, { baseUrl: this.#baseUrl, dispatcherNow });
    this.#credentials = credentials;
    this.#client = new Client({
      baseUrl: this.#baseUrl,
      requestOptions: { redirect: 'manual' },
      requestSigner: async (_url, init) => {
        Object.assign(init, { dispatcher: await dispatcherNow() });
        const value = await credentials.header(init.signal ?? undefined);
        if (value !== null && init.headers instanceof Headers) {
          init.headers.set('authorization', value);
        }
      },
    });
  }

  async search<Type extends ResourceType>(
    type: Type,
    parameters: Record<string, string>,
    signal: AbortSignal,
  ): Promise<ResourceOf<Type>[]> {
    const entries = await this.#find(type, parameters, signal);
    return entries.flatMap(({ resource }) => (isResource(resource, type) ? [resource] : []));
  }

  async read<Type extends ResourceType>(
    type: Type,
    id: string,
    signal: AbortSignal,
  ): Promise<ResourceOf<Type> | null> {
    try {
      const answer = await this.#call('read', signal, (either) =>
        this.#client.read({ resourceType: type, id, options: { signal: either } }),
      );
      return isResource(answer, type) ? answer : null;
    } catch (error) {
      if (error instanceof FhirFailure && hasAnswer(error.reason, [404, 410])) return null;
      throw error;
    }
  }

  create(resource: Resource, signal: AbortSignal): Promise<string> {
    return this.write(
      { resource, request: { method: 'POST', url: resource.resourceType } },
      signal,
    );
  }

  async createBinary(
    { data, mediaType, securityContext }: Content,
    signal: AbortSignal,
  ): Promise<string> {
    const asResource = () =>
      this.create(
        {
          resourceType: 'Binary',
          contentType: mediaType,
          securityContext: securityContext ? { reference: securityContext } : undefined,
          data: data.toString('base64'),
        },
        signal,
      );
    const asContent = () => {
      const headers = {
        'content-type': mediaType,
        prefer: 'return=minimal',
        ...(securityContext && { 'x-security-context': securityContext }),
      };
      return this.#send({ method: 'POST', url: 'Binary' }, { headers, content: data }, signal);
    };
    const isLong = data.length * (4 / 3) > LONGEST_STRING;
    let refusal: unknown;
    for (const sendForm of isLong ? [asContent, asResource] : [asResource, asContent]) {
      try {
        return await sendForm();
      } catch (error) {
        if (!(error instanceof FhirFailure) || !hasAnswer(error.reason, CONTENT_REFUSED))
          throw error;
        refusal ??= error;
      }
    }
    // Both forms were refused; the response to the preferred one says why.
    throw refusal;
  }

  write({ resource, request }: BundleEntry, signal: AbortSignal): Promise<string> {
    const headers: Record<string, string> = { ...RETURNED };
    if (request?.ifNoneExist) headers['if-none-exist'] = request.ifNoneExist;
    if (request?.ifMatch) headers['if-match'] = request.ifMatch;
    return this.#send(request ?? {}, { headers, resource }, signal);
  }

  /** Writes a resource, or the content of a Binary, and returns its reference. */
  async #send(
    { method = 'POST', url = '', ifNoneExist }: Partial<BundleEntryRequest>,
    {
      headers,
      resource,
      content,
    }: { headers: Record<string, string>; resource?: Resource | undefined; content?: Buffer },
    signal: AbortSignal,
  ): Promise<string> {
    const [path = '', query] = url.split('?');
    const [type = '', id] = path.split('/');
    const answer = await this.#call('write', signal, (either) => {
      // The library would turn bytes into JSON, but passes this option on to `fetch` unchanged.
      const options = { headers, signal: either, ...(content && { body: content }) };
      return this.#client.request(url, { method, body: resource, options });
    });
    const { headers: answered } = Client.httpFor(answer).response ?? {};
    const condition = ifNoneExist ?? query;
    const reference =
      (id === undefined ? null : path) ??
      referenceOf(answer, type) ??
      relativeLocation(answered?.get('location') ?? undefined) ??
      (condition ? await this.#findWritten(type, condition, signal) : null);
    if (!reference) {
      throw new FhirFailure(
        failureOf('ehr_ambiguous', `The response does not give the location of the ${type}`),
      );
    }
    return reference;
  }

  async transaction(bundle: Bundle, signal: AbortSignal): Promise<TransactionReceipt> {
    const answer = await this.#call('write', signal, (either) =>
      this.#client.request(this.#baseUrl, {
        method: 'POST',
        body: bundle,
        options: { headers: JSON_BODY, signal: either },
      }),
    );
    if (Client.httpFor(answer).response?.status === ACCEPTED) {
      throw new FhirFailure(classifyStatus(ACCEPTED, answer));
    }
    return receipt(bundle, answer);
  }

  async capabilities(signal: AbortSignal): Promise<CapabilityStatement | null> {
    try {
      const answer = await this.#call('read', signal, (either) =>
        this.#client.capabilityStatement({ signal: either }),
      );
      return isResource(answer, 'CapabilityStatement') ? answer : null;
    } catch (error) {
      // These statuses only mean that the server has no CapabilityStatement; it may still accept
      // transactions. After any other failure, such as a time-out, a transaction would fail as
      // well.
      if (error instanceof FhirFailure && hasAnswer(error.reason, [404, 405, 406, 501]))
        return null;
      throw error;
    }
  }

  /**
   * Runs one interaction within the time-out.
   * @throws FhirFailure for any error.
   */
  async #call<Answer>(
    interaction: 'read' | 'write',
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const attempt = async () => {
      try {
        return await run(AbortSignal.any([signal, AbortSignal.timeout(this.#timeoutMs)]));
      } catch (error) {
        throw error instanceof FhirFailure
          ? error
          : new FhirFailure(classifyFetchError(error, interaction));
      }
    };
    try {
      return await attempt();
    } catch (error) {
      // The server refused the request because of an expired token. It is repeated once with a
      // fresh token (exchange 1.10).
      const refused = error instanceof FhirFailure && error.reason.status === 401;
      if (!refused || !this.#credentials.renew()) throw error;
      return attempt();
    }
  }

  async #find(
    type: string,
    parameters: Record<string, string>,
    signal: AbortSignal,
  ): Promise<BundleEntry[]> {
    const answer = await this.#call('read', signal, (either) =>
      this.#client.search({
        resourceType: type,
        searchParams: parameters,
        options: { postSearch: true, headers: STRICT, signal: either },
      }),
    );
    if (!isResource(answer, 'Bundle')) throw new FhirFailure(notFhir(`${type} search`));
    return answer.entry ?? [];
  }

  /**
   * Searches for a resource that was just written, with the search condition of its conditional
   * write. This is needed if the server does not return the resource. Null unless exactly one
   * resource matches.
   */
  async #findWritten(type: string, condition: string, signal: AbortSignal): Promise<string | null> {
    const parameters = Object.fromEntries(new URLSearchParams(condition));
    const [entry, ...others] = await this.#find(type, parameters, signal);
    return others.length === 0 ? referenceOf(entry?.resource) : null;
  }
}

/**
 * Checks a transaction response entry by entry, because some servers respond with 200 despite a
 * failed entry.
 * @throws FhirFailure for the first failed entry; `ehr_ambiguous` if the entries cannot be
 * identified.
 */
function receipt(bundle: Bundle, answer: unknown): TransactionReceipt {
  const sent = bundle.entry?.length ?? 0;
  const entries = isResource(answer, 'Bundle') ? (answer.entry ?? []) : [];
  if (entries.length !== sent) {
    throw new FhirFailure(
      failureOf('ehr_ambiguous', `The response has ${entries.length} of ${sent} entry statuses`),
    );
  }
  entries.forEach(({ response }, index) => {
    const status = Number.parseInt(response?.status ?? '', 10);
    if (status >= 200 && status < 300) return;
    if (Number.isNaN(status)) {
      throw new FhirFailure(failureOf('ehr_ambiguous', `entry ${index} has no status`));
    }
    const failure = classifyStatus(status, response?.outcome);
    throw new FhirFailure({ ...failure, detail: `entry ${index}: ${failure.detail}` });
  });
  return { locations: entries.map(({ response }) => relativeLocation(response?.location)) };
}

function relativeLocation(location: string | undefined): string | null {
  return (
    /([A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64})(\/_history\/[^/]+)?$/.exec(location ?? '')?.[1] ?? null
  );
}

/** Returns `Type/id` of the written resource if the response contains it, otherwise null. */
function referenceOf(answer: unknown, type?: string): string | null {
  if (typeof answer !== 'object' || answer === null) return null;
  if (!('resourceType' in answer) || !('id' in answer)) return null;
  if (type !== undefined && answer.resourceType !== type) return null;
  return typeof answer.id === 'string' ? `${answer.resourceType}/${answer.id}` : null;
}

function notFhir(interaction: string) {
  return failureOf('ehr_misconfigured', `The response to a ${interaction} is not FHIR`);
}

function isResource<Type extends Resource['resourceType']>(
  value: unknown,
  type: Type,
): value is Extract<Resource, { resourceType: Type }> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'resourceType' in value &&
    value.resourceType === type
  );
}
