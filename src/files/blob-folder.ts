import { createHash, randomUUID } from 'node:crypto';
import { constants, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Bytes touched within this time may belong to an upload that still runs. */
const IN_USE_MS = 3_600_000;

/** The bytes were more than were announced; nothing was kept. */
export class TooManyBytesError extends Error {
  override name = 'TooManyBytesError';
}

/** Files by the SHA-256 of their content: written once, never changed, the same bytes only once. */
export interface BlobFolder {
  /** Path of the bytes with this digest, whether or not they are there. */
  path(sha256: string): string;
  /**
   * Takes in a stream whole or not at all: what broke off leaves nothing behind, and what is
   * reported is on the disk.
   * @throws TooManyBytesError as soon as `limit` is passed.
   */
  write(source: Readable, limit: number): Promise<{ sha256: string; bytes: number }>;
  /** Removes bytes that nothing refers to; those written within the last hour stay. */
  remove(sha256: string, now: Date): Promise<void>;
  /** Removes what a process that was killed left half-written. */
  removeAbandoned(now: Date): Promise<void>;
  /** Free bytes of the disk. */
  free(): Promise<number>;
}

/** @param folder made when it is missing; it must lie on one file system. */
export async function openBlobFolder(folder: string): Promise<BlobFolder> {
  const incoming = join(folder, 'incoming');
  await mkdir(incoming, { recursive: true });
  const path = (sha256: string) => join(folder, sha256.slice(0, 2), sha256);
  const removeUnused = async (file: string, now: Date) => {
    const found = await stat(file).catch(() => null);
    if (found && now.getTime() - found.mtimeMs > IN_USE_MS) await rm(file, { force: true });
  };

  return {
    path,

    async write(source, limit) {
      const part = join(incoming, randomUUID());
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
        // `flush` is fsync before close.
        await pipeline(source, measure, createWriteStream(part, { flags: 'wx', flush: true }));
        const sha256 = hash.digest('hex');
        await mkdir(dirname(path(sha256)), { recursive: true });
        await rename(part, path(sha256));
        await syncFolder(dirname(path(sha256)));
        return { sha256, bytes };
      } finally {
        await rm(part, { force: true });
      }
    },

    remove: (sha256, now) => removeUnused(path(sha256), now),

    async removeAbandoned(now) {
      for (const part of await readdir(incoming)) await removeUnused(join(incoming, part), now);
    },

    async free() {
      const { bavail, bsize } = await statfs(folder);
      return bavail * bsize;
    },
  };
}

/** Makes a rename survive a power cut. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
