import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import type { DicomwebDestination } from '../../config/schema.ts';
import { encodeFileMeta } from '../../pipelines/dicom/part10.ts';
import { LONGEST_HOLD_SECONDS } from '../../src/core/outbox/delivery.ts';
import { ERRORS, type ErrorCode } from '../../src/platform/errors/catalogue.ts';
import { retryAfterSeconds } from '../../src/platform/outbound/retry-after.ts';
import type { OutgoingObject } from '../network/service-ports.ts';
import { STATUS, statusHex } from '../network/status.ts';
import { resultOfFailureStatus, type StoreResult, type StoreTransport } from '../send/store-scu.ts';

export type StowAnswer =
  | { kind: 'answered'; status: number; retryAfter: string; body: string }
  /** `begun` means that some bytes of the objects have been sent, so the server may have them. */
  | { kind: 'lost'; begun: boolean; detail: string }
  | { kind: 'unauthorized'; detail: string };

/** Seconds to wait before a retry if the credentials are wrong or the service is missing. */
const SLOW_SECONDS = 300;

/** Statuses with a Store Instances Response (PS3.18 table 10.5.3-1): all, some or no object stored. */
const WITH_OUTCOMES: ReadonlySet<number> = new Set([200, 202, 409]);

/**
 * Failure reasons after which a different encoding of the object may be accepted (PS3.18 table
 * 10.5.3-2, PS3.7 C).
 */
const UNSUPPORTED_CLASS: ReadonlySet<number> = new Set([0x0122, 0xc122]);

/** Referenced SOP Instance UID. */
const sop = { '00081155': z.object({ Value: z.tuple([z.string()]) }) };
const number = z
  .object({ Value: z.tuple([z.coerce.number()]) })
  .optional()
  .catch(undefined);
const sequence = <Item extends z.ZodType>(item: Item) =>
  z
    .object({ Value: z.array(item.nullable().catch(null)).default([]) })
    .optional()
    .catch(undefined);

/**
 * Store Instances Response Module (PS3.18 table 10.5.3-2) in the DICOM JSON model. A malformed item
 * is null, so that it does not hide the results of the other objects.
 */
const responseSchema = z.object({
  /** Referenced SOP Sequence, with Warning Reason (0008,1196). */
  '00081199': sequence(z.object({ ...sop, '00081196': number })),
  /** Failed SOP Sequence, with Failure Reason (0008,1197). */
  '00081198': sequence(z.object({ ...sop, '00081197': number })),
});

/**
 * Evaluates a response.
 * @returns the result of each object, in the order of `objects`.
 */
export function storeResults(
  answer: StowAnswer,
  objects: readonly OutgoingObject[],
): StoreResult[] {
  const all = (code: ErrorCode, detail: string, retryAfter?: number) =>
    objects.map((object) => ({ ...failed(object, code, detail), retryAfter }));
  switch (answer.kind) {
    case 'unauthorized':
      return all('peer_unauthorized', answer.detail, SLOW_SECONDS);
    case 'lost':
      return all(answer.begun ? 'peer_connection_lost' : 'peer_unreachable', answer.detail);
    case 'answered': {
      if (WITH_OUTCOMES.has(answer.status)) return outcomes(answer.status, answer.body, objects);
      const { code, wait } = meaningOf(answer);
      return all(code, `HTTP ${answer.status}`, wait);
    }
  }
}

/**
 * Returns true if the server does not support the SOP class or the transfer syntax of an object.
 */
export function unsupportedClass(result: StoreResult | undefined): boolean {
  return (
    result?.status != null && result.outcome === 'failed' && UNSUPPORTED_CLASS.has(result.status)
  );
}

/**
 * Evaluates the response to a harmless request.
 * @returns an error that affects the whole server; null if the server works.
 */
export function serverTrouble(answer: StowAnswer): ErrorCode | null {
  if (answer.kind === 'lost') return 'peer_unreachable';
  if (answer.kind === 'unauthorized') return 'peer_unauthorized';
  const { code } = meaningOf(answer);
  // The request was a search. A server that supports only storing responds with 404, 501 and the
  // like, but works.
  const broken = answer.status === 429 || (answer.status >= 500 && answer.status !== 501);
  return broken || code === 'peer_unauthorized' ? code : null;
}

function meaningOf({ status, retryAfter }: Extract<StowAnswer, { kind: 'answered' }>): {
  code: ErrorCode;
  wait?: number;
} {
  const wait = retryAfterSeconds(retryAfter, LONGEST_HOLD_SECONDS);
  const asked = wait === undefined ? {} : { wait };
  if (status === 401 || status === 403) {
    return { code: 'peer_unauthorized', wait: SLOW_SECONDS, ...asked };
  }
  // With status 404 the service itself is missing. This affects every object, so the code is that
  // of an unavailable server.
  if (status === 404) return { code: 'peer_unavailable', wait: SLOW_SECONDS, ...asked };
  if ([408, 425, 429].includes(status) || status >= 500) {
    return { code: 'peer_unavailable', ...asked };
  }
  // A 2xx status without a result for each object is not a response to a store transaction.
  if (status < 300) return { code: 'peer_answer_unclear' };
  if (status < 400 || status === 405) return { code: 'invalid_config' };
  return { code: 'peer_refused_object' };
}

function outcomes(status: number, body: string, objects: readonly OutgoingObject[]): StoreResult[] {
  const response = parsed(body);
  const stored = byUid(response?.['00081199']?.Value);
  const notStored = byUid(response?.['00081198']?.Value);
  return objects.map((object): StoreResult => {
    const { sopClassUid, sopInstanceUid } = object;
    const failure = notStored.get(sopInstanceUid);
    if (failure) {
      const reason = failure['00081197']?.Value[0] ?? STATUS.processingFailure;
      const detail = `HTTP ${status}, failure reason ${statusHex(reason)}`;
      return { sopClassUid, sopInstanceUid, ...resultOfFailureStatus(reason, detail) };
    }
    const found = stored.get(sopInstanceUid);
    // Even 200 does not mean that an object was stored: Orthanc sends it even for parts that it has
    // skipped.
    if (!found) {
      const detail = `HTTP ${status}; the response lists the object neither as stored nor as failed`;
      return failed(object, status === 409 ? 'peer_refused_object' : 'peer_answer_unclear', detail);
    }
    const warning = found['00081196']?.Value[0];
    const said = warning === undefined ? '' : `, warning ${statusHex(warning)}`;
    return {
      sopClassUid,
      sopInstanceUid,
      outcome: warning === undefined ? 'stored' : 'warning',
      status: warning ?? 0,
      code: null,
      detail: `HTTP ${status}${said}`,
    };
  });
}

function byUid<Item extends z.infer<z.ZodObject<typeof sop>>>(
  items: readonly (Item | null)[] = [],
): Map<string, Item> {
  return new Map(items.flatMap((item) => (item ? [[item['00081155'].Value[0], item]] : [])));
}

function parsed(body: string): z.infer<typeof responseSchema> | null {
  try {
    const json: unknown = JSON.parse(body);
    // The JSON of one data set is an object, or the only member of an array (PS3.18 F.2).
    return responseSchema.parse(Array.isArray(json) ? json[0] : json);
  } catch {
    return null;
  }
}

function failed(
  { sopClassUid, sopInstanceUid }: OutgoingObject,
  code: ErrorCode,
  detail: string,
): StoreResult {
  const title = detail || ERRORS[code].title;
  return { sopClassUid, sopInstanceUid, outcome: 'failed', status: null, code, detail: title };
}

/** Credentials for an HTTP server. The files that contain them are read again for each request. */
export interface HttpAccess {
  /** Returns the value of the `Authorization` header; null if the server needs no such header. */
  header(signal?: AbortSignal): Promise<string | null>;
  /**
   * Returns the connections that use our own client certificate or certificate authority; undefined
   * if neither is configured.
   */
  dispatcherNow(): Promise<Dispatcher | undefined>;
}

const ACCEPT = 'application/dicom+json';
const CHUNK_BYTES = 131_072;
/**
 * Maximum number of bytes read from a response. A Store Instances Response has a few hundred bytes
 * per object.
 */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/**
 * Creates a transport that sends store transactions to a DICOMweb server (PS3.18 10.5), with one
 * POST for all objects of a delivery.
 */
export function stowTransport(
  { baseUrl, timeoutSeconds }: Pick<DicomwebDestination, 'baseUrl' | 'timeoutSeconds'>,
  access: HttpAccess,
): StoreTransport {
  const url = `${baseUrl.replace(/\/+$/, '')}/studies`;
  const timeoutMs = timeoutSeconds * 1000;

  const post = async (objects: readonly OutgoingObject[], signal: AbortSignal) => {
    const sent = await callInTime(timeoutMs, signal, async (silence) => {
      const boundary = `sonogate-${randomUUID()}`;
      const parts = objects.map(partOf(boundary));
      const length = parts.reduce((sum, part) => sum + part.bytes, 0) + ending(boundary).length;
      return call(access, url, silence.signal, {
        method: 'POST',
        headers: {
          accept: ACCEPT,
          'content-type': `multipart/related; type="application/dicom"; boundary=${boundary}`,
          'content-length': String(length),
        },
        body: multipart(parts, boundary, silence.heard),
      });
    });
    return storeResults(sent, objects);
  };

  return {
    commits: false,
    async send(objects, signal) {
      const results: StoreResult[] = [];
      let left = objects.filter((forms) => forms.length > 0);
      // Which SOP classes and transfer syntaxes the server supports is known only from its
      // response. An object that was refused for this reason is sent again in its next form (see
      // `StoreTransport.send`).
      while (left.length > 0) {
        const preferred = left.flatMap(([form]) => form ?? []);
        const judged = await post(preferred, signal);
        const refused = left.filter((forms, n) => forms.length > 1 && unsupportedClass(judged[n]));
        results.push(...judged.filter((_, n) => !refused.includes(left[n] ?? [])));
        left = refused.map((forms) => forms.slice(1));
      }
      return results;
    },
    /**
     * Searches for a study that does not exist. A server that can store objects might not support
     * searches, but even a response that says so shows that it works.
     */
    async probe(signal): Promise<ErrorCode | null> {
      const sent = await callInTime(timeoutMs, signal, (silence) =>
        call(access, `${url}?StudyInstanceUID=1.2&limit=1`, silence.signal, {
          method: 'GET',
          headers: { accept: ACCEPT },
        }),
      );
      return serverTrouble(sent);
    },
  };
}

interface Silence {
  signal: AbortSignal;
  /** Called when the peer has received or sent something, which restarts its time-out. */
  heard(): void;
}

async function callInTime(
  timeoutMs: number,
  signal: AbortSignal,
  run: (silence: Silence) => Promise<StowAnswer>,
): Promise<StowAnswer> {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(new Error('timeout')), timeoutMs);
  try {
    const either = AbortSignal.any([signal, silent.signal]);
    return await run({ signal: either, heard: () => timer.refresh() });
  } finally {
    clearTimeout(timer);
  }
}

async function call(
  access: HttpAccess,
  url: string,
  signal: AbortSignal,
  options: {
    method: 'GET' | 'POST';
    headers: Record<string, string>;
    body?: AsyncIterable<Buffer>;
  },
): Promise<StowAnswer> {
  let authorization: string | null;
  let dispatcher: Dispatcher | undefined;
  try {
    [authorization, dispatcher] = [await access.header(signal), await access.dispatcherNow()];
  } catch {
    return {
      kind: 'unauthorized',
      detail: 'A secret or TLS file of the destination is missing.',
    };
  }
  let begun = false;
  const body =
    options.body &&
    Readable.from(
      noting(options.body, () => {
        begun = true;
      }),
      { objectMode: false },
    );
  const { request } = await import('undici');
  try {
    const {
      statusCode,
      headers,
      body: answer,
    } = await request(url, {
      method: options.method,
      headers: { ...options.headers, ...(authorization !== null && { authorization }) },
      body: body ?? null,
      signal,
      ...(dispatcher && { dispatcher }),
      // No time-outs here: that of `callInTime` covers the whole request.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const retryAfter = String(headers['retry-after'] ?? '');
    return { kind: 'answered', status: statusCode, retryAfter, body: await bounded(answer) };
  } catch (error) {
    return { kind: 'lost', begun, detail: reasonOf(error) };
  }
}

async function* noting(body: AsyncIterable<Buffer>, begin: () => void) {
  for await (const chunk of body) {
    begin();
    yield chunk;
  }
}

async function bounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the response is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

interface Part {
  head: Buffer;
  object: OutgoingObject;
  bytes: number;
}

/**
 * Returns a function that writes one object as a DICOM file (PS3.10) with our own file meta
 * information and the unchanged data set. The media type has no parameter, because Orthanc skips a
 * part with `transfer-syntax` but answers 200.
 */
function partOf(boundary: string): (object: OutgoingObject) => Part {
  return (object) => {
    const meta = encodeFileMeta({ ...object, sourceAeTitle: '', receivingAeTitle: '' });
    const lines = `\r\n--${boundary}\r\nContent-Type: application/dicom\r\n\r\n`;
    const head = Buffer.concat([Buffer.from(lines, 'latin1'), meta]);
    return { head, object, bytes: head.length + object.bytes };
  };
}

const ending = (boundary: string): Buffer => Buffer.from(`\r\n--${boundary}--\r\n`, 'latin1');

async function* multipart(
  parts: readonly Part[],
  boundary: string,
  heard: () => void,
): AsyncGenerator<Buffer> {
  for (const { head, object } of parts) {
    yield head;
    for await (const chunk of object.read(CHUNK_BYTES)) {
      heard();
      yield chunk;
    }
  }
  heard();
  yield ending(boundary);
}

/**
 * Returns the code of the system error that ended an HTTP request. The error message is not used,
 * because it may contain the address.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.cause instanceof Error) return reasonOf(error.cause);
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.message === 'timeout' ? 'timeout' : error.name;
}
