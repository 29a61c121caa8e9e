import type { HumanName, Patient, Reference } from '@medplum/fhirtypes';
import type { FhirDestination } from '../../config/schema.ts';
import type { DicomIdentity } from '../../pipelines/dicom/subject.ts';
import type { Candidate } from '../../src/core/outbox/held.ts';
import { FhirFailure, failureOf } from '../client/outcome.ts';
import type { FhirServer } from '../client/server.ts';
import { fhirDate } from '../resources/dates.ts';
import { medicalRecordNumber, searchToken } from '../resources/identifiers.ts';

type PatientSettings = Pick<FhirDestination, 'patientIdentifierSystems' | 'createPatient'>;

/** The patient at the receiver, or a patient created by the bundle if the settings allow it. */
type PatientMatch = { reference: Reference<Patient> } | { newPatient: Patient };

/** Administrative gender for each value of (0010,0040). */
const GENDERS: Readonly<Record<string, Patient['gender']>> = {
  M: 'male',
  F: 'female',
  O: 'other',
};

/** Key of `patientIdentifierSystems` for images without an issuer. */
export const NO_ISSUER = '*';

/** Maximum number of records with the same demographics that are shown to a person. */
const MOST_CANDIDATES = 5;

/**
 * Finds the patient of the images at the receiver by the patient ID, in the identifier system to
 * which the settings map its issuer, and compares demographics (exchange 1.8). If the birth dates
 * conflict, or both sex and family name do, the report waits for a person. An unmapped issuer is
 * refused, because a wrong issuer means a wrong patient.
 * @throws FhirFailure `ehr_issuer_unmapped`, `ehr_patient_not_found`, `ehr_patient_ambiguous`, with
 * the records for a person to choose from.
 */
export async function matchPatient(
  server: Pick<FhirServer, 'search'>,
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
  // A server that ignores an unknown parameter may return any patient, so only records with the
  // identifier are used.
  const hits = answer.filter((patient) =>
    patient.identifier?.some(
      ({ system, value }) => system === identifier.system && value?.trim() === identifier.value,
    ),
  );
  const candidates = hits.map((hit) => candidate(hit, identity));
  const [patient] = hits;
  if (hits.length > 1) throw ambiguous('Two or more patients have this identifier', candidates);
  if (!patient) {
    if (settings.createPatient) return { newPatient: patientOf(identity, identifier) };
    throw new FhirFailure(
      failureOf('ehr_patient_not_found', 'No patient has this identifier'),
      await sameDemographics(server, identity, signal),
    );
  }
  if (isOutOfUse(patient)) {
    throw ambiguous('The patient record is inactive or was merged into another', candidates);
  }
  const conflicts = demographicConflicts(patient, identity);
  if (conflicts.includes('birth_date') || conflicts.length >= 2) {
    throw ambiguous(
      `Conflicts with the images: ${conflicts.map((one) => DEMOGRAPHICS[one]).join(', ')}`,
      candidates,
    );
  }
  return { reference: { reference: `Patient/${patient.id}`, type: 'Patient', identifier } };
}

/**
 * Reads the patient that a person chose for a held report. Demographics are not compared, because
 * the person has decided. A record that is missing or no longer in use is refused.
 * @param reference `Patient/<id>`.
 * @throws FhirFailure `ehr_patient_ambiguous`
 */
export async function chosenPatient(
  server: Pick<FhirServer, 'read'>,
  reference: string,
  signal: AbortSignal,
): Promise<{ reference: Reference<Patient> }> {
  const patient = await server.read('Patient', reference.replace(/^Patient\//, ''), signal);
  if (!patient) throw ambiguous(`The chosen ${reference} does not exist`);
  if (isOutOfUse(patient)) throw ambiguous(`The chosen ${reference} is inactive or was merged`);
  return { reference: { reference, type: 'Patient' } };
}

/** Returns the id of the Patient that a reference, with or without a version, refers to. */
export function patientIdIn(reference: Reference | undefined): string | null {
  const [, id] =
    /(?:^|\/)Patient\/([A-Za-z0-9.-]{1,64})(?:\/_history\/.*)?$/.exec(reference?.reference ?? '') ??
    [];
  return id ?? null;
}

const DEMOGRAPHICS = {
  birth_date: 'birth date',
  sex: 'sex',
  family_name: 'family name',
} as const;
type Demographic = keyof typeof DEMOGRAPHICS;

/**
 * Returns the demographics on which the receiver's record contradicts the images. Absent values
 * never contradict.
 */
export function demographicConflicts(patient: Patient, identity: DicomIdentity): Demographic[] {
  return compared(patient, identity).flatMap(({ what, same }) => (same === false ? [what] : []));
}

/** Compares each demographic value; `same` is null if either side lacks the value. */
function compared(
  patient: Patient,
  identity: DicomIdentity,
): { what: Demographic; same: boolean | null }[] {
  const birthDate = fhirDate(identity.PatientBirthDate);
  const gender = GENDERS[identity.PatientSex.trim()];
  const families = (patient.name ?? []).flatMap((name) => name.family ?? []).map(comparable);
  const ours = familyNames(identity.PatientName).map(comparable);
  const both = (known: boolean, same: () => boolean) => (known ? same() : null);
  const theirGender = patient.gender === 'unknown' ? undefined : patient.gender;
  return [
    {
      what: 'birth_date',
      // A FHIR birth date may consist of only a year, or a year and month, so only the part that
      // both dates have is compared.
      same: both(Boolean(birthDate && patient.birthDate), () =>
        Boolean(birthDate?.startsWith(patient.birthDate ?? '')),
      ),
    },
    { what: 'sex', same: both(Boolean(gender && theirGender), () => theirGender === gender) },
    {
      what: 'family_name',
      same: both(ours.length > 0 && families.length > 0, () =>
        ours.some((name) => families.includes(name)),
      ),
    },
  ];
}

function candidate(patient: Patient, identity: DicomIdentity): Candidate {
  const values = compared(patient, identity);
  const those = (same: boolean) =>
    values.flatMap((v) => (v.same === same ? [DEMOGRAPHICS[v.what]] : []));
  return {
    reference: `Patient/${patient.id}`,
    agrees: those(true),
    differs: [...those(false), ...(isOutOfUse(patient) ? ['inactive or merged'] : [])],
  };
}

/**
 * Finds records with the birth date and family name from the images. They are shown to a person and
 * never matched automatically. Empty if the receiver does not support this search.
 */
async function sameDemographics(
  server: Pick<FhirServer, 'search'>,
  identity: DicomIdentity,
  signal: AbortSignal,
): Promise<Candidate[]> {
  const birthdate = fhirDate(identity.PatientBirthDate);
  const [family] = familyNames(identity.PatientName);
  if (!birthdate || !family) return [];
  try {
    const query = { birthdate, family, _count: String(MOST_CANDIDATES) };
    const hits = await server.search('Patient', query, signal);
    return hits.slice(0, MOST_CANDIDATES).map((patient) => candidate(patient, identity));
  } catch (error) {
    if (error instanceof FhirFailure) return [];
    throw error;
  }
}

function isOutOfUse({ active, link }: Patient): boolean {
  return active === false || (link ?? []).some(({ type }) => type === 'replaced-by');
}

/**
 * Returns the issuer of the patient ID: its name, otherwise its universal ID (exchange 1.7), even
 * if that is not an OID. A patient ID from another hospital must not be treated as one without an
 * issuer.
 */
function issuerOf({ IssuerOfPatientID, IssuerOfPatientIDQualifiers }: DicomIdentity): string {
  return IssuerOfPatientID.trim() || IssuerOfPatientIDQualifiers?.UniversalEntityID.trim() || '';
}

function patientIdentifier(identity: DicomIdentity, settings: PatientSettings) {
  const issuer = issuerOf(identity) || NO_ISSUER;
  const system = Object.hasOwn(settings.patientIdentifierSystems, issuer)
    ? settings.patientIdentifierSystems[issuer]
    : undefined;
  if (!identity.PatientID.trim()) throw ambiguous('The images have no patient ID');
  if (!system) {
    const which = issuer === NO_ISSUER ? 'The images have no issuer, and "*"' : 'The issuer';
    throw new FhirFailure(failureOf('ehr_issuer_unmapped', `${which} is not mapped`));
  }
  return medicalRecordNumber(system, identity.PatientID);
}

function ambiguous(detail: string, candidates: readonly Candidate[] = []): FhirFailure {
  return new FhirFailure(failureOf('ehr_patient_ambiguous', detail), candidates);
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

/**
 * Splits a person name (PN, PS3.5 6.2.1): alphabetic, ideographic and phonetic group, each
 * Family^Given^Middle.
 */
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

/** Returns the name in a form for comparison: without case, diacritics, spaces and punctuation. */
function comparable(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
}
