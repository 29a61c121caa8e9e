import type { RoutingRule } from '../../../config/routing.ts';
import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { type CompletionSignal, UNCERTAIN_SIGNALS } from './completion.ts';
import type { InstanceHeader } from './instance-header.ts';
import type { PatientMismatch } from './patient.ts';

/**
 * States of a study.
 *
 *   receiving ──complete_after passes───▶ complete ──rule runs──────▶ submitted
 *       ▲                                  ▲  ├──rule forwards, tags▶ routed
 *       │                                  │  ├──rule ignores───────▶ ignored
 *       │                                  │  ├──no rule────────────▶ unrouted
 *       │                                  │  ├──endpoint refused───▶ refused
 *       │                                  │  └──rule holds─────────▶ held
 *       │                                  └────a person releases──────┘
 *       └──── a new object (revision + 1) ──── from any other state
 */
export const STUDY_STATE = [
  'receiving',
  'complete',
  'submitted',
  'routed',
  'held',
  'ignored',
  'unrouted',
  'refused',
] as const;
export type StudyState = (typeof STUDY_STATE)[number];

export interface ReceivedInstance {
  /** Relative to the data folder. */
  path: string;
  bytes: number;
  fileSha256: string;
  dataSetSha256: string;
  transferSyntax: string;
  header: InstanceHeader;
  source: string;
  callingAeTitle: string;
  calledAeTitle: string;
  receivedAt: Date;
  /** When the study counts as complete if nothing else arrives. */
  completeAfter: Date;
  /** Whether an object that is sent again also opens a new revision. */
  rerunAlways: boolean;
}

export interface Arrival {
  studyId: string;
  /** `conflict`: another object with this SOP Instance UID was stored before; both are kept. */
  outcome: 'new' | 'duplicate' | 'conflict';
  revision: number;
}

export interface StudyRow {
  id: string;
  study_instance_uid: string;
  source: string;
  calling_ae_title: string;
  called_ae_title: string;
  state: StudyState;
  revision: number;
  instance_count: number;
  identity: DicomIdentity;
  first_received_at: Date;
  last_received_at: Date;
  /** While the study receives objects: when it counts as complete if nothing else arrives. */
  complete_after: Date;
  /** Which signal set that time. */
  complete_because: CompletionSignal;
  /** While the study is complete: when it is worked on next. */
  next_attempt_at: Date | null;
  tags: string[];
  /** Names of the rules that acted on the revision that was judged last. */
  acting_rules: string[];
  released_revision: number | null;
  chosen_rule: string | null;
  /** Why a person wants the study to wait; null when nobody does. */
  hold_reason: string | null;
  /** The attribute in which its objects name different patients; null when they do not differ. */
  patient_mismatch: PatientMismatch | null;
  reason: string | null;
}

export interface InstanceRow {
  id: string;
  sop_instance_uid: string;
  ordinal: number;
  revision: number;
  path: string;
  bytes: number;
  file_sha256: string;
  conflict: boolean;
  transfer_syntax: string;
  header: InstanceHeader;
}

/** If an object was received more than this many seconds in the future, the clock was set back. */
const CLOCK_SKEW_SECONDS = 10;

/**
 * After the clock was set back, deadlines are in a future that may be hours away: they are moved so
 * that they keep their distance to the last object.
 */
async function keepDistance(database: Queryable, now: Date): Promise<void> {
  await database.query(
    `UPDATE studies SET complete_after = complete_after - (last_received_at - $1::timestamptz),
       next_attempt_at = next_attempt_at - (last_received_at - $1::timestamptz),
       last_received_at = $1::timestamptz
     WHERE state IN ('receiving', 'complete')
       AND last_received_at > $1::timestamptz + make_interval(secs => $2)`,
    [now, CLOCK_SKEW_SECONDS],
  );
}

/**
 * Turns studies whose `complete_after` has passed from `receiving` to `complete`. While nobody has
 * stated that all objects are here, a study waits for the object that its machine was already sending
 * when the time passed (receptions.ts), because the object may belong to it.
 */
export async function completeDueStudies(
  database: Database,
  now: Date,
  outstanding: () => string[] = () => [],
): Promise<void> {
  await keepDistance(database, now);
  await database.query(
    `UPDATE studies s SET state = 'complete', next_attempt_at = $1
     WHERE state = 'receiving' AND complete_after <= $1
       AND study_instance_uid <> ALL ($3::text[])
       AND NOT (complete_because = ANY ($2::text[]) AND EXISTS (
         SELECT 1 FROM receptions_under_way r
         WHERE r.source = s.source AND r.calling_ae_title = s.calling_ae_title
           AND r.began_at <= s.complete_after AND r.silent_after > $1))`,
    // Looked up after `now`: an object that is acknowledged later is late for these deadlines.
    [now, UNCERTAIN_SIGNALS, outstanding()],
  );
}

/**
 * Seconds for which a claimed study belongs to its process. After a crash, another process claims
 * it when they have passed.
 */
const LEASE_SECONDS = 30;

/**
 * Claims complete studies whose next attempt is due, for this process alone.
 * @param limit how many at most, the longest due first.
 */
export async function claimCompleteStudies(
  database: Database,
  now: Date,
  limit: number,
): Promise<StudyRow[]> {
  const { rows } = await database.query<StudyRow>(
    `UPDATE studies SET next_attempt_at = $2 WHERE id IN (
       SELECT id FROM studies WHERE state = 'complete' AND next_attempt_at <= $1
       ORDER BY next_attempt_at LIMIT $3 FOR UPDATE SKIP LOCKED)
     RETURNING *`,
    [now, new Date(now.getTime() + LEASE_SECONDS * 1000), limit],
  );
  return rows;
}

/** Ends the work on a revision; does nothing if a newer object has reopened the study. */
export async function endRevision(
  database: Queryable,
  study: Pick<StudyRow, 'id' | 'revision'>,
  state: Exclude<StudyState, 'receiving' | 'complete'>,
  reason: string | null,
): Promise<void> {
  await database.query(
    `UPDATE studies SET state = $3, reason = $4
     WHERE id = $1 AND revision = $2 AND state = 'complete'`,
    [study.id, study.revision, state, reason],
  );
}

export async function recordSubmission(
  database: Queryable,
  study: Pick<StudyRow, 'id' | 'revision'>,
  { rule, requestId, at }: { rule: string; requestId: string; at: Date },
): Promise<void> {
  await database.query(
    `INSERT INTO study_requests (study_id, revision, rule, request_id, submitted_at)
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
    [study.id, study.revision, rule, requestId, at],
  );
}

/**
 * Sets an earlier time at which a study that still receives objects counts as complete; the time is
 * never postponed. A certain signal replaces a guess even if its own time is not earlier.
 * @returns whether the signal was recorded.
 */
export async function hastenCompletion(
  database: Queryable,
  studyId: string,
  completeAfter: Date,
  because: CompletionSignal,
): Promise<boolean> {
  const { rowCount } = await database.query(
    `UPDATE studies SET complete_after = LEAST(complete_after, $2), complete_because = $3
     WHERE id = $1 AND state = 'receiving'
       AND (complete_after > $2 OR (complete_because = ANY ($4::text[]) AND $5))`,
    [studyId, completeAfter, because, UNCERTAIN_SIGNALS, !UNCERTAIN_SIGNALS.includes(because)],
  );
  return rowCount === 1;
}

/** Records which rules act on a study, and their tags, in place of those of earlier revisions. */
export async function recordRules(
  database: Queryable,
  { id }: Pick<StudyRow, 'id'>,
  acting: readonly Pick<RoutingRule, 'name' | 'tags'>[],
): Promise<void> {
  const tags = new Set(acting.flatMap((rule) => rule.tags));
  await database.query('UPDATE studies SET acting_rules = $2, tags = $3 WHERE id = $1', [
    id,
    acting.map(({ name }) => name),
    [...tags],
  ]);
}

/** Reschedules a complete study that cannot be submitted yet. */
export async function reschedule(
  database: Queryable,
  study: Pick<StudyRow, 'id' | 'revision'>,
  until: Date,
  reason: string,
): Promise<void> {
  await database.query(
    `UPDATE studies SET next_attempt_at = $3, reason = $4
     WHERE id = $1 AND revision = $2 AND state = 'complete'`,
    [study.id, study.revision, until, reason],
  );
}
