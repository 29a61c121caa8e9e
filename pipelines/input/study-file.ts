import { type FileHandle, open } from 'node:fs/promises';
import { UnreadableInput } from '../contract/study.ts';

export interface StudyFile {
  /** Name in the request. A member of an archive has a name such as `archive.zip/path/in/it`. */
  name: string;
  path: string;
}

const WINDOW = 16_384;
const ENDS_BEFORE = 'the file ends before its data do';

/** Random access to a file of any size through a small window in memory. */
export interface ByteSource {
  readonly size: number;
  /**
   * Returns `length` bytes at `offset`.
   *
   * @throws UnreadableInput if the file ends before them.
   */
  read(offset: number, length: number): Promise<Buffer>;
}

async function fill(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled);
    if (bytesRead === 0) throw new UnreadableInput(ENDS_BEFORE);
    filled += bytesRead;
  }
  return buffer;
}

/** Opens the file at `path` while `use` runs. */
export async function withByteSource<T>(
  path: string,
  use: (source: ByteSource) => Promise<T>,
): Promise<T> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    let windowStart = 0;
    let window: Buffer = Buffer.alloc(0);
    const read = async (offset: number, length: number): Promise<Buffer> => {
      if (offset + length > size) throw new UnreadableInput(ENDS_BEFORE);
      if (length > WINDOW) return fill(handle, offset, length);
      if (offset < windowStart || offset + length > windowStart + window.length) {
        windowStart = offset;
        window = await fill(handle, offset, Math.min(WINDOW, size - offset));
      }
      return window.subarray(offset - windowStart, offset - windowStart + length);
    };
    return await use({ size, read });
  } finally {
    await handle.close();
  }
}

/**
 * Returns `length` bytes of `path` at `offset`, in a new buffer.
 *
 * @throws UnreadableInput if the file ends before them.
 */
export async function readBytes(path: string, offset: number, length: number): Promise<Buffer> {
  const handle = await open(path, 'r');
  try {
    return await fill(handle, offset, length);
  } finally {
    await handle.close();
  }
}
