import type { HumanName, Patient, Reference } from '@medplum/fhirtypes';
import type { FhirDestination } from '../config/schema.ts';
import type { DicomIdentity } from '../pipelines/artifacts/subject.ts';
import { fhirDate } from './dates.ts';
import { medicalRecordNumber, searchToken } from './identifiers.ts';
import { FhirFailure, failureOf } from './outcome.ts';
import type { FhirServer } from './server.ts';

type PatientSettings = Pick<FhirDestination, 'patientIdentifierSystems' | 'createPatient'>;

/** The receiver's patient, or one to be sent along where the site allows it. */
export type PatientMatch = { reference: Reference<Patient> } | { newPatient: Patient };

/** (0010,0040) → administrative gender. */
const GENDERS: Readonly<Record<string, Patient['gender']>> = {
  M: 'male',
  F: 'female',
  O: 'other',
};

/** Key of `patientIdentifierSystems` for images without an issuer. */
const NO_ISSUER = '*';

/**
 * Finds the patient of the images at the receiver by the mapped identifier, and compares
 * demographics (interop 1.8): a conflict in the birth date, or in both sex and family name, is left
 * to a person. A wrong issuer is a wrong patient, so an unmapped one is refused.
 * @throws FhirFailure `ehr_issuer_unmapped`, `ehr_patient_not_found`, `ehr_patient_ambiguous`.
 */
export async function matchPatient(
  server: FhirServer,
  identity: DicomIdentity,
  settings: PatientSettings,
  signal: AbortSignal,
): Promise<PatientMatch> {
  const identifier = patientIdentifier(identity, settings);
  const answer = await server.search(
    'Patient',
    { identifier: searchToken(identifier), _count: '2' },
    signal,
  );
  // A server that ignores an unknown parameter answers with any patient: trust only what matches.
  const hits = answer.filter((patient) =>
    patient.identifier?.some(
      ({ system, value }) => system === identifier.system && value?.trim() === identifier.value,
    ),
  );
  const [patient] = hits;
  if (hits.length > 1) throw ambiguous('Two or more patients have this identifier');
  if (!patient) {
    if (settings.createPatient) return { newPatient: patientOf(identity, identifier) };
    throw new FhirFailure(failureOf('ehr_patient_not_found', 'No patient has this identifier'));
  }
  if (patient.active === false || patient.link?.some((link) => link.type === 'replaced-by')) {
    throw ambiguous('The patient record is inactive or was merged into another');
  }
  const conflicts = demographicConflicts(patient, identity);
  if (conflicts.includes('birth date') || conflicts.length >= 2) {
    throw ambiguous(`In conflict with the images: ${conflicts.join(', ')}`);
  }
  return { reference: { reference: `Patient/${patient.id}`, type: 'Patient', identifier } };
}

/** What the receiver's record and the images contradict each other in; absent values never do. */
export function demographicConflicts(
  patient: Patient,
  identity: DicomIdentity,
): ('birth date' | 'sex' | 'family name')[] {
  const birthDate = fhirDate(identity.PatientBirthDate);
  const gender = GENDERS[identity.PatientSex.trim()];
  const families = (patient.name ?? []).flatMap((name) => name.family ?? []).map(comparable);
  const ours = familyNames(identity.PatientName).map(comparable);
  // FHIR allows a birth date of the year or month alone: compare what both have.
  const sameDate = birthDate?.startsWith(patient.birthDate ?? '') ?? true;
  const sameSex =
    !gender || !patient.gender || patient.gender === 'unknown' || patient.gender === gender;
  const sameName =
    ours.length === 0 || families.length === 0 || ours.some((name) => families.includes(name));
  return [
    ...(sameDate ? [] : (['birth date'] as const)),
    ...(sameSex ? [] : (['sex'] as const)),
    ...(sameName ? [] : (['family name'] as const)),
  ];
}

function patientIdentifier(identity: DicomIdentity, settings: PatientSettings) {
  const issuer = identity.IssuerOfPatientID.trim() || NO_ISSUER;
  const system = Object.hasOwn(settings.patientIdentifierSystems, issuer)
    ? settings.patientIdentifierSystems[issuer]
    : undefined;
  if (!identity.PatientID.trim()) throw ambiguous('The images hold no patient id');
  if (!system) {
    const which = issuer === NO_ISSUER ? 'The images name no issuer, and "*"' : 'The issuer';
    throw new FhirFailure(failureOf('ehr_issuer_unmapped', `${which} is not mapped`));
  }
  return medicalRecordNumber(system, identity.PatientID);
}

function ambiguous(detail: string): FhirFailure {
  return new FhirFailure(failureOf('ehr_patient_ambiguous', detail));
}

function patientOf(
  identity: DicomIdentity,
  identifier: ReturnType<typeof medicalRecordNumber>,
): Patient {
  return {
    resourceType: 'Patient',
    identifier: [identifier],
    name: identity.PatientName.trim() ? nameGroups(identity.PatientName) : undefined,
    gender: GENDERS[identity.PatientSex.trim()],
    birthDate: fhirDate(identity.PatientBirthDate),
  };
}

/** VR PN (PS3.5 6.2.1): alphabetic, ideographic and phonetic group, each Family^Given^Middle. */
function nameGroups(personName: string): HumanName[] {
  return personName.split('=').flatMap((group) => {
    const [family = '', given = '', middle = ''] = group.split('^').map((part) => part.trim());
    const givenNames = [given, middle].filter(Boolean);
    if (!family && givenNames.length === 0) return [];
    return [{ family: family || undefined, given: givenNames.length > 0 ? givenNames : undefined }];
  });
}

function familyNames(personName: string): string[] {
  return nameGroups(personName).flatMap((name) => name.family ?? []);
}

/** Without case, diacritics, spaces and punctuation. */
function comparable(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
}
