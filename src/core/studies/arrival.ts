import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Source } from '../../../config/schema.ts';
import { type FileMeta, readFileMeta } from '../../../pipelines/dicom/part10.ts';
import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { EVENTS } from '../../platform/logging/events.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { createAuditWriter } from '../audit/audit.ts';
import type { ReceivedObjects } from '../files/received-objects.ts';
import { quietDeadline, rerunPolicy } from './completion.ts';
import { attributeText, type InstanceHeader, readInstanceHeader } from './instance-header.ts';
import { dayFolders, PARTIAL_SUFFIX, quarantine, unregisteredObjects } from './intake-folder.ts';
import {
  holdText,
  mismatchWithinStudy,
  namesAnotherPatient,
  type PatientMismatch,
  studyIdentity,
} from './patient.ts';
import { isArrivingAsPrior, PRIOR_STUDY } from './priors.ts';
import { isKnown, ownSeries } from './study-queries.ts';
import type { Arrival, ReceivedInstance, StudyRow } from './study-store.ts';

/** An object that is complete and synced on the disk. */
export interface StoredObject {
  /** Path relative to the data folder. */
  path: string;
  meta: FileMeta;
  bytes: number;
  fileSha256: string;
  dataSetSha256: string;
  source: string;
  /** The study that the sender stated for the object, if it did. */
  statedStudy?: string | undefined;
}

export interface RegistrationOptions {
  dataDir: string;
  database: Database;
  objects: ReceivedObjects;
  sources: readonly Source[];
  logger: Logger;
  now: () => Date;
}

/** SQLSTATE classes for values that a row cannot have: data exceptions, and limits of an index. */
const OF_ITS_VALUES = /^(22|54)\w{3}$/;

/**
 * Writes the row of a stored object, once the object is safe for the whole site; afterwards it may
 * be acknowledged. An unusable object is moved to the quarantine folder, a duplicate is deleted.
 * @throws SonogateError `object_not_understood` (C000H), `object_mismatch` (A900H),
 * `storage_unreachable` (A700H); RowMayExistError when the row is or may be committed.
 */
export async function registerObject(
  object: StoredObject,
  options: RegistrationOptions,
): Promise<Arrival> {
  const { dataDir, database, objects, sources, logger, now } = options;
  const { path, meta } = object;
  const header = await usableHeader(object, options);
  // An object that is sent again was made safe when it first arrived.
  const known = objects.shared && (await isKnown(database, header, object.dataSetSha256));
  if (!known) await objects.keep(object);
  const receivedAt = now();
  const arrival = await added(object, options, {
    path,
    bytes: object.bytes,
    fileSha256: object.fileSha256,
    dataSetSha256: object.dataSetSha256,
    transferSyntax: meta.transferSyntax,
    header,
    source: object.source,
    callingAeTitle: attributeText(meta.sourceAeTitle),
    calledAeTitle: attributeText(meta.receivingAeTitle),
    receivedAt,
    completeAfter: quietDeadline(sources, object.source, receivedAt),
    rerunAlways: rerunPolicy(sources, object.source) === 'always',
  });
  try {
    if (arrival.outcome === 'duplicate') await rm(join(dataDir, path));
    // The retention removed it between the two checks.
    else if (known) await objects.keep(object);
  } catch (error) {
    throw new RowMayExistError('the file of an object with a committed row could not be handled', {
      cause: error,
    });
  }
  if (arrival.outcome === 'conflict') {
    logger.event(EVENTS.objectConflict, { study: arrival.studyId, path });
  }
  return arrival;
}

/**
 * Writes the row of an object; if its own values make that impossible, it goes to the quarantine.
 */
async function added(
  { path }: StoredObject,
  options: RegistrationOptions,
  received: ReceivedInstance,
): Promise<Arrival> {
  try {
    return await addInstance(options.database, received);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!OF_ITS_VALUES.test(code)) throw error;
    const cause = new SonogateError('object_not_understood', undefined, { cause: error });
    return await putAside(path, cause, options);
  }
}

/** Attributes of the header that must equal those that the sender stated. */
const IDENTIFYING = ['sopClassUid', 'sopInstanceUid', 'studyInstanceUid'] as const;

async function usableHeader(
  { path, meta, statedStudy }: StoredObject,
  options: RegistrationOptions,
): Promise<InstanceHeader> {
  try {
    const header = await readInstanceHeader(join(options.dataDir, path));
    const stated = { ...header, ...meta, ...(statedStudy && { studyInstanceUid: statedStudy }) };
    if (IDENTIFYING.every((uid) => header[uid] === stated[uid])) return header;
    throw new SonogateError('object_mismatch');
  } catch (error) {
    if (!(error instanceof SonogateError)) throw error;
    return await putAside(path, error, options);
  }
}

/** Moves an object to the quarantine folder. @throws the error that says why. */
async function putAside(
  path: string,
  why: SonogateError,
  { dataDir, logger }: RegistrationOptions,
): Promise<never> {
  const kept = await quarantine(dataDir, path);
  logger.event(EVENTS.objectQuarantined, { code: why.code, detail: why.detail, kept });
  throw why;
}

/**
 * At the start, registers objects that reached the disk without a row, and deletes partial files,
 * which no sender was acknowledged. Runs before the listener opens.
 * @returns how many objects got a row, and how many partial files were deleted.
 */
export async function recoverIntake(
  options: RegistrationOptions,
): Promise<{ registered: number; removed: number }> {
  const { dataDir, logger } = options;
  let registered = 0;
  let removed = 0;
  for (const { source, folder } of await dayFolders(dataDir)) {
    const names = await readdir(join(dataDir, folder));
    for (const name of names.filter((name) => name.endsWith(PARTIAL_SUFFIX))) {
      await rm(join(dataDir, folder, name));
      removed += 1;
    }
    for await (const path of unregisteredObjects(options, folder)) {
      if (await registerLeftFile(path, source, options)) registered += 1;
    }
  }
  if (registered > 0 || removed > 0) logger.event(EVENTS.intakeRecovered, { registered, removed });
  return { registered, removed };
}

async function registerLeftFile(
  path: string,
  source: string,
  options: RegistrationOptions,
): Promise<boolean> {
  let object: StoredObject;
  try {
    object = await describe(options.dataDir, path, source);
  } catch (error) {
    if (!(error instanceof SonogateError)) throw error;
    // This only happens when the disk has lost synced bytes.
    const kept = await quarantine(options.dataDir, path);
    options.logger.event(EVENTS.objectUnreadable, { code: error.code, kept });
    return false;
  }
  try {
    await registerObject(object, options);
    return true;
  } catch (error) {
    const cause = error instanceof RowMayExistError ? error.cause : error;
    // The object went to the quarantine, or is left for the next start; one object must not keep
    // the gateway from starting.
    if (cause instanceof SonogateError) return false;
    throw cause;
  }
}

async function describe(dataDir: string, path: string, source: string): Promise<StoredObject> {
  const absolute = join(dataDir, path);
  const { meta, dataSetOffset, bytes } = await readFileMeta(absolute);
  return {
    path,
    meta,
    bytes,
    fileSha256: await digest(absolute, 0),
    dataSetSha256: await digest(absolute, dataSetOffset),
    source,
  };
}

async function digest(path: string, start: number): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { start })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/**
 * The row of an object was committed, or may have been: its file must be kept, whatever the cause.
 */
export class RowMayExistError extends Error {
  override name = 'RowMayExistError';
}

/**
 * Records an object that is safe on the disk, in one transaction.
 * @throws RowMayExistError when the commit itself failed; any other error leaves no row.
 */
async function addInstance(database: Database, received: ReceivedInstance): Promise<Arrival> {
  let committing = false;
  try {
    return await database.transaction(async (tx) => {
      const arrival = await record(tx, received);
      committing = true;
      return arrival;
    });
  } catch (error) {
    if (!committing) throw error;
    throw new RowMayExistError('the commit of an object failed', { cause: error });
  }
}

/**
 * Several associations may send the first objects of a study at once: the unique key decides which
 * one creates the row.
 */
async function record(tx: Queryable, received: ReceivedInstance): Promise<Arrival> {
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
  const renewed = conflict || study.state !== 'receiving';
  const { identity, mismatch } = await patientOfStudy(tx, study, received, renewed);
  await tx.query(
    `UPDATE studies SET state = 'receiving', reason = $9, patient_mismatch = $10, identity = $8,
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
  if (namesAnotherPatient(study.identity, identity))
    await auditPatient(tx, study, received, revision);
  if (known) return { studyId: study.id, outcome: 'duplicate', revision };
  return { studyId: study.id, outcome: conflict ? 'conflict' : 'new', revision };
}

/**
 * Determines the patient of a study after an object has arrived, and whether a person has to look
 * at it: objects are sent again with the corrected patient, and sometimes objects of two patients
 * are sent under one study by mistake.
 * @param renewed whether a revision opens or an object replaces another.
 */
async function patientOfStudy(
  tx: Queryable,
  { id, identity, patient_mismatch: mismatch }: LockedStudy,
  { header }: ReceivedInstance,
  renewed: boolean,
): Promise<{ identity: DicomIdentity; mismatch: PatientMismatch | null }> {
  // Most objects name the same patient as the objects before them and change nothing.
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

/** Audits that the patient of a study changed; the entry contains no identity. */
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
 * Whether an object does not open a revision, because it is a prior that we retrieved, or one of
 * our results that a PACS sends back.
 */
async function opensNothing(
  tx: Queryable,
  { header: { studyInstanceUid, seriesInstanceUid }, receivedAt }: ReceivedInstance,
): Promise<boolean> {
  if (await isArrivingAsPrior(tx, studyInstanceUid, receivedAt)) return true;
  return (await ownSeries(tx, studyInstanceUid)).has(seriesInstanceUid);
}

/**
 * Keeps an object without opening a revision. In a study that is here only as a prior, the object
 * joins its only revision; in any other it waits for the next one.
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
  | 'state'
  | 'revision'
  | 'instance_count'
  | 'tags'
  | 'identity'
  | 'hold_reason'
  | 'patient_mismatch'
>;

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
    `SELECT id, state, revision, instance_count, tags, identity, hold_reason, patient_mismatch
     FROM studies
     WHERE study_instance_uid = $1 FOR UPDATE`,
    [header.studyInstanceUid],
  );
  const study = rows[0];
  if (!study) throw new Error('the row of the study disappeared within its transaction');
  return study;
}

/** @returns whether another object with this SOP Instance UID was stored before. */
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
