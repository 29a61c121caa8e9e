import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Queryable } from '../../platform/database/port.ts';
import { ifMissing } from '../../platform/errors/file-system.ts';
import { newUuid } from '../../platform/ids.ts';
import { inParallel } from '../../platform/in-parallel.ts';
import { unusedBlobs } from '../files/blob-store.ts';
import type { ReceivedObjects } from '../files/received-objects.ts';
import { knownPaths } from './study-store.ts';

/**
 * Received objects are stored in the data folder as `intake/<source>/<day>/<uuid>.<crc>.dcm`, and
 * as `<uuid>.part` while they arrive. The source is part of the path so that it is known even for
 * an object not yet recorded in the database: the settings of the source determine when the study
 * is complete. A file may get its final name before it is synced; the CRC-32 of the content in this
 * name then shows whether the file is complete. Objects stored by version 1.0 have no CRC-32.
 */
const INTAKE = 'intake';
export const PARTIAL_SUFFIX = '.part';
export const OBJECT_SUFFIX = '.dcm';

/**
 * Returns the paths of one new object, relative to the data folder. Its folder might not exist yet.
 */
export function newPlace(source: string, now: Date): { partial: string; complete: string } {
  const base = join(INTAKE, source, now.toISOString().slice(0, 10), newUuid(now));
  return { partial: base + PARTIAL_SUFFIX, complete: base + OBJECT_SUFFIX };
}

const CHECKSUM = /\.([0-9a-f]{8})\.dcm$/;

/**
 * Returns the checksum in the name of a stored object; null if the name contains none. If the
 * content has another checksum, the host lost power before the object was synced, or the disk has
 * lost synced bytes.
 */
export function statedChecksum(path: string): number | null {
  const [, stated] = CHECKSUM.exec(path) ?? [];
  return stated === undefined ? null : Number.parseInt(stated, 16);
}

/** Lists the day folders of each source, oldest first within a source. */
export async function dayFolders(dataDir: string): Promise<{ source: string; folder: string }[]> {
  const found: { source: string; folder: string }[] = [];
  for (const source of await subfolders(join(dataDir, INTAKE))) {
    for (const day of await subfolders(join(dataDir, INTAKE, source))) {
      found.push({ source, folder: join(INTAKE, source, day) });
    }
  }
  return found;
}

async function subfolders(path: string): Promise<string[]> {
  const entries = await ifMissing(readdir(path, { withFileTypes: true }), []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

const LOOKUP_BATCH = 1000;
/** Number of concurrent deletions. Node.js has four threads for file access. */
export const FILES_AT_A_TIME = 4;

/** Yields the objects in a day folder that have no row, as paths relative to the data folder. */
export async function* unregisteredObjects(
  { database, dataDir }: { database: Queryable; dataDir: string },
  folder: string,
): AsyncGenerator<string> {
  const names = await readdir(join(dataDir, folder));
  const paths = names
    .filter((name) => name.endsWith(OBJECT_SUFFIX))
    .map((name) => join(folder, name));
  for (let start = 0; start < paths.length; start += LOOKUP_BATCH) {
    const batch = paths.slice(start, start + LOOKUP_BATCH);
    const known = await knownPaths(database, batch);
    yield* batch.filter((path) => !known.has(path));
  }
}

/**
 * Age in milliseconds from which a file without a row is an orphan. A newer file may be about to
 * get its row.
 */
const SETTLED_MILLISECONDS = 3_600_000;
/** Maximum number of blobs per pass. The next pass handles the rest. */
const BATCH = 1000;

/** Marks these blobs for deletion from the bucket, in the transaction that removes their study. */
export async function recordUnneededBlobs(
  tx: Queryable,
  digests: readonly string[],
  at: Date,
): Promise<void> {
  await tx.query(
    `INSERT INTO unneeded_blobs (sha256, since) SELECT DISTINCT unnest($1::text[]), $2::timestamptz
     ON CONFLICT (sha256) DO UPDATE SET since = EXCLUDED.since`,
    [digests, at],
  );
}

/**
 * Deletes from the bucket those blobs of removed studies that no row refers to. A blob that cannot
 * be deleted stays marked.
 * @throws the error of the bucket.
 */
export async function removeUnneededBlobs(
  { database, objects }: { database: Queryable; objects: ReceivedObjects },
  now: Date,
): Promise<void> {
  const { rows } = await database.query<{ sha256: string }>(
    'SELECT sha256 FROM unneeded_blobs WHERE since < $1 ORDER BY since LIMIT $2',
    [new Date(now.getTime() - SETTLED_MILLISECONDS), BATCH],
  );
  const digests = rows.map(({ sha256 }) => sha256);
  const unused = new Set(await unusedBlobs(database, digests));
  for (const sha256 of digests) {
    if (unused.has(sha256)) await objects.remove(sha256, now);
    await database.query('DELETE FROM unneeded_blobs WHERE sha256 = $1', [sha256]);
  }
}

/**
 * Deletes this host's copies of objects whose study another host has removed: files that have no
 * row and are older than the retention period. Otherwise they would be registered as new objects at
 * the next startup.
 * @param before files written before this time are older than the retention period.
 */
export async function removeOrphanedFiles(
  { database, dataDir }: { database: Queryable; dataDir: string },
  before: Date,
  now: Date,
): Promise<void> {
  const limit = Math.min(before.getTime(), now.getTime() - SETTLED_MILLISECONDS);
  const lastDay = new Date(limit).toISOString().slice(0, 10);
  for (const { folder } of await dayFolders(dataDir)) {
    if (basename(folder) > lastDay) continue;
    for await (const path of unregisteredObjects({ database, dataDir }, folder)) {
      const { mtimeMs } = await stat(join(dataDir, path));
      if (mtimeMs < limit) await rm(join(dataDir, path), { force: true });
    }
  }
}

/**
 * Deletes partial files, which were never acknowledged to their senders.
 * @param isAlone true if no other process can be receiving objects in this data folder. Otherwise a
 * file is kept while it may still grow.
 * @param failed called with each file that could not be deleted.
 * @returns the number of deleted files.
 */
export async function removePartialFiles(
  dataDir: string,
  isAlone: boolean,
  failed: (path: string, error: unknown) => void,
): Promise<number> {
  let removed = 0;
  for (const { folder } of await dayFolders(dataDir)) {
    const names = await readdir(join(dataDir, folder));
    for (const name of names.filter((name) => name.endsWith(PARTIAL_SUFFIX))) {
      const path = join(folder, name);
      try {
        if (!isAlone && !(await isSettled(join(dataDir, path)))) continue;
        await rm(join(dataDir, path));
        removed += 1;
      } catch (error) {
        failed(path, error);
      }
    }
  }
  return removed;
}

/** Returns true if a file has not changed for an hour. No sender pauses for so long. */
async function isSettled(path: string): Promise<boolean> {
  const found = await ifMissing(stat(path), null);
  return found !== null && found.mtimeMs < Date.now() - SETTLED_MILLISECONDS;
}

/** Notes the files of a study that a person removes, in the transaction that removes it. */
export async function recordRemovedObjects(
  tx: Queryable,
  paths: readonly string[],
  at: Date,
): Promise<void> {
  await tx.query(
    `INSERT INTO removed_objects (path, removed_at) SELECT unnest($1::text[]), $2::timestamptz
     ON CONFLICT (path) DO NOTHING`,
    [paths, at],
  );
}

/** Deletes this host's copies of objects whose study a person has removed on any host. */
export async function deleteRemovedObjects({
  database,
  dataDir,
}: {
  database: Queryable;
  dataDir: string;
}): Promise<void> {
  const { rows } = await database.query<{ path: string }>('SELECT path FROM removed_objects');
  await inParallel(rows, FILES_AT_A_TIME, ({ path }) => rm(join(dataDir, path), { force: true }));
}
