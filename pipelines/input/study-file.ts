import { closeSync, fstatSync, openSync, read, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { UnreadableInput } from '../contract/study.ts';

export interface StudyFile {
  /** Name in the request. A member of an archive has a name such as `archive.zip/path/in/it`. */
  name: string;
  path: string;
}

const WINDOW = 16_384;
const ENDS_BEFORE = 'the file is cut short';

/** Random access to a file of any size through a small window in memory. */
export interface ByteSource {
  readonly size: number;
  /**
   * Returns `length` bytes at `offset` and blocks the thread meanwhile. It is meant for the values
   * of a header: most headers need a single read from the disk, which would take several times
   * longer through a promise.
   * @throws UnreadableInput if the file ends before these bytes.
   */
  read(offset: number, length: number): Buffer;
  /** Does the same as `read` without blocking the thread, for reading through a whole file. */
  load(offset: number, length: number): Promise<Buffer>;
}

const readAsync = promisify(read);

/** Byte range of a file. */
export interface Span {
  offset: number;
  length: number;
}

async function fill(file: number, spans: readonly Span[]): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(spans.reduce((sum, { length }) => sum + length, 0));
  let filled = 0;
  for (const { offset, length } of spans) {
    const end = filled + length;
    for (let from = offset; filled < end; ) {
      const { bytesRead } = await readAsync(file, buffer, filled, end - filled, from);
      if (bytesRead === 0) throw new UnreadableInput(ENDS_BEFORE);
      filled += bytesRead;
      from += bytesRead;
    }
  }
  return buffer;
}

function fillSync(file: number, offset: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    const bytesRead = readSync(file, buffer, filled, length - filled, offset + filled);
    if (bytesRead === 0) throw new UnreadableInput(ENDS_BEFORE);
    filled += bytesRead;
  }
  return buffer;
}

/** Opens the file at `path` while `use` runs. */
export async function withByteSource<T>(
  path: string,
  use: (source: ByteSource) => T | Promise<T>,
): Promise<T> {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    let start = 0;
    let window: Buffer = Buffer.alloc(0);
    const held = (offset: number, length: number) => {
      if (offset + length > size) throw new UnreadableInput(ENDS_BEFORE);
      const inside = offset >= start && offset + length <= start + window.length;
      return inside ? window.subarray(offset - start, offset - start + length) : null;
    };
    const hold = (offset: number, length: number, bytes: Buffer) => {
      if (length <= WINDOW) [start, window] = [offset, bytes];
      return bytes.subarray(0, length);
    };
    const filled = (offset: number, length: number) =>
      Math.max(length, Math.min(WINDOW, size - offset));
    return await use({
      size,
      read: (offset, length) =>
        held(offset, length) ??
        hold(offset, length, fillSync(file, offset, filled(offset, length))),
      load: async (offset, length) =>
        held(offset, length) ??
        hold(offset, length, await fill(file, [{ offset, length: filled(offset, length) }])),
    });
  } finally {
    closeSync(file);
  }
}

/**
 * Returns the bytes of `path` in these ranges, one after the other in a new buffer. The file is
 * opened once: a frame may consist of more fragments than a process can have open files.
 *
 * @throws UnreadableInput if the file ends before them.
 */
export async function readBytes(path: string, spans: readonly Span[]): Promise<Buffer> {
  // Opened on this thread, because the threads that would open it also encode pictures.
  const file = openSync(path, 'r');
  try {
    return await fill(file, spans);
  } finally {
    closeSync(file);
  }
}
