import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ArtifactEntry } from '../../../pipelines/result/envelope.ts';
import type { EventName } from '../../core/requests/events.ts';
import type { RequestObject } from '../../core/requests/view.ts';
import type { Problem } from '../../platform/errors/problem.ts';

interface ServerSentEvent {
  id: string;
  event: string;
  data: string;
}

/** Yields the events of a stream (WHATWG HTML 9.2.6), without its comments. */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    rest += text;
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parse(block);
      if (event.data !== '') yield event;
    }
  }
}

function parse(block: string): ServerSentEvent {
  const event: ServerSentEvent = { id: '', event: 'message', data: '' };
  for (const line of block.split(/\r?\n/)) {
    const [, field, value = ''] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
    if (field === 'id' || field === 'event') event[field] = value;
    if (field === 'data') event.data += event.data === '' ? value : `\n${value}`;
  }
  return event;
}

/** An error response from the gateway. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly problem: Problem;

  constructor(problem: Problem) {
    const places = problem.errors?.map(({ pointer, detail }) => `${pointer}: ${detail}`);
    super(`${problem.code}: ${places?.join('; ') ?? problem.detail}`);
    this.problem = problem;
  }
}

/** Thrown when nothing responds at the gateway's address. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError';

  constructor(url: string, options?: ErrorOptions) {
    super(`no response from ${url}: is the gateway running?`, options);
  }
}

export interface RequestEvent {
  seq: number;
  name: EventName;
  data: unknown;
}

interface HistoryFilter {
  model?: string;
  status?: string;
  key?: string;
  /** Only requests since this instant (RFC 3339). */
  since?: string;
  limit?: number;
  cursor?: string;
}

interface SubmitBody {
  input: {
    files: string[];
    prior_files?: string[];
    options?: Record<string, unknown>;
    clinical_context?: Record<string, unknown>;
  };
  webhook?: { url: string; events?: string[] };
  priority?: string;
  metadata?: unknown;
}

/**
 * The HTTP API as functions. They throw ApiError if the gateway refuses a call, and NoAnswerError
 * if no gateway responds. `follow` reconnects instead of throwing NoAnswerError.
 */
export interface ApiClient {
  /** Uploads a local file; returns its id for `input.files`. */
  upload(path: string): Promise<string>;
  /**
   * Submits a request. `endpoint` can be an alias and can contain a version: `us/obstetric@1`. A
   * second call with the same idempotency key returns the first call's request.
   */
  submit(endpoint: string, body: SubmitBody, idempotencyKey?: string): Promise<RequestObject>;
  request(id: string): Promise<RequestObject>;
  /** Yields every event up to and including `done`, reconnecting as often as necessary. */
  follow(id: string, signal?: AbortSignal): AsyncGenerator<RequestEvent>;
  cancel(id: string): Promise<RequestObject>;
  history(filter: HistoryFilter): Promise<{ data: RequestObject[]; next_cursor: string | null }>;
  artifacts(id: string): Promise<ArtifactEntry[]>;
  artifact(id: string, name: string): Promise<ReadableStream<Uint8Array>>;
}

interface Destination {
  url: string;
  headers: Record<string, string>;
}

interface Part extends Destination {
  part_number: number;
  first_byte: number;
  bytes: number;
}

const RECONNECT_MS = 1000;
const PUT_ATTEMPTS = 3;

/**
 * PUTs a file or a part of it, and returns the ETag of the response. An interrupted PUT leaves
 * nothing behind, so it can be repeated.
 */
async function put({ url, headers }: Destination, body: Blob): Promise<string> {
  for (let left = PUT_ATTEMPTS - 1; ; left -= 1) {
    try {
      const answer = await fetch(url, { method: 'PUT', headers, body });
      if (answer.ok) return answer.headers.get('ETag') ?? '';
      throw new ApiError((await answer.json()) as Problem);
    } catch (error) {
      if (error instanceof ApiError || left === 0) throw error;
      await delay(RECONNECT_MS);
    }
  }
}

interface Calls {
  /** Makes a call below the gateway's address, or at a complete URL; returns the accepted response. */
  call(path: string, init?: RequestInit): Promise<Response>;
  read<T>(path: string): Promise<T>;
  post<T>(path: string, body?: unknown, headers?: Record<string, string>): Promise<T>;
}

function createCalls(base: string, key: string): Calls {
  async function call(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${key}`);
    const address = path.startsWith('http') ? path : `${base}${path}`;
    const answer = await fetch(address, { ...init, headers }).catch((cause: unknown) => {
      // fetch reports a failure to connect as a TypeError (WHATWG Fetch 5.6); any other error is an
      // abort.
      throw cause instanceof TypeError ? new NoAnswerError(base, { cause }) : cause;
    });
    if (answer.ok) return answer;
    const problem = await answer.json().catch(() => null);
    if (problem === null) throw new Error(`${path}: HTTP ${answer.status}`);
    throw new ApiError(problem as Problem);
  }

  return {
    call,
    read: async <T>(path: string) => (await (await call(path)).json()) as T,
    post: async <T>(path: string, body?: unknown, headers: Record<string, string> = {}) => {
      const json = body !== undefined && {
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(body),
      };
      return (await (await call(path, { method: 'POST', ...json })).json()) as T;
    },
  };
}

/** Announces a file, uploads it as a whole or in parts, and completes it. */
async function upload(path: string, { post }: Calls): Promise<string> {
  const { size } = await stat(path);
  const announced = {
    filename: basename(path),
    bytes: size,
    media_type: 'application/octet-stream',
  };
  const { file, upload, complete_url } = await post<{
    file: { id: string };
    upload: Destination | { parts: Part[] };
    complete_url: string;
  }>('/v1/uploads', announced);
  const content = await openAsBlob(path);
  if ('parts' in upload) {
    const parts = await Array.fromAsync(upload.parts, async (part) => ({
      part_number: part.part_number,
      etag: await put(part, content.slice(part.first_byte, part.first_byte + part.bytes)),
    }));
    await post(complete_url, { parts });
  } else {
    await put(upload, content);
    await post(complete_url);
  }
  return file.id;
}

const requestPath = (id: string) => `/v1/requests/${encodeURIComponent(id)}`;

async function* follow(
  id: string,
  { call }: Calls,
  signal?: AbortSignal,
): AsyncGenerator<RequestEvent> {
  let after = 0;
  for (;;) {
    try {
      const answer = await call(`${requestPath(id)}/events`, {
        headers: { 'Last-Event-ID': String(after) },
        ...(signal && { signal }),
      });
      if (!answer.body) return;
      for await (const { id: seq, event, data } of readServerSentEvents(answer.body)) {
        after = Number(seq);
        yield { seq: after, name: event as EventName, data: JSON.parse(data) };
        if (event === 'done') return;
      }
    } catch (error) {
      // Another attempt helps only if the connection was lost: an event that cannot be parsed would
      // be sent again unchanged.
      const isFinal = error instanceof ApiError || error instanceof SyntaxError;
      if (isFinal || signal?.aborted) throw error;
    }
    await delay(RECONNECT_MS, undefined, signal && { signal });
  }
}

/**
 * Creates the client.
 * @param url address of the gateway, with or without a trailing slash
 */
export function createApiClient({ url, key }: { url: string; key: string }): ApiClient {
  const calls = createCalls(url.replace(/\/+$/, ''), key);
  const { call, read, post } = calls;
  return {
    upload: (path) => upload(path, calls),
    submit: (endpoint, body, key) =>
      post(`/v1/run/${endpoint}`, body, key === undefined ? {} : { 'Idempotency-Key': key }),
    request: (id) => read(requestPath(id)),
    cancel: (id) => post(`${requestPath(id)}/cancel`),
    follow: (id, signal) => follow(id, calls, signal),

    history(filter) {
      const query = new URLSearchParams();
      for (const [name, value] of Object.entries(filter)) {
        if (value !== undefined) query.set(name, String(value));
      }
      return read(`/v1/requests?${query}`);
    },

    async artifacts(id) {
      return (await read<{ data: ArtifactEntry[] }>(`${requestPath(id)}/artifacts`)).data;
    },

    async artifact(id, name) {
      const { body } = await call(`${requestPath(id)}/artifacts/${encodeURIComponent(name)}`);
      if (!body) throw new Error(`${name} is empty`);
      return body;
    },
  };
}
