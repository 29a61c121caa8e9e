import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { newUuid } from '../../platform/ids.ts';
import { createAuditWriter } from '../audit/audit.ts';
import { renewIdentity } from '../patients/corrections.ts';
import {
  holdText,
  mismatchWithinStudy,
  namesAnotherPatient,
  type PatientMismatch,
  studyIdentity,
} from './patient.ts';
import { arrivingAsPriors, PRIOR_STUDY } from './priors.ts';
import { type Arrival, ownSeries, type ReceivedInstance, type StudyRow } from './study-store.ts';

/**
 * The rows of received objects. New objects of studies that are still arriving are recorded
 * together in a few statements, however many objects and associations there are. In all other cases
 * (a revision opens, an object replaces another, another patient is stated), a study is recorded
 * object by object in the same transaction.
 */

/**
 * Thrown if objects with the same SOP Instance UID must be compared, but the digest of a content is
 * missing. The transaction must be repeated once the digests are known.
 */
export class DigestsMissingError extends Error {
  override name = 'DigestsMissingError';
  readonly received: ReadonlySet<ReceivedInstance>;
  readonly stored: readonly Copy[];

  constructor(received: ReadonlySet<ReceivedInstance>, stored: readonly Copy[]) {
    super('objects with the same SOP Instance UID lack the digests of their contents');
    this.received = received;
    this.stored = stored;
  }
}

/**
 * Records objects in order of arrival.
 * @returns the outcomes, in the same order.
 * @throws DigestsMissingError
 */
export async function recordArrivals(
  tx: Queryable,
  received: readonly ReceivedInstance[],
): Promise<Arrival[]> {
  const byStudy = Map.groupBy(received, ({ header }) => header.studyInstanceUid);
  // Every process locks studies in the same order, so that no two processes can deadlock.
  const uids = [...byStudy.keys()].sort();
  await insertStudies(
    tx,
    uids.flatMap((uid) => byStudy.get(uid)?.[0] ?? []),
  );
  const studies = await lockStudies(tx, uids);
  const known = await knownCopies(tx, studies, received);
  requireDigests(studies, known, received);
  const arrivals = new Map<ReceivedInstance, Arrival>();
  const additions: Addition[] = [];
  for (const uid of uids) {
    const objects = byStudy.get(uid) ?? [];
    const study = studies.get(uid);
    if (!study) throw new Error('the row of the study disappeared within its transaction');
    const addition = addedTogether(study, objects, known);
    if (addition) additions.push(addition);
    else for (const object of objects) arrivals.set(object, await recordAlone(tx, object));
  }
  await insertTogether(tx, additions);
  for (const { arrived } of additions)
    for (const [object, arrival] of arrived) arrivals.set(object, arrival);
  return received.map((object) => {
    const arrival = arrivals.get(object);
    if (!arrival) throw new Error('an object was not recorded');
    return arrival;
  });
}

/** Creates the rows of new studies, each from its first object. */
async function insertStudies(tx: Queryable, firsts: readonly ReceivedInstance[]): Promise<void> {
  const { rows: made } = await tx.query<{ uid: string }>(
    `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
       identity, first_received_at, last_received_at, complete_after)
     SELECT id, uid, source, calling, called, 'receiving', identity, received_at, received_at,
       complete_after
     FROM jsonb_to_recordset($1::jsonb) AS n (id uuid, uid text, source text, calling text,
       called text, identity jsonb, received_at timestamptz, complete_after timestamptz)
     ON CONFLICT (study_instance_uid) DO NOTHING RETURNING study_instance_uid AS uid`,
    [
      JSON.stringify(
        firsts.map(
          ({ header, source, callingAeTitle, calledAeTitle, receivedAt, completeAfter }) => ({
            id: newUuid(),
            uid: header.studyInstanceUid,
            source,
            calling: callingAeTitle,
            called: calledAeTitle,
            identity: header.identity,
            received_at: receivedAt,
            complete_after: completeAfter,
          }),
        ),
      ),
    ],
  );
  const uids = made.map(({ uid }) => uid);
  const [at = new Date()] = firsts.map(({ receivedAt }) => receivedAt);
  const priors = uids.length > 0 ? await arrivingAsPriors(tx, uids, at) : [];
  const { state, tag, reason } = PRIOR_STUDY;
  for (const uid of priors) {
    await tx.query(
      'UPDATE studies SET state = $2, tags = $3, reason = $4 WHERE study_instance_uid = $1',
      [uid, state, [tag], reason],
    );
  }
}

async function lockStudies(
  tx: Queryable,
  uids: readonly string[],
): Promise<Map<string, LockedStudy>> {
  const { rows } = await tx.query<LockedStudy>(
    `SELECT ${LOCKED_COLUMNS} FROM studies WHERE study_instance_uid = ANY ($1::text[])
     ORDER BY study_instance_uid FOR UPDATE`,
    [uids],
  );
  return new Map(rows.map((study) => [study.study_instance_uid, study]));
}

/** A row with the SOP Instance UID of a received object. */
export interface Copy {
  id: string;
  path: string;
  fileSha256: string;
  contentSha256: string | null;
}

/** The existing rows by study and SOP Instance UID (`copyKey`). */
type KnownCopies = Map<string, Copy[]>;

const copyKey = (studyId: string, sopInstanceUid: string) => `${studyId} ${sopInstanceUid}`;

async function knownCopies(
  tx: Queryable,
  studies: ReadonlyMap<string, LockedStudy>,
  received: readonly ReceivedInstance[],
): Promise<KnownCopies> {
  const { rows } = await tx.query<Copy & { study: string; uid: string }>(
    `SELECT id, study_id AS study, sop_instance_uid AS uid, path, file_sha256 AS "fileSha256",
       content_sha256 AS "contentSha256"
     FROM instances WHERE study_id = ANY ($1::uuid[]) AND sop_instance_uid = ANY ($2::text[])`,
    [
      [...studies.values()].map(({ id }) => id),
      received.map(({ header }) => header.sopInstanceUid),
    ],
  );
  return Map.groupBy(rows, ({ study, uid }) => copyKey(study, uid));
}

/** @throws DigestsMissingError if an object without a digest must be compared with another. */
function requireDigests(
  studies: ReadonlyMap<string, LockedStudy>,
  known: KnownCopies,
  received: readonly ReceivedInstance[],
): void {
  const lacking = new Set<ReceivedInstance>();
  const stored: Copy[] = [];
  const keyOf = ({ header }: ReceivedInstance) =>
    copyKey(studies.get(header.studyInstanceUid)?.id ?? '', header.sopInstanceUid);
  for (const [key, objects] of Map.groupBy(received, keyOf)) {
    const copies = known.get(key) ?? [];
    const others = objects.filter(({ path }) => copies.every((copy) => copy.path !== path));
    if (others.length === 0 || copies.length + others.length === 1) continue;
    for (const object of others) if (object.contentSha256 === null) lacking.add(object);
    stored.push(...copies.filter(({ contentSha256 }) => contentSha256 === null));
  }
  if (lacking.size > 0 || stored.length > 0) throw new DigestsMissingError(lacking, stored);
}

/** New rows of a study that is still arriving. */
interface Addition {
  study: LockedStudy;
  rows: ReceivedInstance[];
  /** The last object of the study, including duplicates. The quiet time starts when it arrives. */
  last: ReceivedInstance;
  arrived: [ReceivedInstance, Arrival][];
}

/**
 * Returns the rows of objects that can be recorded together; null unless every object merely adds
 * to a study that is still arriving.
 */
function addedTogether(
  study: LockedStudy,
  objects: readonly ReceivedInstance[],
  known: KnownCopies,
): Addition | null {
  const [last] = objects.slice(-1);
  if (!last || study.state !== 'receiving' || study.patient_mismatch !== null) return null;
  const addition: Addition = { study, rows: [], last, arrived: [] };
  const seen = new Map<string, Pick<Copy, 'path' | 'contentSha256'>[]>();
  for (const object of objects) {
    const { sopInstanceUid, identity } = object.header;
    if (namesAnotherPatient(study.identity, identity)) return null;
    const key = copyKey(study.id, sopInstanceUid);
    const copies = [...(known.get(key) ?? []), ...(seen.get(key) ?? [])];
    const copy =
      copies.find(({ path }) => path === object.path) ??
      copies.find(({ contentSha256 }) => contentSha256 === object.contentSha256);
    if (copy === undefined && copies.length > 0) return null;
    const isNew = copy === undefined || copy.path === object.path;
    if (copy === undefined) {
      addition.rows.push(object);
      seen.set(key, [object]);
    }
    const outcome = isNew ? 'new' : 'duplicate';
    addition.arrived.push([object, { studyId: study.id, outcome, revision: study.revision }]);
  }
  return addition;
}

async function insertTogether(tx: Queryable, additions: readonly Addition[]): Promise<void> {
  if (additions.length === 0) return;
  const objects = additions.flatMap(({ study, rows }) =>
    rows.map((received, index) => ({
      id: newUuid(),
      study: study.id,
      uid: received.header.sopInstanceUid,
      ordinal: study.instance_count + 1 + index,
      revision: study.revision,
      path: received.path,
      bytes: received.bytes,
      file_sha256: received.fileSha256,
      data_set_sha256: received.dataSetSha256,
      content_sha256: received.contentSha256,
      transfer_syntax: received.transferSyntax,
      header: received.header,
      received_at: received.receivedAt,
    })),
  );
  await tx.query(
    `INSERT INTO instances (id, study_id, sop_instance_uid, ordinal, revision, path, bytes,
       file_sha256, data_set_sha256, content_sha256, transfer_syntax, header, received_at, conflict)
     SELECT id, study, uid, ordinal, revision, path, bytes, file_sha256, data_set_sha256,
       content_sha256, transfer_syntax, header, received_at, false
     FROM jsonb_to_recordset($1::jsonb) AS n (id uuid, study uuid, uid text, ordinal integer,
       revision integer, path text, bytes bigint, file_sha256 text, data_set_sha256 text,
       content_sha256 text, transfer_syntax text, header jsonb, received_at timestamptz)`,
    [JSON.stringify(objects)],
  );
  await tx.query(
    `UPDATE studies s SET instance_count = instance_count + n.added, reason = NULLIF(hold_reason, ''),
       last_received_at = n.received_at, complete_after = n.complete_after,
       complete_because = 'quiet-time'
     FROM jsonb_to_recordset($1::jsonb)
       AS n (id uuid, added integer, received_at timestamptz, complete_after timestamptz)
     WHERE s.id = n.id`,
    [
      JSON.stringify(
        additions.map(({ study, rows, last }) => ({
          id: study.id,
          added: rows.length,
          received_at: last.receivedAt,
          complete_after: last.completeAfter,
        })),
      ),
    ],
  );
}

async function recordAlone(tx: Queryable, received: ReceivedInstance): Promise<Arrival> {
  const study = await lockedStudy(tx, received.header.studyInstanceUid);
  const { rows: same } = await tx.query<{ path: string; revision: number }>(
    `SELECT path, revision FROM instances
     WHERE study_id = $1 AND sop_instance_uid = $2 AND (content_sha256 = $3 OR path = $4)
     ORDER BY path = $4 DESC`,
    [study.id, received.header.sopInstanceUid, received.contentSha256, received.path],
  );
  const known = same.length > 0;
  // This file already has a row: an earlier attempt committed it without learning the outcome, or
  // another process registered the file at startup.
  if (same[0]?.path === received.path) {
    return { studyId: study.id, outcome: 'new', revision: same[0].revision };
  }
  const aside = study.state !== 'receiving' && (await opensNothing(tx, received));
  if (known && study.state !== 'receiving' && (aside || !received.rerunAlways)) {
    return { studyId: study.id, outcome: 'duplicate', revision: study.revision };
  }
  if (aside) return addAside(tx, study, received);
  const revision = study.state === 'receiving' ? study.revision : study.revision + 1;
  const conflict = known ? false : await insertInstance(tx, study, revision, received);
  const renewed = conflict || study.state !== 'receiving';
  const { identity, mismatch } = await patientOfStudy(tx, study, received, renewed);
  await tx.query(
    `UPDATE studies SET state = 'receiving', reason = $9, patient_mismatch = $10, identity = $8::jsonb,
       received_identity = CASE WHEN received_identity IS NULL THEN NULL ELSE $8::jsonb END,
       revision = $2, instance_count = instance_count + $5, last_received_at = $3,
       complete_after = $4, complete_because = 'quiet-time',
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
      JSON.stringify(identity),
      holdText(study.hold_reason, mismatch),
      mismatch,
    ],
  );
  if (study.is_corrected) await renewIdentity(tx, study.id);
  if (namesAnotherPatient(study.identity, identity))
    await auditPatient(tx, study, received, revision);
  if (known) return { studyId: study.id, outcome: 'duplicate', revision };
  return { studyId: study.id, outcome: conflict ? 'conflict' : 'new', revision };
}

/**
 * Determines the patient of a study after an object has arrived, and whether a person has to check
 * it. Objects are sent again with a corrected patient, and sometimes objects of two patients are
 * sent as one study by mistake.
 * @param renewed true if a revision opens or an object replaces another.
 */
async function patientOfStudy(
  tx: Queryable,
  { id, identity, patient_mismatch: mismatch }: LockedStudy,
  { header }: ReceivedInstance,
  renewed: boolean,
): Promise<{ identity: DicomIdentity; mismatch: PatientMismatch | null }> {
  // Most objects state the same patient as those before them, so nothing changes.
  if (!renewed && mismatch === null && !namesAnotherPatient(identity, header.identity)) {
    return { identity, mismatch };
  }
  const ours = await ownSeries(tx, header.studyInstanceUid);
  const { rows } = await tx.query<{ identity: DicomIdentity }>(
    `SELECT header -> 'identity' AS identity FROM (
       SELECT DISTINCT ON (sop_instance_uid) ordinal, header FROM instances WHERE study_id = $1
       ORDER BY sop_instance_uid, ordinal DESC
     ) AS newest WHERE header ->> 'seriesInstanceUid' <> ALL ($2::text[]) ORDER BY ordinal`,
    [id, [...ours]],
  );
  const identities = rows.map((row) => row.identity);
  return {
    identity: studyIdentity(identities) ?? identity,
    mismatch: mismatchWithinStudy(identities),
  };
}

/**
 * Records in the audit trail that the patient of a study changed. The entry contains no identity.
 */
async function auditPatient(
  tx: Queryable,
  { id }: LockedStudy,
  { callingAeTitle, source, receivedAt }: ReceivedInstance,
  revision: number,
): Promise<void> {
  await createAuditWriter(tx)({
    at: receivedAt,
    action: 'study.patient',
    actor: `ae:${callingAeTitle}`,
    studyId: id,
    outcome: 'success',
    detail: { source, revision },
  });
}

/**
 * Returns true if an object opens no revision, because it is a prior that we retrieved or one of
 * our results returned by a PACS.
 */
async function opensNothing(
  tx: Queryable,
  { header: { studyInstanceUid, seriesInstanceUid }, receivedAt }: ReceivedInstance,
): Promise<boolean> {
  const priors = await arrivingAsPriors(tx, [studyInstanceUid], receivedAt);
  if (priors.size > 0) return true;
  return (await ownSeries(tx, studyInstanceUid)).has(seriesInstanceUid);
}

/**
 * Stores an object without opening a revision. In a study received only as a prior, the object
 * joins its only revision; in any other study it becomes part of the next revision.
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

type LockedStudy = Pick<
  StudyRow,
  | 'id'
  | 'study_instance_uid'
  | 'state'
  | 'revision'
  | 'instance_count'
  | 'tags'
  | 'identity'
  | 'hold_reason'
  | 'patient_mismatch'
> & { is_corrected: boolean };

/** `identity` is the identity in the images, without corrections. */
const LOCKED_COLUMNS = `id, study_instance_uid, state, revision, instance_count, tags,
  coalesce(received_identity, identity) AS identity, received_identity IS NOT NULL AS is_corrected,
  hold_reason, patient_mismatch`;

async function lockedStudy(tx: Queryable, studyInstanceUid: string): Promise<LockedStudy> {
  const { rows } = await tx.query<LockedStudy>(
    `SELECT ${LOCKED_COLUMNS} FROM studies WHERE study_instance_uid = $1 FOR UPDATE`,
    [studyInstanceUid],
  );
  const study = rows[0];
  if (!study) throw new Error('the row of the study disappeared within its transaction');
  return study;
}

/**
 * Inserts the row of an object.
 * @returns true if another object with this SOP Instance UID was already stored.
 */
async function insertInstance(
  tx: Queryable,
  study: Pick<StudyRow, 'id' | 'instance_count'>,
  revision: number,
  received: ReceivedInstance,
): Promise<boolean> {
  const { rows } = await tx.query<{ conflict: boolean }>(
    `INSERT INTO instances (id, study_id, sop_instance_uid, ordinal, revision, path, bytes,
       file_sha256, data_set_sha256, content_sha256, transfer_syntax, header, received_at, conflict)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
       EXISTS (SELECT 1 FROM instances WHERE study_id = $2 AND sop_instance_uid = $3))
     RETURNING conflict`,
    [
      newUuid(),
      study.id,
      received.header.sopInstanceUid,
      study.instance_count + 1,
      revision,
      received.path,
      received.bytes,
      received.fileSha256,
      received.dataSetSha256,
      received.contentSha256,
      received.transferSyntax,
      JSON.stringify(received.header),
      received.receivedAt,
    ],
  );
  return rows[0]?.conflict ?? false;
}
