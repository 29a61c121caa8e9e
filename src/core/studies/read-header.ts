import { firstBytes } from '../../../pipelines/dicom/part10.ts';
import { taskThread } from '../../platform/task-thread.ts';
import { headerOfStart, INLINE_HEADER_BYTES, type InstanceHeader } from './instance-header.ts';

/**
 * This file reads the headers of stored objects without blocking the gateway: a header within the
 * first 64 KiB at once, any other on a thread, with a deadline. The header of most objects is
 * already known from their first bytes when they are stored (`headerOfStart`).
 */

/**
 * Time limit in milliseconds. The largest permitted header takes about a second; the rest is a
 * margin for a busy host.
 */
const DEADLINE_MS = 15_000;
/**
 * Memory limit of the thread. A permitted header needs far less. If the limit is exceeded, the
 * thread ends but the gateway does not.
 */
const THREAD_HEAP_MIB = 512;

/**
 * A task for the thread: read the header of a file, or the values at the given attribute paths, or
 * whether the file is cut off, or the digest of its content.
 */
export type HeaderTask = { file: string } & (
  | { read: 'header' }
  | { read: 'values'; paths: readonly string[] }
  | { read: 'cut-off'; frames: number }
  | { read: 'content' }
);

export type HeaderAnswer =
  | { header: InstanceHeader }
  | { values: string[][] }
  | { isCutOff: boolean }
  | { contentSha256: string };

const ask = taskThread<HeaderTask, HeaderAnswer>(new URL('./header-thread.ts', import.meta.url), {
  deadlineMs: DEADLINE_MS,
  heapMib: THREAD_HEAP_MIB,
  exceeded: 'Reading the header takes too much time or memory.',
});

/**
 * Reads the attributes that the gateway stores.
 * @throws SonogateError `object_not_understood`, also if a UID that identifies the object is
 * missing or malformed, or if the header exceeds a limit or the deadline.
 */
export async function readInstanceHeader(path: string): Promise<InstanceHeader> {
  const { start, whole } = await firstBytes(path, INLINE_HEADER_BYTES);
  const inline = headerOfStart(start, whole);
  if (inline) return inline.header;
  const answer = await ask({ file: path, read: 'header' });
  if ('header' in answer) return answer.header;
  throw new Error('the thread that reads headers answered another question');
}

/**
 * Returns the values at the given attribute paths, in the same order.
 * @throws SonogateError `object_not_understood`; the system error if the file cannot be read.
 */
export async function readAttributes(
  path: string,
  paths: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const answer = await ask({ file: path, read: 'values', paths });
  if ('values' in answer) return answer.values;
  throw new Error('the thread that reads headers answered another question');
}

/**
 * Returns true if the file of an object ends within its pixel data (`isCutOff`).
 * @throws SonogateError `object_not_understood`; the system error if the file cannot be read.
 */
export async function endsTooEarly(path: string, frames: number): Promise<boolean> {
  const answer = await ask({ file: path, read: 'cut-off', frames });
  if ('isCutOff' in answer) return answer.isCutOff;
  throw new Error('the thread that reads headers answered another question');
}

/**
 * Returns the digest of the content of a file (`contentDigest`).
 * @throws SonogateError `object_not_understood`, also if this takes too long; the system error if
 * the file cannot be read.
 */
export async function contentSha256(path: string): Promise<string> {
  const answer = await ask({ file: path, read: 'content' });
  if ('contentSha256' in answer) return answer.contentSha256;
  throw new Error('the thread that reads headers answered another question');
}
