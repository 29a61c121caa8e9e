import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import type { DicomwebDestination } from '../../config/schema.ts';
import type { ErrorCode } from '../../src/errors/catalogue.ts';
import type { OutgoingObject } from '../network/requestor.ts';
import { encodeFileMeta } from '../part10.ts';
import type { StoreResult } from '../store-scu.ts';
import type { StoreTransport } from '../store-transport.ts';
import { type Answer, judgeAnswer, unsupportedClass, worksAccordingTo } from './stow-answer.ts';

/** How we show a server of HTTP who we are; files are read for each call. */
export interface HttpAccess {
  /** Value of the `Authorization` header; null for none. */
  header(signal?: AbortSignal): Promise<string | null>;
  /** Connections with our own certificate or authority; undefined for none of either. */
  dispatcherNow(): Promise<Dispatcher | undefined>;
}

const ACCEPT = 'application/dicom+json';
const CHUNK_BYTES = 131_072;
/** Longest answer that is read; a Store Instances Response has some hundred bytes per object. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Store transactions of a DICOMweb server (PS3.18 10.5), one POST for all objects of a delivery. */
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
    return judgeAnswer(sent, objects);
  };

  return {
    commits: false,
    async send(objects, signal) {
      const results: StoreResult[] = [];
      let left = objects.filter((forms) => forms.length > 0);
      // A server says only afterwards that it does not take a class: the next form is then tried.
      while (left.length > 0) {
        const preferred = left.flatMap(([form]) => form ?? []);
        const judged = await post(preferred, signal);
        const refused = left.filter((forms, n) => forms.length > 1 && unsupportedClass(judged[n]));
        results.push(...judged.filter((_, n) => !refused.includes(left[n] ?? [])));
        left = refused.map((forms) => forms.slice(1));
      }
      return results;
    },
    /** A search that finds nothing: every origin server with a store has one, or says it has not. */
    async probe(signal): Promise<ErrorCode | null> {
      const sent = await callInTime(timeoutMs, signal, (silence) =>
        call(access, `${url}?StudyInstanceUID=1.2&limit=1`, silence.signal, {
          method: 'GET',
          headers: { accept: ACCEPT },
        }),
      );
      return worksAccordingTo(sent);
    },
  };
}

interface Silence {
  signal: AbortSignal;
  /** The peer has taken or said something: it has its time again. */
  heard(): void;
}

/** Ends a call in which nothing moves for `timeoutMs`. Never throws. */
async function callInTime(
  timeoutMs: number,
  signal: AbortSignal,
  run: (silence: Silence) => Promise<Answer>,
): Promise<Answer> {
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
): Promise<Answer> {
  let authorization: string | null;
  let dispatcher: Dispatcher | undefined;
  try {
    [authorization, dispatcher] = [await access.header(signal), await access.dispatcherNow()];
  } catch {
    return {
      kind: 'unauthorized',
      detail: 'A secret or TLS file of the destination is not there.',
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
      // The silence of the peer is measured above, over the whole call.
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
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the answer is too long');
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
 * One object as a file of PS3.10: the data set goes as it is, behind meta information of our own. The
 * media type has no parameter: Orthanc passes over a part with `transfer-syntax` and answers 200.
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

/** The system's code of what broke a call: its message may hold the address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.cause instanceof Error) return reasonOf(error.cause);
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.message === 'timeout' ? 'timeout' : error.name;
}
