import { open } from 'node:fs/promises';
import { headerInBytes } from '../../../pipelines/dicom/bounded-header.ts';
import { taskThread } from '../../platform/task-thread.ts';
import { HEADER_ATTRIBUTES, type InstanceHeader, instanceHeader } from './instance-header.ts';

/**
 * Reads the headers of received objects without blocking the gateway. A header within the first 64
 * KiB is read at once; any other is read on a thread, with a deadline.
 */

/**
 * Number of bytes of a file that the caller's own thread reads to find the header. Images from
 * ultrasound machines have a few kilobytes before the pixels. At most 8,192 elements fit into this
 * many bytes, and parsing them takes a few milliseconds.
 */
export const INLINE_HEADER_BYTES = 64 * 1024;
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

/** A task for the thread: read the header of a file, or the values at the given attribute paths. */
export interface HeaderTask {
  file: string;
  paths: readonly string[] | null;
}

export type HeaderAnswer = { header: InstanceHeader } | { values: string[][] };

const ask = taskThread<HeaderTask, HeaderAnswer>(new URL('./header-thread.ts', import.meta.url), {
  deadlineMs: DEADLINE_MS,
  heapMib: THREAD_HEAP_MIB,
  exceeded: 'Reading the header takes too much time or memory.',
});

/**
 * Returns the header of an object from the first bytes of its file, at most INLINE_HEADER_BYTES of
 * them.
 * @param whole true if these are all the bytes of the file.
 * @returns null if these bytes do not contain the complete header, which `readInstanceHeader` then
 * reads.
 * @throws SonogateError `object_not_understood`.
 */
export function headerOfStart(start: Buffer, whole: boolean): InstanceHeader | null {
  if (start.length > INLINE_HEADER_BYTES) return null;
  const dataSet = headerInBytes(start, whole, HEADER_ATTRIBUTES);
  return dataSet && instanceHeader(dataSet);
}

/**
 * Reads the attributes that the gateway stores.
 * @throws SonogateError `object_not_understood`, also if a UID that identifies the object is
 * missing or malformed, or if the header exceeds a limit or the deadline.
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
 * Returns the values at the given attribute paths, in the same order.
 * @throws SonogateError `object_not_understood`; the system error if the file cannot be read.
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
