import type { DicomIdentity, SourceInstance, Subject } from '../../../pipelines/dicom/subject.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { contextFromHeaders } from './clinical-context.ts';
import {
  fileName,
  findStudy,
  instancesOf,
  ownSeries,
  studyOfRequest,
  supersededRequest,
} from './study-queries.ts';

/** What identifies the patient of a study, for comparison. */
export interface PatientIdentity {
  patientId: string;
  issuerOfPatientId: string;
  birthDate: string;
  sex: string;
}

export function patientIdentity(identity: DicomIdentity): PatientIdentity {
  return {
    patientId: identity.PatientID,
    issuerOfPatientId: identity.IssuerOfPatientID,
    birthDate: identity.PatientBirthDate,
    sex: identity.PatientSex,
  };
}

/**
 * What speaks against two studies being of one patient; null: nothing, and enough speaks for it. The
 * ID alone is not enough: numbers are given again, and typed wrongly. The birth date must be stated
 * by both; issuer and sex must not differ where both state them.
 */
export function whyNotSamePatient(one: PatientIdentity, other: PatientIdentity): string | null {
  if (one.patientId === '' || other.patientId === '') return 'no patient ID';
  if (one.patientId !== other.patientId) return 'another patient ID';
  if (differ(one.issuerOfPatientId, other.issuerOfPatientId)) return 'another issuer of the ID';
  if (one.birthDate === '' || other.birthDate === '') return 'no birth date to compare';
  if (one.birthDate !== other.birthDate) return 'another birth date';
  if (differ(one.sex, other.sex)) return 'another sex';
  return null;
}

const differ = (one: string, other: string) => one !== '' && other !== '' && one !== other;

/**
 * The identity that a study has: of its first object that names a patient, else of its first.
 * @param identities of its objects in order of arrival; of an object sent again only the newest.
 */
export function studyIdentity(identities: readonly DicomIdentity[]): DicomIdentity | undefined {
  return identities.find(({ PatientID }) => PatientID !== '') ?? identities[0];
}

const DIFFERENT = 'Its objects name different patients';

/**
 * Why the objects of a study cannot all be of one patient, for the person who decides; null where
 * nothing speaks against it. What one object does not state is no difference, and carts set the sex
 * by a default.
 */
export function whyNotOnePatient(identities: readonly DicomIdentity[]): string | null {
  const stated = identities.map((identity) => ({ ...patientIdentity(identity), sex: '' }));
  const patients = [...new Map(stated.map((one) => [JSON.stringify(one), one])).values()];
  for (const [index, one] of patients.entries()) {
    for (const other of patients.slice(index + 1)) {
      const why = whyNotSamePatient(completed(one, other), completed(other, one));
      if (why) return `${DIFFERENT} (${why}); release it only if they are one person.`;
    }
  }
  return null;
}

const UNSTATED = 'not stated';

/** A patient with what only the other states: it differs in what both state. */
function completed(one: PatientIdentity, other: PatientIdentity): PatientIdentity {
  return {
    ...one,
    patientId: one.patientId || other.patientId || UNSTATED,
    birthDate: one.birthDate || other.birthDate || UNSTATED,
  };
}

/** Whether a study waits for a person because its objects name different patients. */
export function isHeldForPatients(holdReason: string | null): boolean {
  return holdReason?.includes(DIFFERENT) ?? false;
}

/** Why a study is to wait: what a person said of it stays, beside what its patients are. */
export function holdReasonWith(former: string | null, patients: string | null): string | null {
  const byPerson = former?.split(DIFFERENT)[0]?.trim();
  return [byPerson, patients].filter(Boolean).join(' ') || null;
}

/** Whether two identities name a patient by other words. */
export function namesAnotherPatient(one: DicomIdentity, other: DicomIdentity): boolean {
  const words = (identity: DicomIdentity) =>
    JSON.stringify([patientIdentity(identity), identity.PatientName]);
  return words(one) !== words(other);
}

/**
 * Whose result a request of a DICOM study is: the identity of the study and the objects of the
 * revision that was submitted, under the file names of the request.
 * @param study our own id of the study (`RequestSource.study`).
 * @returns null when the study is no longer there.
 */
export async function subjectOfStudy(
  database: Queryable,
  { requestId, study, revision }: { requestId: string; study: string; revision: number },
): Promise<Subject | null> {
  const row = await findStudy(database, study);
  if (!row) return null;
  const instances = await instancesOf(database, { id: row.id, revision });
  const headers = instances.map((instance) => instance.header);
  const { dating } = contextFromHeaders(headers);
  // A PACS may send back what the study was before its patient was corrected.
  const ours = await ownSeries(database, row.study_instance_uid);
  const received = headers.filter(({ seriesInstanceUid }) => !ours.has(seriesInstanceUid));
  return {
    requestId,
    identity: studyIdentity(received.map(({ identity }) => identity)) ?? row.identity,
    instances: instances.map(
      (instance): SourceInstance => ({
        sopClassUid: instance.header.sopClassUid,
        sopInstanceUid: instance.header.sopInstanceUid,
        seriesInstanceUid: instance.header.seriesInstanceUid,
        modality: instance.header.modality,
        file: fileName(instance),
        numberOfFrames: instance.header.numberOfFrames,
        rows: instance.header.rows,
        columns: instance.header.columns,
        lossy: instance.header.lossy ?? null,
      }),
    ),
    supersedes: await supersededRequest(database, { requestId, study: row.id, revision }),
    indication: headers.find(({ indication }) => indication)?.indication ?? null,
    dating: dating && { gaDays: dating.ga_days, basis: dating.basis },
  };
}

/** The same by request alone; null for a request that did not come by DICOM. */
export async function subjectOfRequest(
  database: Queryable,
  requestId: string,
): Promise<Subject | null> {
  const submitted = await studyOfRequest(database, requestId);
  return submitted && subjectOfStudy(database, { requestId, ...submitted });
}
