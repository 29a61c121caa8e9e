import { randomUUID } from 'node:crypto';
import type { DicomIdentity } from '../pipelines/artifacts/subject.ts';
import type { Database, Queryable } from '../src/database/port.ts';
import { isArrivingAsPrior, PRIOR_STUDY } from './archive/prior-arrival.ts';
import { type CompletionSignal, GUESSED } from './completion.ts';
import type { InstanceHeader } from './header.ts';
import { ownSeries } from './own-results.ts';

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

/**
 * Records an object that lies safely on the disk, in one transaction. Several associations may
 * bring the first objects of a study at once: the unique key decides which makes the row.
 */
export function addInstance(database: Database, received: ReceivedInstance): Promise<Arrival> {
  return database.transaction(async (tx) => {
    const study = await lockStudy(tx, received);
    const { rows: same } = await tx.query(
      `SELECT 1 FROM instances
       WHERE study_id = $1 AND sop_instance_uid = $2 AND data_set_sha256 = $3`,
      [study.id, received.header.sopInstanceUid, received.dataSetSha256],
    );
    const known = same.length > 0;
    const aside = study.state !== 'receiving' && (await opensNothing(tx, received));
    if (known && study.state !== 'receiving' && (aside || !received.rerunAlways)) {
      return { studyId: study.id, outcome: 'duplicate', revision: study.revision };
    }
    if (aside) return addAside(tx, study, received);
    const revision = study.state === 'receiving' ? study.revision : study.revision + 1;
    const conflict = known ? false : await insertInstance(tx, study, revision, received);
    await tx.query(
      `UPDATE studies SET state = 'receiving', reason = NULL, revision = $2,
         instance_count = instance_count + $5, last_received_at = $3, complete_after = $4,
         complete_because = 'quiet-time',
         tags = CASE WHEN state = $6 THEN array_remove(tags, $7) ELSE tags END
       WHERE id = $1`,
      [
        study.id,
        revision,
        received.receivedAt,
        received.completeAfter,
        known ? 0 : 1,
        PRIOR_STUDY.state,
        PRIOR_STUDY.tag,
      ],
    );
    if (known) return { studyId: study.id, outcome: 'duplicate', revision };
    return { studyId: study.id, outcome: conflict ? 'conflict' : 'new', revision };
  });
}

/** What we fetched to compare it, and a result of ours that a PACS sends back, is no news of a study. */
async function opensNothing(
  tx: Queryable,
  { header: { studyInstanceUid, seriesInstanceUid }, receivedAt }: ReceivedInstance,
): Promise<boolean> {
  if (await isArrivingAsPrior(tx, studyInstanceUid, receivedAt)) return true;
  return (await ownSeries(tx, studyInstanceUid)).has(seriesInstanceUid);
}

/**
 * Keeps an object without opening a revision: in a study that is there to be compared alone it lies
 * in its only revision, in any other it waits for the next one.
 */
async function addAside(
  tx: Queryable,
  study: LockedStudy,
  received: ReceivedInstance,
): Promise<Arrival> {
  const fetchedOnly = study.tags.includes(PRIOR_STUDY.tag);
  const revision = fetchedOnly ? study.revision : study.revision + 1;
  const conflict = await insertInstance(tx, study, revision, received);
  await tx.query(
    `UPDATE studies SET instance_count = instance_count + 1, last_received_at = $2 WHERE id = $1`,
    [study.id, received.receivedAt],
  );
  return { studyId: study.id, outcome: conflict ? 'conflict' : 'new', revision: study.revision };
}

type LockedStudy = Pick<StudyRow, 'id' | 'state' | 'revision' | 'instance_count' | 'tags'>;

async function lockStudy(tx: Queryable, received: ReceivedInstance): Promise<LockedStudy> {
  const { header, receivedAt } = received;
  const made = await tx.query(
    `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
       identity, first_received_at, last_received_at, complete_after)
     VALUES ($1, $2, $3, $4, $5, 'receiving', $6, $7, $7, $8)
     ON CONFLICT (study_instance_uid) DO NOTHING`,
    [
      randomUUID(),
      header.studyInstanceUid,
      received.source,
      received.callingAeTitle,
      received.calledAeTitle,
      JSON.stringify(header.identity),
      receivedAt,
      received.completeAfter,
    ],
  );
  if (made.rowCount === 1 && (await isArrivingAsPrior(tx, header.studyInstanceUid, receivedAt))) {
    const { state, tag, reason } = PRIOR_STUDY;
    await tx.query(
      'UPDATE studies SET state = $2, tags = $3, reason = $4 WHERE study_instance_uid = $1',
      [header.studyInstanceUid, state, [tag], reason],
    );
  }
  const { rows } = await tx.query<StudyRow>(
    `SELECT id, state, revision, instance_count, tags FROM studies
     WHERE study_instance_uid = $1 FOR UPDATE`,
    [header.studyInstanceUid],
  );
  const study = rows[0];
  if (!study) throw new Error('the study row vanished inside its transaction');
  return study;
}

/** @returns whether another object with the same SOP Instance UID was there. */
async function insertInstance(
  tx: Queryable,
  study: Pick<StudyRow, 'id' | 'instance_count'>,
  revision: number,
  received: ReceivedInstance,
): Promise<boolean> {
  const { rows } = await tx.query<{ conflict: boolean }>(
    `INSERT INTO instances (id, study_id, sop_instance_uid, ordinal, revision, path, bytes,
       file_sha256, data_set_sha256, transfer_syntax, header, received_at, conflict)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
       EXISTS (SELECT 1 FROM instances WHERE study_id = $2 AND sop_instance_uid = $3))
     RETURNING conflict`,
    [
      randomUUID(),
      study.id,
      received.header.sopInstanceUid,
      study.instance_count + 1,
      revision,
      received.path,
      received.bytes,
      received.fileSha256,
      received.dataSetSha256,
      received.transferSyntax,
      JSON.stringify(received.header),
      received.receivedAt,
    ],
  );
  return rows[0]?.conflict ?? false;
}

/** Studies whose time has come, now `complete`, and those that a stop left in that state. */
export async function claimCompleteStudies(database: Database, now: Date): Promise<StudyRow[]> {
  await database.query(
    `UPDATE studies SET state = 'complete' WHERE state = 'receiving' AND complete_after <= $1`,
    [now],
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
    [studyId, completeAfter, because, GUESSED, !GUESSED.includes(because)],
  );
  return rowCount === 1;
}

/** Words of the rules that acted on a study; those of earlier revisions are gone. */
export async function tagStudy(
  database: Queryable,
  { id }: Pick<StudyRow, 'id'>,
  tags: readonly string[],
): Promise<void> {
  await database.query('UPDATE studies SET tags = $2 WHERE id = $1', [id, tags]);
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
