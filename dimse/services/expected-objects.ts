import type { Queryable } from '../../src/database/port.ts';
import type { CompletionSignal } from '../completion.ts';
import { hastenCompletion } from '../study-store.ts';

/** What a machine or a PACS says that a study has. */
export interface Expectation {
  studyInstanceUid: string;
  /** UID of the procedure step or of the notification: a later word of the same replaces it. */
  statedBy: string;
  signal: Extract<
    CompletionSignal,
    'performed-procedure' | 'instance-availability' | 'expected-count'
  >;
  sopInstanceUids: readonly string[];
  statedAt: Date;
}

export async function expectObjects(database: Queryable, stated: Expectation): Promise<void> {
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
 * Brings studies nearer to completion that have all that was said of them.
 * @param deadline when a study of this source counts as complete then.
 */
export async function completeExpected(
  database: Queryable,
  deadline: (source: string) => Date,
): Promise<void> {
  const { rows } = await database.query<{ id: string; source: string; signal: CompletionSignal }>(
    `SELECT s.id, s.source, e.signal FROM studies s
       JOIN study_expectations e ON e.study_instance_uid = s.study_instance_uid
     WHERE s.state = 'receiving' AND NOT EXISTS (
       SELECT 1 FROM unnest(e.sop_instance_uids) AS expected (uid)
       WHERE NOT EXISTS (SELECT 1 FROM instances i
         WHERE i.study_id = s.id AND i.sop_instance_uid = expected.uid))`,
  );
  for (const { id, source, signal } of rows) {
    await hastenCompletion(database, id, deadline(source), signal);
  }
}

/** A word of what a study has counts once: what comes later is told of anew, or waited for. */
export async function forgetExpectations(
  database: Queryable,
  studyInstanceUid: string,
): Promise<void> {
  await database.query('DELETE FROM study_expectations WHERE study_instance_uid = $1', [
    studyInstanceUid,
  ]);
}
