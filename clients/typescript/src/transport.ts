import type { ApiCall, CallOptions, Problem } from './generated.ts';

/** Thrown when the gateway refuses a call; `problem` contains the reason. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly problem: Problem;

  constructor(problem: Problem) {
    const places = problem.errors?.map(({ pointer, detail }) => `${pointer}: ${detail}`);
    super(`${problem.code}: ${places?.join('; ') ?? problem.detail}`);
    this.problem = problem;
  }
}

/** Thrown when there is no response, even after several retries. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError';
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 60_000;

/** Resolves after the given time, or rejects when the signal aborts. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/**
 * Returns how many milliseconds to wait before the next retry: as long as the gateway requested,
 * otherwise twice as long each time.
 */
function waitBefore(attempt: number, answer: Response | null): number {
  const asked = Number(answer?.headers.get('Retry-After'));
  if (asked > 0) return Math.min(asked * 1000, LONGEST_WAIT_MS);
  return FIRST_WAIT_MS * 2 ** attempt * (0.5 + Math.random() / 2);
}

/**
 * Statuses after which the same call may succeed later: the gateway is busy, or a proxy received no
 * response from it.
 */
const PASSING = new Set([429, 500, 502, 503, 504]);

async function problemOf(answer: Response): Promise<Problem> {
  const body = await answer.json().catch(() => null);
  if (body && typeof body === 'object' && 'code' in body) return body as Problem;
  const title = `HTTP ${answer.status}`;
  // The answer is not of a gateway. Its address may contain a signature, so only the host is named.
  const detail = `${title} from ${new URL(answer.url).origin}: is this the address of a gateway?`;
  return { type: 'about:blank', title, status: answer.status, detail, code: 'unknown' };
}

/** Returns the code with which the connection failed; null in browsers, which do not state it. */
function codeOf({ cause }: Error): string | null {
  const { code } = Object(cause) as { code?: unknown };
  return typeof code === 'string' ? code : null;
}

/**
 * Repeats a call to an address for as long as its failure may be temporary. `send` must be safe to
 * repeat.
 */
export async function withRetries(
  address: string,
  send: () => Promise<Response>,
  { retries, signal }: { retries: number; signal?: AbortSignal | undefined },
): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    let answer: Response | null = null;
    try {
      answer = await send();
    } catch (error) {
      // fetch rejects with a TypeError if there was no response (WHATWG Fetch 5.6).
      if (!(error instanceof TypeError) || signal?.aborted) throw error;
      if (attempt >= retries) {
        const { origin } = new URL(address);
        const code = codeOf(error);
        const why = code ? ` (${code})` : '';
        throw new NoAnswerError(`no response from ${origin}: is the gateway running?${why}`, {
          cause: error,
        });
      }
    }
    if (answer?.ok) return answer;
    if (answer) {
      const problem = await problemOf(answer);
      const passing = PASSING.has(answer.status) || problem.code === 'idempotency_in_progress';
      if (!passing || attempt >= retries) throw new ApiError(problem);
    }
    await pause(waitBefore(attempt, answer), signal);
  }
}

export interface TransportOptions {
  url: string;
  key: string;
  retries: number;
  fetch: typeof fetch;
}

export type Fetch = (path: string, init?: FetchInit) => Promise<Response>;

export type FetchInit = RequestInit & { json?: unknown };

/** Methods that are safe to repeat (RFC 9110 9.2.2). */
const REPEATABLE = new Set(['GET', 'PUT', 'DELETE']);

/** Returns functions that call the gateway with the API key and retry where that is safe. */
export function createTransport({ url, key, retries, fetch: call }: TransportOptions) {
  const base = url.replace(/\/+$/, '');

  const request: Fetch = (path, { json, ...init } = {}) => {
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${key}`);
    if (json !== undefined) headers.set('Content-Type', 'application/json');
    const body = json === undefined ? init.body : JSON.stringify(json);
    const safe = REPEATABLE.has(init.method ?? 'GET') || headers.has('Idempotency-Key');
    const address = path.startsWith('http') ? path : `${base}${path}`;
    const send = () => call(address, { ...init, headers, ...(body != null && { body }) });
    return withRetries(address, send, {
      retries: safe ? retries : 0,
      signal: init.signal ?? undefined,
    });
  };

  const send = async <Answer>(
    { method, path, query = {}, body, once, ifMatch }: ApiCall,
    { idempotencyKey, signal }: CallOptions,
  ): Promise<Answer> => {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      for (const each of [value].flat()) if (each !== undefined) search.append(name, String(each));
    }
    const answer = await request(search.size > 0 ? `${path}?${search}` : path, {
      method,
      headers: {
        ...(once && { 'Idempotency-Key': idempotencyKey ?? crypto.randomUUID() }),
        ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
      },
      ...(body !== undefined && { json: body }),
      ...(signal && { signal }),
    });
    return (answer.status === 204 ? undefined : await answer.json()) as Answer;
  };

  return { request, send };
}
