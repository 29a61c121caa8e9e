import type { DicomIdentity } from '../pipelines/artifacts/subject.ts';
import type { PatientIdentity } from './archive/archive.ts';
import { patientOf, whyNotSamePatient } from './archive/prior-match.ts';

/**
 * The identity that a study has: of its first object that names a patient, else of its first.
 * @param identities of its objects in order of arrival; of an object sent again only the newest.
 */
export function identityOf(identities: readonly DicomIdentity[]): DicomIdentity | undefined {
  return identities.find(({ PatientID }) => PatientID !== '') ?? identities[0];
}

const DIFFERENT = 'Its objects name different patients';

/**
 * Why the objects of a study cannot all be of one patient, for the person who decides; null where
 * nothing speaks against it. What one object does not state is no difference, and carts set the sex
 * by a default.
 */
export function whyNotOnePatient(identities: readonly DicomIdentity[]): string | null {
  const stated = identities.map((identity) => ({ ...patientOf(identity), sex: '' }));
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
export function namesOther(one: DicomIdentity, other: DicomIdentity): boolean {
  const words = (identity: DicomIdentity) =>
    JSON.stringify([patientOf(identity), identity.PatientName]);
  return words(one) !== words(other);
}
