import type { DemoStudy } from './phantom-studies.ts';

/** Of the identifiers of phantom patients, as the EHR of the demo knows them. */
export const PATIENT_ID_SYSTEM = 'urn:oid:2.25.1';

/**
 * Makes a phantom patient known to an EHR, as a registration message would have.
 * @throws Error when the EHR does not take it.
 */
export async function registerPatient(
  baseUrl: string,
  patient: DemoStudy['patient'],
): Promise<void> {
  const [family = '', given = ''] = patient.patientName.split('^');
  const birthDate = patient.patientBirthDate.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3');
  const answer = await fetch(`${baseUrl}/Patient`, {
    method: 'POST',
    headers: { 'content-type': 'application/fhir+json' },
    body: JSON.stringify({
      resourceType: 'Patient',
      identifier: [{ system: PATIENT_ID_SYSTEM, value: patient.patientId }],
      name: [{ family, given: [given] }],
      birthDate,
      gender: patient.gender,
    }),
  });
  if (!answer.ok) throw new Error(`the EHR answered ${answer.status}`);
}
