import { createHash } from 'node:crypto';
import { constants, createWriteStream } from 'node:fs';
import { copyFile, link, rm } from 'node:fs/promises';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type StoredBlob, TooManyBytesError } from './blob-store.ts';

/**
 * Writes a stream to a new file synced to disk, and returns its size and digest. An interrupted
 * stream leaves nothing behind.
 * @throws TooManyBytesError as soon as `limit` is exceeded.
 */
export async function writeAtomically(
  source: Readable,
  limit: number,
  path: string,
): Promise<StoredBlob> {
  const hash = createHash('sha256');
  let bytes = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      hash.update(chunk);
      if (bytes > limit) done(new TooManyBytesError());
      else done(null, chunk);
    },
  });
  try {
    // With `flush`, the file is synced before it is closed.
    await pipeline(source, measure, createWriteStream(path, { flags: 'wx', flush: true }));
    return { sha256: hash.digest('hex'), bytes };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/**
 * Links a file, or copies it if `to` is on another file system (EXDEV) or hard links are not
 * supported. `to` must not exist: if it were an existing hard link, copying would overwrite the
 * content of its other links.
 */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw error;
    return copyFile(from, to, constants.COPYFILE_EXCL);
  });
}
