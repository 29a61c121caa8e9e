import type { ExpectedCount } from '../../../config/peers.ts';
import type { Source } from '../../../config/schema.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { secondsAfter } from '../../platform/time.ts';
import { UNCERTAIN_SIGNALS } from './completion.ts';

/**
 * Compares the number of objects that an archive has of a study with the number that has arrived
 * here, while the study is still receiving objects.
 *
 *   asking ──▶ behind    the archive does not have all of ours yet, so its count is useless
 *     │    ──▶ missing   the archive has more: the study waits for them, within a limit
 *     │    ──▶ unknown   the archive did not answer
 *     └──────▶ complete  every object of the archive has arrived
 */
export interface ArchiveCount {
  archive: string;
  state: 'asking' | 'behind' | 'missing' | 'complete' | 'unknown';
  expected: number | null;
  missing: number | null;
  detail: string | null;
}

export function expectedCountSettings(
  sources: readonly Source[],
  source: string,
): ExpectedCount | undefined {
  return sources.find(({ name }) => name === source)?.completion.expectedCount;
}

/** Schedules a count at the source's archive after the end of an association that sent objects. */
export async function scheduleArchiveCount(
  database: Database,
  sources: readonly Source[],
  { studyId, source, at }: { studyId: string; source: string; at: Date },
): Promise<void> {
  const settings = expectedCountSettings(sources, source);
  if (!settings) return;
  await database.query(
    `INSERT INTO archive_counts (study_id, revision, archive, state, ask_at)
     SELECT id, revision, $2, 'asking', $3 FROM studies WHERE id = $1 AND state = 'receiving'
     ON CONFLICT (study_id, revision) DO UPDATE SET state = 'asking', ask_at = EXCLUDED.ask_at`,
    [studyId, settings.archive, at],
  );
}

/** A study that is receiving objects, about which its archive is to be asked. */
export interface DueCount {
  study_id: string;
  revision: number;
  study_instance_uid: string;
  source: string;
}

/**
 * Claims the studies about which an archive is due to be asked, at most `limit`. Until `claimedUntil`
 * no other process asks about them. Studies that are no longer receiving objects, or have a later
 * revision, are not due again.
 */
export async function claimDueCounts(
  database: Database,
  archive: string,
  { at, claimedUntil, limit }: { at: Date; claimedUntil: Date; limit: number },
): Promise<DueCount[]> {
  await database.query(
    `UPDATE archive_counts c SET ask_at = 'infinity'
     WHERE c.archive = $1 AND c.state <> 'complete' AND c.ask_at <= $2 AND NOT EXISTS (
       SELECT 1 FROM studies s
       WHERE s.id = c.study_id AND s.revision = c.revision AND s.state = 'receiving')`,
    [archive, at],
  );
  const { rows } = await database.query<DueCount>(
    `UPDATE archive_counts c SET ask_at = $2 FROM studies s
     WHERE s.id = c.study_id AND (c.study_id, c.revision) IN (
       SELECT due.study_id, due.revision FROM archive_counts due
         JOIN studies d ON d.id = due.study_id AND d.revision = due.revision
       WHERE due.archive = $1 AND due.state <> 'complete' AND due.ask_at <= $3
         AND d.state = 'receiving'
       ORDER BY due.ask_at LIMIT $4 FOR UPDATE OF due SKIP LOCKED)
     RETURNING c.study_id, c.revision, s.study_instance_uid, s.source`,
    [archive, claimedUntil, at, limit],
  );
  return rows;
}

/** Makes a claimed count due again at once. */
export async function releaseCount(
  database: Queryable,
  { study_id, revision }: DueCount,
  at: Date,
): Promise<void> {
  await database.query(
    'UPDATE archive_counts SET ask_at = $3 WHERE study_id = $1 AND revision = $2',
    [study_id, revision, at],
  );
}

/** Records the answer of an archive, and when it is to be asked again. */
export async function recordCount(
  database: Queryable,
  { study_id, revision }: DueCount,
  { state, expected, missing, detail }: ArchiveCount,
  askAt: Date,
): Promise<void> {
  await database.query(
    `UPDATE archive_counts SET state = $3, expected = $4, missing = $5, detail = $6, ask_at = $7
     WHERE study_id = $1 AND revision = $2`,
    [study_id, revision, state, expected, missing, detail, askAt],
  );
}

/** States why a study still waits for objects that the archive has, or why it cannot be compared. */
export async function explainWait(
  database: Queryable,
  { study, revision }: { study: string; revision: number },
  reason: string | null,
): Promise<void> {
  await database.query(
    `UPDATE studies SET reason = $3
     WHERE id = $1 AND revision = $2 AND state = 'receiving' AND complete_because = 'expected-count'`,
    [study, revision, reason],
  );
}

/**
 * Delays the completion of due studies whose source is compared with an archive. A study waits
 * until the archive confirms that all objects have arrived, but no longer than `waitSeconds`.
 */
export async function holdForArchive(
  database: Database,
  sources: readonly Source[],
  now: Date,
): Promise<void> {
  for (const { name, completion } of sources) {
    if (completion.expectedCount) await hold(database, name, completion.expectedCount, now);
  }
}

async function hold(
  database: Database,
  source: string,
  { archive, waitSeconds }: ExpectedCount,
  now: Date,
): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query(
      `INSERT INTO archive_counts (study_id, revision, archive, state, ask_at, hold_until)
       SELECT id, revision, $2, 'asking', $3, $4 FROM studies
       WHERE state = 'receiving' AND complete_after <= $3 AND source = $1
         AND complete_because = ANY ($5::text[])
       ON CONFLICT (study_id, revision) DO UPDATE SET
         hold_until = COALESCE(archive_counts.hold_until, EXCLUDED.hold_until)`,
      [source, archive, now, secondsAfter(now, waitSeconds), UNCERTAIN_SIGNALS],
    );
    await tx.query(
      `UPDATE studies s SET
         complete_after = CASE WHEN c.hold_until > $2 THEN c.hold_until ELSE s.complete_after END,
         complete_because =
           CASE WHEN c.hold_until > $2 THEN 'expected-count' ELSE 'quiet-time' END,
         reason = COALESCE(c.detail, 'Asking ' || c.archive || ' how many objects it has of the study.')
       FROM archive_counts c WHERE c.study_id = s.id AND c.revision = s.revision
         AND s.state = 'receiving' AND s.complete_after <= $2 AND s.source = $1
         AND (s.complete_because = ANY ($3::text[]) OR s.complete_after = c.hold_until)
         AND c.state <> 'complete'`,
      [source, now, UNCERTAIN_SIGNALS],
    );
  });
}

/** Returns the archive count of a revision, for `explain`; null if no count was requested. */
export async function countOfStudy(
  database: Queryable,
  { id, revision }: { id: string; revision: number },
): Promise<(ArchiveCount & { holdUntil: Date | null }) | null> {
  const { rows } = await database.query<ArchiveCount & { holdUntil: Date | null }>(
    `SELECT archive, state, expected, missing, detail, hold_until AS "holdUntil"
     FROM archive_counts WHERE study_id = $1 AND revision = $2`,
    [id, revision],
  );
  return rows[0] ?? null;
}
