import { randomUUID } from 'node:crypto';
import { access, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { ifMissing } from '../../platform/errors/file-system.ts';
import { DAY_MS } from '../../platform/time.ts';
import { BlobMissingError, type BlobStore, type DirectAccess } from './blob-store.ts';

export interface ReceivedObject {
  /** Relative to the data folder of the host that received it. */
  path: string;
  fileSha256: string;
}

/**
 * The objects received by DICOM anywhere in the installation. Each is in the data folder of the
 * host that received it. If the installation has a bucket, each is also in the bucket under its
 * SHA-256: every host can then read it, and the data folders are caches.
 */
export interface ReceivedObjects {
  /** True if the installation has a bucket. */
  shared: boolean;
  /**
   * Makes an object already synced to the data folder durable for the whole installation.
   * @throws SonogateError `storage_unreachable`
   */
  keep(object: ReceivedObject & { bytes: number }): Promise<void>;
  has(object: ReceivedObject): Promise<boolean>;
  /**
   * Removes the shared bytes of an object that no row refers to. Bytes written within the last hour
   * are kept.
   */
  remove(fileSha256: string, now: Date): Promise<void>;
  /**
   * Returns the local path of an object, fetching it first if another host received it. Null if it
   * cannot be found anywhere.
   */
  locate(object: ReceivedObject): Promise<string | null>;
}

/**
 * Time limit in milliseconds for copying an object to the bucket. Modalities wait longer than this
 * for their C-STORE response.
 */
const KEEP_MS = 20_000;

/**
 * Folder for copies of objects received by other hosts. It is separate from the intake, where a
 * file without a row counts as newly received.
 */
const FETCHED = 'fetched';
const FETCHED_LIFE_MS = DAY_MS;

/**
 * Opens the installation's received objects on the host whose data folder is `dataDir`. The objects
 * are shared through the bucket if there is one.
 */
export function createReceivedObjects(dataDir: string, blobs: BlobStore): ReceivedObjects {
  return blobs.direct ? objectsInBucket(dataDir, blobs, blobs.direct) : objectsOnDisk(dataDir);
}

/** Opens the received objects of an installation with a single host. */
export function objectsOnDisk(dataDir: string): ReceivedObjects {
  return {
    shared: false,
    keep: async () => {},
    has: ({ path }) => exists(resolve(dataDir, path)),
    remove: async () => {},
    locate: async ({ path }) => {
      const here = resolve(dataDir, path);
      return (await exists(here)) ? here : null;
    },
  };
}

function objectsInBucket(
  dataDir: string,
  blobs: Pick<BlobStore, 'place' | 'remove'>,
  bucket: Pick<DirectAccess, 'has' | 'takeFile'>,
): ReceivedObjects {
  const onDisk = objectsOnDisk(dataDir);
  return {
    shared: true,

    async keep({ path, fileSha256, bytes }) {
      const stored = { sha256: fileSha256, bytes };
      const signal = AbortSignal.timeout(KEEP_MS);
      await bucket.takeFile(resolve(dataDir, path), stored, signal).catch((cause: unknown) => {
        throw new SonogateError('storage_unreachable', undefined, { cause });
      });
    },

    has: async (object) => (await onDisk.has(object)) || bucket.has(object.fileSha256),

    remove: (fileSha256, now) => blobs.remove(fileSha256, now),

    async locate(object) {
      const there = await onDisk.locate(object);
      if (there !== null) return there;
      const path = resolve(dataDir, FETCHED, object.path);
      if (await exists(path)) return path;
      const coming = `${path}.${randomUUID()}`;
      await mkdir(dirname(path), { recursive: true });
      try {
        await blobs.place(object.fileSha256, coming);
        await rename(coming, path);
        return path;
      } catch (error) {
        if (error instanceof BlobMissingError) return null;
        throw error;
      }
    },
  };
}

/** Removes copies fetched more than a day ago. They are fetched again when needed. */
export async function removeFetched(dataDir: string, now: Date): Promise<void> {
  const folder = resolve(dataDir, FETCHED);
  const entries = await ifMissing(readdir(folder, { recursive: true, withFileTypes: true }), []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const found = await ifMissing(stat(path), null);
    if (found && now.getTime() - found.mtimeMs > FETCHED_LIFE_MS) await rm(path, { force: true });
  }
}

/**
 * Returns true if a file exists.
 * @throws the system error if this cannot be determined: an object on an unresponsive disk is not
 * missing.
 */
async function exists(path: string): Promise<boolean> {
  return ifMissing(
    access(path).then(() => true),
    false,
  );
}
