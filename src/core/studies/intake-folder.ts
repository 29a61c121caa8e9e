import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Queryable } from '../../platform/database/port.ts';
import { ifMissing } from '../../platform/errors/file-system.ts';
import type { ReceivedObjects } from '../files/received-objects.ts';
import { knownPaths } from './study-queries.ts';

/**
 * Where received objects lie, below the data folder: `intake/<source>/<day>/<uuid>.dcm`, `.part`
 * while they come. The source stands in the path so that an object without a row still tells how
 * its study completes.
 */
const INTAKE = 'intake';
export const QUARANTINE = 'quarantine';
export const PARTIAL_SUFFIX = '.part';
export const OBJECT_SUFFIX = '.dcm';

/** A fresh place for one object; paths are relative to the data folder. */
export async function newPlace(
  dataDir: string,
  source: string,
  now: Date,
): Promise<{ partial: string; complete: string }> {
  const day = join(INTAKE, source, now.toISOString().slice(0, 10));
  const made = await mkdir(join(dataDir, day), { recursive: true });
  if (made !== undefined) await syncFolders(dataDir, day);
  const base = join(day, randomUUID());
  return { partial: base + PARTIAL_SUFFIX, complete: base + OBJECT_SUFFIX };
}

/** Moves an object that cannot be used out of the way, where a person can look at it. */
export async function quarantine(dataDir: string, path: string): Promise<string> {
  const place = join(QUARANTINE, `${randomUUID()}${OBJECT_SUFFIX}`);
  await mkdir(join(dataDir, QUARANTINE), { recursive: true });
  await rename(join(dataDir, path), join(dataDir, place));
  return place;
}

/** Every day folder with its source, oldest first. */
export async function dayFolders(dataDir: string): Promise<{ source: string; folder: string }[]> {
  const found: { source: string; folder: string }[] = [];
  for (const source of await subfolders(join(dataDir, INTAKE))) {
    for (const day of await subfolders(join(dataDir, INTAKE, source))) {
      found.push({ source, folder: join(INTAKE, source, day) });
    }
  }
  return found;
}

/** A rename is durable only when its folder has reached the disk. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function syncFolders(dataDir: string, relative: string): Promise<void> {
  for (let path = relative; path !== '.'; path = join(path, '..')) {
    await syncFolder(join(dataDir, path));
  }
  await syncFolder(dataDir);
}

async function subfolders(path: string): Promise<string[]> {
  const entries = await ifMissing(readdir(path, { withFileTypes: true }), []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

/** Paths looked up in one query. */
const LOOKUP_BATCH = 1000;

/** Objects of a day's folder that no row names, as paths below the data folder. */
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

/** Of removed studies: what was written less than an hour ago may be about to get a row. */
const SETTLED_MILLISECONDS = 3_600_000;
/** Of one pass; the next goes on. */
const BATCH = 1000;

/** Notes, with the removal of their study, that these bytes may go from the bucket. */
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
 * Removes from the bucket what removed studies left there and nothing else refers to. What fails
 * stays noted.
 * @throws what the bucket throws.
 */
export async function removeUnneededBlobs(
  { database, objects }: { database: Queryable; objects: ReceivedObjects },
  now: Date,
): Promise<void> {
  const { rows } = await database.query<{ sha256: string; used: boolean }>(
    `SELECT sha256, EXISTS (SELECT 1 FROM instances WHERE file_sha256 = b.sha256)
       OR EXISTS (SELECT 1 FROM files WHERE sha256 = b.sha256)
       OR EXISTS (SELECT 1 FROM request_artifacts WHERE sha256 = b.sha256) AS used
     FROM unneeded_blobs b WHERE since < $1 ORDER BY since LIMIT $2`,
    [new Date(now.getTime() - SETTLED_MILLISECONDS), BATCH],
  );
  for (const { sha256, used } of rows) {
    if (!used) await objects.remove(sha256, now);
    await database.query('DELETE FROM unneeded_blobs WHERE sha256 = $1', [sha256]);
  }
}

/**
 * Removes this machine's own copies of objects whose study another machine has removed: files older
 * than the retention that no row names. Else the next start would take them for objects that have
 * just come.
 * @param before the end of the retention.
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
