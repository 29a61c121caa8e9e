import { randomUUID } from 'node:crypto';
import { access, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { ifMissing } from '../../platform/errors/file-system.ts';
import { DAY_MS } from '../../platform/time.ts';
import { BlobMissingError, type BlobStore, type DirectAccess } from './blob-store.ts';

/** A received object as its row describes it. */
export interface ReceivedObject {
  /** Relative to the data folder of the machine that received it. */
  path: string;
  /** SHA-256 of the whole file. */
  fileSha256: string;
}

/**
 * The objects received by DICOM, anywhere in the site. They are in the data folder of the machine
 * that received them. If the site has a bucket, they are also in the bucket under their SHA-256:
 * then every machine can read them, and the data folders are caches.
 */
export interface ReceivedObjects {
  /** Whether the site has a bucket. */
  shared: boolean;
  /**
   * Makes an object that is synced in the data folder durable for the whole site.
   * @throws SonogateError `storage_unreachable`
   */
  keep(object: ReceivedObject & { bytes: number }): Promise<void>;
  has(object: ReceivedObject): Promise<boolean>;
  /**
   * Removes the shared bytes of an object to which no row refers. Bytes written within the last
   * hour are kept.
   */
  remove(fileSha256: string, now: Date): Promise<void>;
  /**
   * Returns the path of an object on this machine; fetches it first if another machine received it.
   * Null if it cannot be found anywhere.
   */
  locate(object: ReceivedObject): Promise<string | null>;
}

/**
 * Time limit in milliseconds for copying an object to the bucket. Modalities wait longer than this
 * for the status of their C-STORE.
 */
const KEEP_MS = 20_000;

/**
 * Folder for copies of objects that other machines received. It is separate from the intake,
 * because a file there without a row counts as a newly received object.
 */
const FETCHED = 'fetched';
const FETCHED_LIFE_MS = DAY_MS;

/**
 * Opens the received objects of a site from the machine with `dataDir`; they are shared through a
 * bucket if the site has one.
 */
export function createReceivedObjects(dataDir: string, blobs: BlobStore): ReceivedObjects {
  return blobs.direct ? objectsInBucket(dataDir, blobs, blobs.direct) : objectsOnDisk(dataDir);
}

/** Opens the received objects of a site with a single machine. */
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

/**
 * Removes copies that were fetched more than a day ago. They are fetched again when they are
 * needed.
 */
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
 * Whether a file exists. @throws the system's error if this cannot be determined, because an object
 * on a disk that does not answer is not missing.
 */
async function exists(path: string): Promise<boolean> {
  return ifMissing(
    access(path).then(() => true),
    false,
  );
}
