import type { RoutingRule } from '../../../config/routing.ts';
import { resultSeriesUids } from '../../../pipelines/artifacts/modules.ts';
import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import type { ErrorCode } from '../../platform/errors/catalogue.ts';
import { secondsAfter } from '../../platform/time.ts';
import type { ReceivedObject } from '../files/received-objects.ts';
import type { RequestStatus } from '../requests/request.ts';
import type { CompletionSignal } from './completion.ts';
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
 *
 * `rerun` makes a study in any state except `receiving`, `complete` and `held` complete again, with
 * revision + 1.
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

/** SHA-256 of a received file, and of its data set alone. */
export interface Digests {
  fileSha256: string;
  /**
   * Null if it has not been computed. It is needed only with a bucket, which keeps no second copy of
   * an object that is sent again.
   */
  dataSetSha256: string | null;
}

export interface ReceivedInstance extends Digests {
  /** Relative to the data folder. */
  path: string;
  bytes: number;
  transferSyntax: string;
  header: InstanceHeader;
  /**
   * Digest of the content (content-digest.ts); null if it has not been computed. It is needed only
   * to compare objects with the same SOP Instance UID.
   */
  contentSha256: string | null;
  source: string;
  callingAeTitle: string;
  calledAeTitle: string;
  receivedAt: Date;
  /** When the study counts as complete if no more objects arrive. */
  completeAfter: Date;
  /** True if even an object that is sent again opens a new revision. */
  rerunAlways: boolean;
}

export interface Arrival {
  studyId: string;
  /**
   * `duplicate` means that the same object was already stored, perhaps in another encoding;
   * `conflict`, that a different one with this SOP Instance UID was. Both are then kept.
   */
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
  /** The identity as corrected by messages about the patient. */
  identity: DicomIdentity;
  /** The identity in the images; null if there are no corrections. */
  received_identity: DicomIdentity | null;
  first_received_at: Date;
  last_received_at: Date;
  /** While the study is receiving objects: when it counts as complete if no more arrive. */
  complete_after: Date;
  /** The signal that determined `complete_after`. */
  complete_because: CompletionSignal;
  /** While the study is complete: when it is due for the next attempt. */
  next_attempt_at: Date | null;
  tags: string[];
  /** Names of the rules that acted on the last revision that was routed. */
  acting_rules: string[];
  released_revision: number | null;
  chosen_rule: string | null;
  /**
   * Why the study waits to be released, such as a reason entered by a person; null if there is no
   * such reason.
   */
  hold_reason: string | null;
  /** The patient attribute on which the objects disagree; null if they agree. */
  patient_mismatch: PatientMismatch | null;
  reason: string | null;
}

/** SQL: the columns of a StudyRow. */
const STUDY_COLUMNS = `id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
  revision, instance_count, identity, received_identity, first_received_at, last_received_at,
  complete_after, complete_because, next_attempt_at, tags, acting_rules, released_revision,
  chosen_rule, hold_reason, patient_mismatch, reason`;

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
 * Seconds for which a claimed study belongs to the process that claimed it. After that, for example
 * after a crash, another process may claim it.
 */
const LEASE_SECONDS = 30;

/**
 * Claims complete studies that are due for an attempt, for this process alone, and deletes the
 * lists of objects that were expected for them. If objects arrive later, carts send new lists or the
 * quiet time applies.
 * @param limit the maximum number of studies; those due longest come first.
 */
export async function claimCompleteStudies(
  database: Database,
  now: Date,
  limit: number,
): Promise<StudyRow[]> {
  const { rows } = await database.query<StudyRow>(
    `WITH claimed AS (
       UPDATE studies SET next_attempt_at = $2 WHERE id IN (
         SELECT id FROM studies WHERE state = 'complete' AND next_attempt_at <= $1
         ORDER BY next_attempt_at LIMIT $3 FOR UPDATE SKIP LOCKED)
       RETURNING ${STUDY_COLUMNS}
     ), forgotten AS (
       DELETE FROM study_expectations USING claimed
       WHERE study_expectations.study_instance_uid = claimed.study_instance_uid
     )
     SELECT * FROM claimed`,
    [now, secondsAfter(now, LEASE_SECONDS), limit],
    'claim-studies',
  );
  return rows;
}

/** Finishes a revision. Does nothing if a newer object has reopened the study. */
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
    'end-revision',
  );
}

/**
 * Holds a study until a person releases it. If it is already held, the reason is added to the
 * existing one.
 */
export async function addHoldReason(
  database: Queryable,
  { id }: Pick<StudyRow, 'id'>,
  reason: string,
): Promise<void> {
  await database.query(
    `UPDATE studies SET hold_reason = concat_ws(' ', hold_reason, $2::text)
     WHERE id = $1 AND position($2 IN coalesce(hold_reason, '')) = 0`,
    [id, reason],
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
 * Records the rules that begin to act on a claimed revision, and their tags, which replace those of
 * earlier revisions. From then on, the revision can no longer be held.
 * @returns false if the rules must not act: since the claim, a person has held the study, or a newer
 * object has reopened it.
 */
export async function beginActing(
  database: Queryable,
  { id, revision, hold_reason: holdReason }: Pick<StudyRow, 'id' | 'revision' | 'hold_reason'>,
  acting: readonly Pick<RoutingRule, 'name' | 'tags'>[],
): Promise<boolean> {
  const tags = new Set(acting.flatMap((rule) => rule.tags));
  const { rowCount } = await database.query(
    `UPDATE studies SET acting_revision = revision, acting_rules = $4, tags = $5
     WHERE id = $1 AND revision = $2 AND state = 'complete' AND hold_reason IS NOT DISTINCT FROM $3`,
    [id, revision, holdReason, acting.map(({ name }) => name), [...tags]],
    'begin-acting',
  );
  return rowCount === 1;
}

/**
 * Reschedules a claimed study that cannot be submitted yet. If the due time was changed after the
 * claim, the changed time is kept. For example, a search that ended has made the study due at once,
 * and will not do so a second time.
 */
export async function reschedule(
  database: Queryable,
  claimed: Pick<StudyRow, 'id' | 'revision' | 'next_attempt_at'>,
  until: Date,
  reason: string | null,
): Promise<void> {
  await database.query(
    `UPDATE studies SET next_attempt_at = $3, reason = $4
     WHERE id = $1 AND revision = $2 AND state = 'complete' AND next_attempt_at = $5`,
    [claimed.id, claimed.revision, until, reason, claimed.next_attempt_at],
  );
}

export interface StudyRequestRow {
  revision: number;
  rule: string;
  request_id: string;
  submitted_at: Date;
  /** Null if the request no longer exists. */
  status: RequestStatus | null;
  /** Why the request failed or was rejected, without the detail, which may quote a header. */
  code: ErrorCode | null;
  /** True if a person has withdrawn the result. */
  withdrawn: boolean;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Finds a study.
 * @param key our id or the Study Instance UID.
 */
export async function findStudy(database: Queryable, key: string): Promise<StudyRow | null> {
  const { rows } = await database.query<StudyRow>(
    UUID.test(key)
      ? 'SELECT * FROM studies WHERE id = $1'
      : 'SELECT * FROM studies WHERE study_instance_uid = $1',
    [key],
  );
  return rows[0] ?? null;
}

/** Returns the most recent studies, newest first. */
export async function lastStudies(database: Queryable, limit: number): Promise<StudyRow[]> {
  const { rows } = await database.query<StudyRow>(
    'SELECT * FROM studies ORDER BY first_received_at DESC LIMIT $1',
    [limit],
  );
  return rows;
}

/** A study in a list. Contains nothing that identifies the patient. */
export interface StudySummary {
  id: string;
  studyInstanceUid: string;
  source: string;
  state: StudyState;
  /** Why the study is in this state; null if the state needs no reason. */
  reason: string | null;
  objects: number;
  revision: number;
  rules: string[];
  firstReceivedAt: Date;
}

/** Lists studies by arrival, newest first; a `state` of null lists all states. */
export async function listStudies(
  database: Queryable,
  { state, limit }: { state: StudyState | null; limit: number },
): Promise<StudySummary[]> {
  const { rows } = await database.query<StudySummary>(
    `SELECT id, study_instance_uid AS "studyInstanceUid", source, state, reason,
       instance_count AS objects, revision, acting_rules AS rules,
       first_received_at AS "firstReceivedAt"
     FROM studies WHERE $1::text IS NULL OR state = $1 ORDER BY first_received_at DESC LIMIT $2`,
    [state, limit],
  );
  return rows;
}

/**
 * Returns the objects of a revision in order of arrival; of conflicting copies, only the newest.
 */
export async function instancesOf(
  database: Queryable,
  { id, revision }: Pick<StudyRow, 'id' | 'revision'>,
): Promise<InstanceRow[]> {
  const { rows } = await database.query<InstanceRow>(
    `SELECT * FROM (
       SELECT DISTINCT ON (sop_instance_uid) id, sop_instance_uid, ordinal, revision, path,
         bytes::float8 AS bytes, file_sha256, conflict, transfer_syntax, header
       FROM instances WHERE study_id = $1 AND revision <= $2
       ORDER BY sop_instance_uid, ordinal DESC
     ) AS newest ORDER BY ordinal`,
    [id, revision],
    'study-instances',
  );
  return rows;
}

export async function requestsOf(database: Queryable, studyId: string): Promise<StudyRequestRow[]> {
  const { rows } = await database.query<StudyRequestRow>(
    `SELECT s.revision, s.rule, s.request_id, s.submitted_at, r.status, r.fault ->> 'code' AS code,
       coalesce(r.withdrawal IS NOT NULL, false) AS withdrawn
     FROM study_requests s LEFT JOIN requests r ON r.id = s.request_id
     WHERE s.study_id = $1 ORDER BY s.revision`,
    [studyId],
  );
  return rows;
}

/** Returns where a received object is stored; null if it has been removed. */
export async function keptObject(database: Queryable, id: string): Promise<ReceivedObject | null> {
  const { rows } = await database.query<ReceivedObject>(
    'SELECT path, file_sha256 AS "fileSha256" FROM instances WHERE id = $1',
    [id],
  );
  return rows[0] ?? null;
}

/**
 * Returns the identity stated in the images of an object's study, without corrections made by
 * messages; null if the object has no row.
 */
export async function receivedIdentityOfObject(
  database: Queryable,
  id: string,
): Promise<DicomIdentity | null> {
  const { rows } = await database.query<{ identity: DicomIdentity }>(
    `SELECT coalesce(s.received_identity, s.identity) AS identity
     FROM instances i JOIN studies s ON s.id = i.study_id WHERE i.id = $1`,
    [id],
  );
  return rows[0]?.identity ?? null;
}

/** Returns true if there is a row for exactly this object. */
export async function isKnown(
  database: Queryable,
  { studyInstanceUid, sopInstanceUid }: InstanceHeader,
  dataSetSha256: string,
): Promise<boolean> {
  const { rows } = await database.query(
    `SELECT 1 FROM instances i JOIN studies s ON s.id = i.study_id
     WHERE s.study_instance_uid = $1 AND i.sop_instance_uid = $2 AND i.data_set_sha256 = $3`,
    [studyInstanceUid, sopInstanceUid, dataSetSha256],
  );
  return rows.length > 0;
}

/** Returns those of the given paths that have a row. */
export async function knownPaths(
  database: Queryable,
  paths: readonly string[],
): Promise<Set<string>> {
  const { rows } = await database.query<{ path: string }>(
    'SELECT path FROM instances WHERE path = ANY($1)',
    [paths],
  );
  return new Set(rows.map((row) => row.path));
}

/** Returns the file name of an object in a request and in its results. */
export function fileName({ ordinal }: Pick<InstanceRow, 'ordinal'>): string {
  return `object-${String(ordinal).padStart(4, '0')}.dcm`;
}

/**
 * Returns the study and revision of a request; null if the request was not made from a DICOM study.
 * They are part of the request itself, so they are known even if the process ended before recording
 * the submission.
 */
export async function studyOfRequest(
  database: Queryable,
  requestId: string,
): Promise<{ study: string; revision: number } | null> {
  const { rows } = await database.query<{ study: string; revision: number }>(
    `SELECT study_id AS study, revision FROM study_requests WHERE request_id = $1
     UNION ALL
     SELECT (source ->> 'study')::uuid, (source ->> 'revision')::integer FROM requests
     WHERE id = $1 AND source ->> 'kind' = 'dicom'
     LIMIT 1`,
    [requestId],
  );
  return rows[0] ?? null;
}

/**
 * Returns the study and the revision in which each object arrived: study by study, in the order of
 * arrival.
 */
export async function arrivalsOf(
  database: Queryable,
  ids: readonly string[],
): Promise<{ instance: string; study: string; revision: number }[]> {
  const { rows } = await database.query<{ instance: string; study: string; revision: number }>(
    `SELECT id AS instance, study_id AS study, revision FROM instances
     WHERE id = ANY ($1::uuid[]) ORDER BY study_id, ordinal`,
    [ids],
  );
  return rows;
}

/** Returns the SOP Instance UIDs of those objects of a study that have been received. */
export async function receivedUids(
  database: Queryable,
  studyInstanceUid: string,
): Promise<Set<string>> {
  const { rows } = await database.query<{ uid: string }>(
    `SELECT DISTINCT i.sop_instance_uid AS uid FROM instances i JOIN studies s ON s.id = i.study_id
     WHERE s.study_instance_uid = $1`,
    [studyInstanceUid],
  );
  return new Set(rows.map(({ uid }) => uid));
}

/** Returns the newest object of a study under each of these SOP Instance UIDs. */
export async function newestObjects(
  database: Queryable,
  studyInstanceUid: string,
  uids: readonly string[],
): Promise<Pick<InstanceRow, 'id' | 'header'>[]> {
  const { rows } = await database.query<Pick<InstanceRow, 'id' | 'header'>>(
    `SELECT DISTINCT ON (i.sop_instance_uid) i.id, i.header
     FROM instances i JOIN studies s ON s.id = i.study_id
     WHERE s.study_instance_uid = $1 AND i.sop_instance_uid = ANY ($2::text[])
     ORDER BY i.sop_instance_uid, i.ordinal DESC`,
    [studyInstanceUid, uids],
  );
  return rows;
}

/**
 * Returns every object received under one of these SOP Instance UIDs, in any study. Different
 * objects may have been received under one UID.
 */
export async function objectsUnder(
  database: Queryable,
  uids: readonly string[],
): Promise<(ReceivedObject & { sopInstanceUid: string; sopClassUid: string })[]> {
  const { rows } = await database.query<
    ReceivedObject & { sopInstanceUid: string; sopClassUid: string }
  >(
    `SELECT sop_instance_uid AS "sopInstanceUid", header ->> 'sopClassUid' AS "sopClassUid", path,
       file_sha256 AS "fileSha256" FROM instances WHERE sop_instance_uid = ANY ($1::text[])`,
    [uids],
  );
  return rows;
}

/** Returns the study of a received object; null if the object has been removed. */
export async function studyOfInstance(database: Queryable, id: string): Promise<string | null> {
  const { rows } = await database.query<{ study: string }>(
    'SELECT study_id::text AS study FROM instances WHERE id = $1',
    [id],
  );
  return rows[0]?.study ?? null;
}

/**
 * Returns the Series Instance UIDs of our results for all requests of a study. A PACS that forwards
 * objects sends these series back to us, and lists them as its own.
 */
export async function ownSeries(
  database: Queryable,
  studyInstanceUid: string,
): Promise<Set<string>> {
  const { rows } = await database.query<{ request_id: string }>(
    `SELECT r.request_id FROM study_requests r JOIN studies s ON s.id = r.study_id
     WHERE s.study_instance_uid = $1`,
    [studyInstanceUid],
    'own-series',
  );
  return new Set(rows.flatMap(({ request_id }) => resultSeriesUids(request_id)));
}
