import { rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Queryable } from '../src/database/port.ts';
import type { ReceivedObjects } from '../src/files/port.ts';
import { dayFolders } from './intake-folder.ts';
import { unregisteredObjects } from './unregistered-objects.ts';

/** Of removed studies: what was written less than an hour ago may be about to get a row. */
const SETTLED_MILLISECONDS = 3_600_000;
/** Of one pass; the next goes on. */
const BATCH = 1000;

/** Notes, with the removal of their study, that these bytes may go from the bucket. */
export async function noteUnneeded(
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
export async function removeUnneeded(
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
export async function removeForgottenFiles(
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
