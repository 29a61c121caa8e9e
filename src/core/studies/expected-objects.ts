import type { Queryable } from '../../platform/database/port.ts';
import { DAY_MS } from '../../platform/time.ts';
import { type CompletionSignal, hastenCompletion } from './completion.ts';

/** The objects of a study as listed by a cart or PACS. */
interface Expectation {
  studyInstanceUid: string;
  /**
   * UID of the procedure step or notification. A later list with the same UID replaces the earlier
   * one.
   */
  statedBy: string;
  signal: Extract<
    CompletionSignal,
    'performed-procedure' | 'instance-availability' | 'expected-count'
  >;
  sopInstanceUids: readonly string[];
  statedAt: Date;
}

/**
 * Records a list of objects. An empty list is ignored, because it does not show when the study is
 * complete.
 */
export async function expectObjects(database: Queryable, stated: Expectation): Promise<void> {
  if (stated.sopInstanceUids.length === 0) return;
  await database.query(
    `INSERT INTO study_expectations
       (study_instance_uid, stated_by, signal, sop_instance_uids, stated_at)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (study_instance_uid, stated_by) DO UPDATE SET signal = EXCLUDED.signal,
       sop_instance_uids = EXCLUDED.sop_instance_uids, stated_at = EXCLUDED.stated_at`,
    [
      stated.studyInstanceUid,
      stated.statedBy,
      stated.signal,
      [...stated.sopInstanceUids],
      stated.statedAt,
    ],
  );
}

/**
 * Brings forward the completion of studies for which every listed object has arrived and no
 * procedure step is in progress. Lists that contain only objects of earlier revisions are not
 * enough, because they say nothing about the objects that are arriving now.
 * @param deadline returns when a study from this source counts as complete once every listed object
 * has arrived.
 */
export async function completeExpected(
  database: Queryable,
  deadline: (source: string) => Date,
): Promise<void> {
  const { rows } = await database.query<{ id: string; source: string; signal: CompletionSignal }>(
    `SELECT s.id, s.source, (array_agg(e.signal ORDER BY e.stated_at DESC))[1] AS signal
     FROM studies s
       JOIN study_expectations e ON e.study_instance_uid = s.study_instance_uid
         AND cardinality(e.sop_instance_uids) > 0
     WHERE s.state = 'receiving' AND NOT EXISTS (
       SELECT 1 FROM performed_procedure_steps p
       WHERE p.status = 'IN PROGRESS' AND p.study_instance_uids @> ARRAY[s.study_instance_uid])
     GROUP BY s.id
     HAVING bool_and(NOT EXISTS (
         SELECT 1 FROM unnest(e.sop_instance_uids) AS expected (uid)
         WHERE NOT EXISTS (SELECT 1 FROM instances i
           WHERE i.study_id = s.id AND i.sop_instance_uid = expected.uid)))
       AND bool_or(EXISTS (SELECT 1 FROM instances i
         WHERE i.study_id = s.id AND i.revision = s.revision
           AND i.sop_instance_uid = ANY (e.sop_instance_uids)))`,
  );
  for (const { id, source, signal } of rows) {
    await hastenCompletion(database, [{ studyId: id, completeAfter: deadline(source) }], signal);
  }
}

/**
 * Age in days at which a list of objects is deleted. A procedure step is deleted after the same
 * time without an update. No study keeps receiving objects for that long.
 */
const STATEMENT_DAYS = 30;

/** Deletes lists of objects, and procedure steps, that are older than `STATEMENT_DAYS`. */
export async function forgetOldStatements(database: Queryable, now: Date): Promise<void> {
  const before = new Date(now.getTime() - STATEMENT_DAYS * DAY_MS);
  await database.query('DELETE FROM study_expectations WHERE stated_at < $1', [before]);
  await database.query('DELETE FROM performed_procedure_steps WHERE updated_at < $1', [before]);
}
