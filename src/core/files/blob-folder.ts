import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifMissing } from '../../platform/errors/file-system.ts';
import { BlobMissingError, type BlobStore, IN_USE_MS } from './blob-store.ts';
import { linkOrCopy, writeAtomically } from './whole-file.ts';

interface BlobFolder extends BlobStore {
  direct: null;
  /** Returns the path of the bytes with this digest, whether or not they exist. */
  path(sha256: string): string;
}

/**
 * Opens a blob store in a folder.
 * @param folder must be on a single file system. It is created at the first write, so that a
 * command that only reads leaves no folder behind.
 */
export function openBlobFolder(folder: string): BlobFolder {
  const incoming = join(folder, 'incoming');
  const path = (sha256: string) => join(folder, sha256.slice(0, 2), sha256);
  const removeUnused = async (file: string, now: Date) => {
    const found = await ifMissing(stat(file), null);
    if (found && now.getTime() - found.mtimeMs > IN_USE_MS) await rm(file, { force: true });
  };

  return {
    direct: null,
    close: () => {},

    path,

    async write(source, limit) {
      await mkdir(incoming, { recursive: true });
      const part = join(incoming, randomUUID());
      try {
        const stored = await writeAtomically(source, limit, part);
        const whole = path(stored.sha256);
        await mkdir(dirname(whole), { recursive: true });
        await rename(part, whole);
        await syncFolder(dirname(whole));
        return stored;
      } finally {
        await rm(part, { force: true });
      }
    },

    async read(sha256) {
      const handle = await open(path(sha256)).catch((error) => rejectMissing(error, sha256));
      return handle.createReadStream();
    },

    async place(sha256, to) {
      await linkOrCopy(path(sha256), to).catch((error) => rejectMissing(error, sha256));
    },

    remove: (sha256, now) => removeUnused(path(sha256), now),

    async removeAbandoned(now) {
      const parts = await ifMissing(readdir(incoming), []);
      for (const part of parts) await removeUnused(join(incoming, part), now);
    },

    async free() {
      // The folder must exist at this point, because the caller is about to write to it.
      await mkdir(folder, { recursive: true });
      const { bavail, bsize } = await statfs(folder);
      return bavail * bsize;
    },

    requireWritable: async () => {},
  };
}

function rejectMissing(error: NodeJS.ErrnoException, sha256: string): never {
  throw error.code === 'ENOENT' ? new BlobMissingError(sha256) : error;
}

/** Flushes the folder, so that a rename survives a power failure. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
