import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';

/** The attributes used to determine whether two studies belong to the same patient. */
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

export type PatientMismatch =
  | 'no-patient-id'
  | 'patient-id'
  | 'issuer'
  | 'no-birth-date'
  | 'birth-date'
  | 'sex';

/**
 * The reasons as text, for the note on earlier examinations and for the person who decides on a
 * held study.
 */
export const MISMATCH_WORDS: Readonly<Record<PatientMismatch, string>> = {
  'no-patient-id': 'no patient ID',
  'patient-id': 'another patient ID',
  issuer: 'another issuer of the ID',
  'no-birth-date': 'no birth date to compare',
  'birth-date': 'another birth date',
  sex: 'another sex',
};

/**
 * Compares the patients of two studies. The ID alone is not enough, because IDs are reused and
 * mistyped: both studies must have the same birth date, and the issuer and the sex must not differ
 * if both studies state them.
 * @returns null if both studies are treated as belonging to one patient.
 */
export function patientMismatch(
  one: PatientIdentity,
  other: PatientIdentity,
): PatientMismatch | null {
  if (one.patientId === '' || other.patientId === '') return 'no-patient-id';
  if (one.patientId !== other.patientId) return 'patient-id';
  if (differ(one.issuerOfPatientId, other.issuerOfPatientId)) return 'issuer';
  if (one.birthDate === '' || other.birthDate === '') return 'no-birth-date';
  if (one.birthDate !== other.birthDate) return 'birth-date';
  if (differ(one.sex, other.sex)) return 'sex';
  return null;
}

const differ = (one: string, other: string) => one !== '' && other !== '' && one !== other;

/**
 * Returns the identity of a study, taken from its first object with a patient ID or, if there is no
 * such object, from its first object.
 * @param identities the identities of its objects in order of arrival; for an object that was sent
 * again, only the newest.
 */
export function studyIdentity(identities: readonly DicomIdentity[]): DicomIdentity | undefined {
  return identities.find(({ PatientID }) => PatientID !== '') ?? identities[0];
}

/**
 * Finds objects of one study that belong to different patients. A missing value does not count as a
 * difference. The sex is not compared, because carts fill it in by default.
 * @returns null if all objects may belong to one patient.
 */
export function mismatchWithinStudy(identities: readonly DicomIdentity[]): PatientMismatch | null {
  const stated = identities.map((identity) => ({ ...patientIdentity(identity), sex: '' }));
  const patients = [...new Map(stated.map((one) => [JSON.stringify(one), one])).values()];
  for (const [index, one] of patients.entries()) {
    for (const other of patients.slice(index + 1)) {
      const mismatch = patientMismatch(completed(one, other), completed(other, one));
      if (mismatch) return mismatch;
    }
  }
  return null;
}

const UNSTATED = 'not stated';

/**
 * Returns a patient with missing values filled in from another, so that the two differ only in
 * values that both state.
 */
function completed(one: PatientIdentity, other: PatientIdentity): PatientIdentity {
  return {
    ...one,
    patientId: one.patientId || other.patientId || UNSTATED,
    birthDate: one.birthDate || other.birthDate || UNSTATED,
  };
}

/**
 * Returns why a study waits for a person: the reason that someone entered, and the mismatch between
 * its patients.
 * @returns null if the study does not wait.
 */
export function holdText(
  holdReason: string | null,
  mismatch: PatientMismatch | null,
): string | null {
  const patients =
    mismatch &&
    `The objects identify different patients (${MISMATCH_WORDS[mismatch]}); release the study only if they are the same person.`;
  return [holdReason, patients].filter(Boolean).join(' ') || null;
}

/** Returns true if two identities differ in any patient attribute, including the name. */
export function namesAnotherPatient(one: DicomIdentity, other: DicomIdentity): boolean {
  const attributes = (identity: DicomIdentity) =>
    JSON.stringify([patientIdentity(identity), identity.PatientName]);
  return attributes(one) !== attributes(other);
}
