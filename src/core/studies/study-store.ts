import type { RoutingRule } from '../../../config/routing.ts';
import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { type CompletionSignal, UNCERTAIN_SIGNALS } from './completion.ts';
import type { InstanceHeader } from './instance-header.ts';

/**
 * States of a study.
 *
 *   receiving ──a signal of completion──▶ complete ──rule runs──────▶ submitted
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
  /** Below the data folder. */
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
  /** A known object that comes again makes a revision too. */
  rerunAlways: boolean;
}

export interface Arrival {
  studyId: string;
  /** `conflict`: an object with this SOP Instance UID and other content was there; both are kept. */
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
  complete_after: Date;
  complete_because: CompletionSignal;
  tags: string[];
  /** Names of the rules that acted, of the revision judged last. */
  acting_rules: string[];
  released_revision: number | null;
  chosen_rule: string | null;
  /** Of a person who wants it to wait; null: nobody does. */
  hold_reason: string | null;
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

/** Received later than this from now, in seconds: the clock was set back. */
const CLOCK_SKEW_SECONDS = 10;

/**
 * A clock that was set back leaves deadlines in a future that may be hours away: they keep their
 * distance to the last object instead.
 */
async function keepDistance(database: Queryable, now: Date): Promise<void> {
  await database.query(
    `UPDATE studies SET complete_after = complete_after - (last_received_at - $1::timestamptz),
       last_received_at = $1::timestamptz
     WHERE state IN ('receiving', 'complete')
       AND last_received_at > $1::timestamptz + make_interval(secs => $2)`,
    [now, CLOCK_SKEW_SECONDS],
  );
}

/**
 * Studies whose time has come, now `complete`, and those that a stop left in that state. One of which
 * nobody has said that all is here waits for what its machine was already sending when its time came
 * (receptions-under-way.ts): that may be of it.
 */
export async function claimCompleteStudies(database: Database, now: Date): Promise<StudyRow[]> {
  await keepDistance(database, now);
  await database.query(
    `UPDATE studies s SET state = 'complete'
     WHERE state = 'receiving' AND complete_after <= $1
       AND NOT (complete_because = ANY ($2::text[]) AND EXISTS (
         SELECT 1 FROM receptions_under_way r
         WHERE r.source = s.source AND r.calling_ae_title = s.calling_ae_title
           AND r.began_at <= s.complete_after AND r.silent_after > $1))`,
    [now, UNCERTAIN_SIGNALS],
  );
  const { rows } = await database.query<StudyRow>(
    `SELECT * FROM studies WHERE state = 'complete' AND complete_after <= $1
     ORDER BY complete_after`,
    [now],
  );
  return rows;
}

/** Ends the work on one revision; nothing happens when a newer object has reopened the study. */
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
 * Moves the deadline of a study that still receives; the quiet time never lengthens by it. A signal
 * that is certain takes the place of one that is a guess also when it is not the sooner.
 * @returns whether the signal counts.
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

/** Which rules act on a study, and their words; those of earlier revisions are gone. */
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

/** Puts off the next try of a complete study whose submission failed for now. */
export async function postpone(
  database: Queryable,
  study: Pick<StudyRow, 'id' | 'revision'>,
  until: Date,
  reason: string,
): Promise<void> {
  await database.query(
    `UPDATE studies SET complete_after = $3, reason = $4
     WHERE id = $1 AND revision = $2 AND state = 'complete'`,
    [study.id, study.revision, until, reason],
  );
}
