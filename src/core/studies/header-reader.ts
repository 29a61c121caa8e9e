import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { headerInBytes } from '../../../pipelines/dicom/bounded-header.ts';
import { type ErrorCode, SonogateError } from '../../platform/errors/catalogue.ts';
import { HEADER_ATTRIBUTES, type InstanceHeader, instanceHeader } from './instance-header.ts';

/**
 * Reads the headers of received objects without blocking the gateway: a header in the first 64 KiB
 * is read at once, any other on a thread, with a deadline.
 */

/**
 * Number of bytes of a file in which the caller's thread searches for its header. Images of
 * ultrasound machines have some kilobytes before their pixels; at most 8,192 elements fit into
 * these bytes, which takes a few milliseconds.
 */
export const INLINE_HEADER_BYTES = 64 * 1024;
/**
 * Time limit. The largest header within the limits takes about a second; the rest is a margin for a
 * busy machine.
 */
const DEADLINE_MS = 15_000;
/**
 * Memory limit of the thread. A header within the limits needs far less; above the limit the thread
 * ends, but not the gateway.
 */
const THREAD_HEAP_MIB = 512;

/** A task for the thread: read the header of a file, or the values at these attribute paths. */
export interface HeaderTask {
  file: string;
  paths: readonly string[] | null;
}

export type HeaderAnswer =
  | { header: InstanceHeader }
  | { values: string[][] }
  | { refusal: ErrorCode; detail: string }
  | { failure: string; code: string | null };

/**
 * Returns the header of an object from the first bytes of its file, at most INLINE_HEADER_BYTES of
 * them.
 * @param whole whether these are all bytes of the file.
 * @returns null when the header is not complete in these bytes; `readInstanceHeader` then reads it.
 * @throws SonogateError `object_not_understood`.
 */
export function headerOfStart(start: Buffer, whole: boolean): InstanceHeader | null {
  if (start.length > INLINE_HEADER_BYTES) return null;
  const dataSet = headerInBytes(start, whole, HEADER_ATTRIBUTES);
  return dataSet && instanceHeader(dataSet);
}

/**
 * Reads the attributes that the gateway stores.
 * @throws SonogateError `object_not_understood`, also when a UID that identifies the object is
 * missing or malformed, or when the header exceeds a limit or the deadline.
 */
export async function readInstanceHeader(path: string): Promise<InstanceHeader> {
  const { start, whole } = await firstBytes(path);
  const inline = headerOfStart(start, whole);
  if (inline) return inline;
  const answer = await ask({ file: path, paths: null });
  if ('header' in answer) return answer.header;
  throw new Error('the thread that reads headers answered another question');
}

/**
 * Returns the values at attribute paths, in their order.
 * @throws SonogateError `object_not_understood`; the system error when the file cannot be read.
 */
export async function readAttributes(
  path: string,
  paths: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const answer = await ask({ file: path, paths });
  if ('values' in answer) return answer.values;
  throw new Error('the thread that reads headers answered another question');
}

async function firstBytes(path: string): Promise<{ start: Buffer; whole: boolean }> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const start = Buffer.allocUnsafe(Math.min(INLINE_HEADER_BYTES, size));
    const { bytesRead } = await file.read(start, 0, start.length, 0);
    return { start: start.subarray(0, bytesRead), whole: bytesRead === size };
  } finally {
    await file.close();
  }
}

const ENTRY = new URL('./header-thread.ts', import.meta.url);

/** The thread, once it has begun to listen. */
let thread: Promise<Worker> | null = null;
/**
 * The last task. Each task waits for the previous one, so that its own deadline begins when the
 * task begins.
 */
let last: Promise<unknown> = Promise.resolve();

async function ask(task: HeaderTask): Promise<HeaderAnswer> {
  const mine = last.then(() => answerTo(task));
  last = mine.catch(() => {});
  const answer = await mine;
  if ('refusal' in answer) throw new SonogateError(answer.refusal, answer.detail);
  if ('failure' in answer) throw Object.assign(new Error(answer.failure), { code: answer.code });
  return answer;
}

/**
 * Lets the thread carry out one task. A thread that takes too long or dies is ended, and its file
 * is refused.
 */
async function answerTo(task: HeaderTask): Promise<HeaderAnswer> {
  thread ??= startThread();
  const worker = await thread.catch((error) => {
    thread = null;
    throw error;
  });
  const settled = new AbortController();
  const { signal } = settled;
  worker.ref();
  try {
    const answered = once(worker, 'message', { signal });
    // `once` rejects with the error of the thread.
    const ended = once(worker, 'exit', { signal }).then(() => Promise.reject(new Error('ended')));
    const late = setTimeout(DEADLINE_MS, undefined, { signal, ref: false }).then(() =>
      Promise.reject(new Error('the deadline passed')),
    );
    worker.postMessage(task);
    const [answer] = (await Promise.race([answered, ended, late])) as [HeaderAnswer];
    return answer;
  } catch (cause) {
    thread = null;
    await worker.terminate();
    const detail = 'The header takes too much time or memory to read.';
    throw new SonogateError('object_not_understood', detail, { cause });
  } finally {
    settled.abort();
    worker.unref();
  }
}

async function startThread(): Promise<Worker> {
  const worker = new Worker(ENTRY, { resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MIB } });
  await once(worker, 'message');
  return worker;
}
