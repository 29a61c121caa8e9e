import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { type AuditAction, type AuditEntry, createAuditWriter } from '../audit/audit.ts';

/** A patient ID issued by one assigning authority. */
export interface PatientKey {
  id: string;
  authority: string;
  /** True if this authority also covers images without an issuer. */
  unissued: boolean;
}

/** The patient attributes that a message can correct. */
export type Demographics = Partial<
  Pick<DicomIdentity, 'PatientName' | 'PatientBirthDate' | 'PatientSex'>
>;

/** The attributes that replace those in the images. */
type Stated = Demographics & Partial<Pick<DicomIdentity, 'PatientID'>>;

export interface ChangeSource {
  /** Name of the sender in the settings. */
  sender: string;
  address: string;
  controlId: string;
  receivedAt: Date;
  /** When the sender made the change, by the sender's clock. */
  effectiveAt: Date;
}

interface Correction {
  patientId: string;
  stated: Stated;
}

/** Names of the attributes in the audit trail and in the console. */
const ATTRIBUTES: Readonly<Record<keyof Stated, string>> = {
  PatientID: 'patient ID',
  PatientName: 'name',
  PatientBirthDate: 'birth date',
  PatientSex: 'sex',
};

/** Lists what a correction changes, without the values. */
const changedAttributes = (stated: Stated): string =>
  (Object.keys(ATTRIBUTES) as (keyof Stated)[])
    .filter((key) => stated[key] !== undefined)
    .map((key) => ATTRIBUTES[key])
    .join(', ');

/**
 * Returns the corrected identity of a study. A correction applies to one patient ID. It does not
 * apply to images with another ID, such as images first assigned to the wrong patient and then sent
 * again. Merges are followed to the last ID, in whatever order they were made.
 * @param corrections in the order in which they were made.
 */
export function correctedIdentity(
  received: DicomIdentity,
  corrections: readonly Correction[],
): DicomIdentity {
  const ids = patientIdsOf(received.PatientID, corrections);
  const own = corrections.filter(({ patientId }) => ids.includes(patientId));
  const stated: Stated = Object.assign({}, ...own.map((one) => one.stated));
  return { ...received, ...stated, PatientID: ids.at(-1) ?? received.PatientID };
}

/** Returns the patient IDs of a study from the received to the surviving one. */
function patientIdsOf(received: string, corrections: readonly Correction[]): string[] {
  const ids = [received];
  for (;;) {
    const next = corrections.findLast(
      ({ patientId, stated }) => patientId === ids.at(-1) && stated.PatientID !== undefined,
    )?.stated.PatientID;
    if (next === undefined || ids.includes(next)) return ids;
    ids.push(next);
  }
}

/**
 * Returns the corrections in force for a study, ordered by when their senders made them, so that a
 * late message does not override a newer one.
 * @param until returns the corrections that had been received and were in force at this time; null
 * for now.
 */
export async function correctionsOf(
  database: Queryable,
  studyId: string,
  until: Date | null = null,
): Promise<Correction[]> {
  const { rows } = await database.query<Correction>(
    `SELECT patient_id AS "patientId", stated FROM patient_corrections
     WHERE study_id = $1 AND ($2::timestamptz IS NULL OR received_at <= $2)
       AND (withdrawn_at IS NULL OR withdrawn_at > $2::timestamptz)
     ORDER BY effective_at, id`,
    [studyId, until],
  );
  return rows;
}

/**
 * A correction of a study as shown to a person: the changed attributes and the sender, without the
 * values.
 */
export interface CorrectionNote {
  at: Date;
  sender: string;
  controlId: string;
  changed: string;
  /**
   * When the correction was withdrawn, by an operator or by a later merge; null while it is in
   * force. Equal to `at` if a person declined the correction from the beginning.
   */
  withdrawnAt: Date | null;
}

/** Returns every correction of a study, for `explain`. */
export async function correctionNotes(
  database: Queryable,
  studyId: string,
): Promise<CorrectionNote[]> {
  const { rows } = await database.query<Omit<CorrectionNote, 'changed'> & { stated: Stated }>(
    `SELECT received_at AS at, sender, control_id AS "controlId", stated,
       withdrawn_at AS "withdrawnAt"
     FROM patient_corrections WHERE study_id = $1 ORDER BY received_at, id`,
    [studyId],
  );
  return rows.map(({ stated, ...note }) => ({ ...note, changed: changedAttributes(stated) }));
}

/** SQL: the authority that assigned the patient ID in an identity; '' if it is not stated. */
export const issuerIn = (
  identity: string,
) => `coalesce(nullif(${identity} ->> 'IssuerOfPatientID', ''),
  ${identity} -> 'IssuerOfPatientIDQualifiers' ->> 'UniversalEntityID', '')`;
const ISSUER = issuerIn('identity');

/**
 * SQL condition: a study belongs to the patient ID $1 of the authority $2. If $3 is true, a study
 * with this ID and no issuer belongs to it too.
 */
const OF_PATIENT = `identity ->> 'PatientID' = $1 AND (${ISSUER} = $2 OR ($3 AND ${ISSUER} = ''))`;

interface PatientStudy {
  id: string;
  identity: DicomIdentity;
}

/** Locks and returns a patient's studies, matched by their identity with all corrections so far. */
async function lockStudiesOf(
  tx: Queryable,
  { id, authority, unissued }: PatientKey,
): Promise<PatientStudy[]> {
  const { rows } = await tx.query<PatientStudy>(
    `SELECT id, identity FROM studies WHERE ${OF_PATIENT} ORDER BY study_instance_uid FOR UPDATE`,
    [id, authority, unissued],
  );
  return rows;
}

/** Our ids of the studies affected by a message. */
export interface Reached {
  corrected: readonly string[];
  /** Studies that keep their patient because they may belong to another person. */
  unlike: readonly string[];
}

/**
 * Records a correction for each study of a patient, with one audit entry per study.
 * @param isUnlike returns true for a study that keeps its patient.
 */
export async function correctStudies(
  tx: Queryable,
  patient: PatientKey,
  stated: Stated,
  source: ChangeSource,
  { mergeId, isUnlike }: { mergeId: string | null; isUnlike: (study: PatientStudy) => boolean },
): Promise<Reached> {
  const studies = await lockStudiesOf(tx, patient);
  const idsOf = (some: readonly PatientStudy[]) => some.map(({ id }) => id);
  const unlike = idsOf(studies.filter(isUnlike));
  const corrected = idsOf(studies).filter((id) => !unlike.includes(id));
  const { sender, controlId, effectiveAt, receivedAt } = source;
  for (const id of corrected) {
    await tx.query(
      `INSERT INTO patient_corrections
         (study_id, patient_id, stated, effective_at, received_at, merge_id, sender, control_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [id, patient.id, JSON.stringify(stated), effectiveAt, receivedAt, mergeId, sender, controlId],
    );
    await renewIdentity(tx, id);
  }
  const write = createAuditWriter(tx);
  const entry = (
    studyId: string | null,
    action: AuditAction,
    outcome: AuditEntry['outcome'],
    detail: AuditEntry['detail'],
  ) =>
    write({
      at: receivedAt,
      action,
      actor: `node:${sender}`,
      address: source.address,
      studyId,
      outcome,
      detail: { control: controlId, ...detail },
    });
  const action = mergeId === null ? 'patient.update' : 'patient.merge';
  const changed = changedAttributes(stated);
  await Promise.all([
    ...corrected.map((id) => entry(id, action, 'success', { changed })),
    ...unlike.map((id) => entry(id, 'patient.unlike', 'refused', null)),
    ...(studies.length === 0 ? [entry(null, action, 'success', { changed, studies: 0 })] : []),
  ]);
  return { corrected, unlike };
}

/**
 * Returns true if both name and birth date of a study differ from those in a message. Names differ
 * if they have no word in common. A missing name or date does not differ.
 */
function isAnotherPerson(identity: DicomIdentity, stated: Demographics): boolean {
  const { PatientName: name = '', PatientBirthDate: birthDate = '' } = stated;
  const [own, other] = [wordsOf(identity.PatientName), wordsOf(name)];
  const hasDates = birthDate !== '' && identity.PatientBirthDate !== '';
  const hasNames = own.size > 0 && other.size > 0;
  return (
    hasDates && birthDate !== identity.PatientBirthDate && hasNames && own.isDisjointFrom(other)
  );
}

/**
 * Returns the words in the family, given and middle names of a PN, ignoring case and diacritics.
 */
function wordsOf(personName: string): Set<string> {
  const names = personName.split('=').flatMap((group) => group.split('^').slice(0, 3));
  const plain = names.join(' ').normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return new Set(plain.match(/[\p{L}\p{N}]{2,}/gu) ?? []);
}

/** Recomputes the identity of a study from its images and its corrections. */
export async function renewIdentity(tx: Queryable, studyId: string): Promise<void> {
  const { rows } = await tx.query<{ received: DicomIdentity }>(
    'SELECT coalesce(received_identity, identity) AS received FROM studies WHERE id = $1',
    [studyId],
  );
  const [row] = rows;
  if (!row) return;
  const identity = correctedIdentity(row.received, await correctionsOf(tx, studyId));
  await tx.query('UPDATE studies SET received_identity = $2, identity = $3 WHERE id = $1', [
    studyId,
    JSON.stringify(row.received),
    JSON.stringify(identity),
  ]);
}

/** A patient update (ADT^A08): the patient's identifiers, and the corrected attributes. */
export interface PatientUpdate {
  patients: readonly PatientKey[];
  stated: Demographics;
}

/**
 * Applies a patient update to the studies and orders received so far, not to later ones. Studies
 * whose name and birth date both differ from the update remain unchanged, because the same patient
 * ID may have been given to two people.
 * @returns how many studies were corrected, and how many remain unchanged for that reason.
 */
export async function updatePatient(
  tx: Queryable,
  { patients, stated }: PatientUpdate,
  source: ChangeSource,
): Promise<{ corrected: number; unlike: number }> {
  const counts = { corrected: 0, unlike: 0 };
  for (const patient of patients) {
    const { corrected, unlike } = await correctStudies(tx, patient, stated, source, {
      mergeId: null,
      isUnlike: ({ identity }) => isAnotherPerson(identity, stated),
    });
    counts.corrected += corrected.length;
    counts.unlike += unlike.length;
    await correctOrders(tx, patient, stated, source);
  }
  return counts;
}

/**
 * Applies a patient update to orders that are older than the update. Otherwise they would no longer
 * match the corrected studies, and an order is used for a study only if their patients match.
 */
async function correctOrders(
  tx: Queryable,
  { id, authority, unissued }: PatientKey,
  { PatientBirthDate: birthDate, PatientSex: sex }: Demographics,
  { effectiveAt }: ChangeSource,
): Promise<void> {
  const patient = {
    ...(birthDate !== undefined && { birthDate }),
    ...(sex !== undefined && { sex }),
  };
  await tx.query(
    `UPDATE received_orders SET patient = patient || $4::jsonb
     WHERE patient ->> 'patientId' = $1 AND ordered_at <= $5
       AND (patient ->> 'issuerOfPatientId' = $2 OR ($3 AND patient ->> 'issuerOfPatientId' = ''))`,
    [id, authority, unissued, JSON.stringify(patient), effectiveAt],
  );
}
