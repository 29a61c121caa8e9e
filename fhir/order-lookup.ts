import type { Encounter, Patient, Reference, ServiceRequest } from '@medplum/fhirtypes';
import { accessionNumber, searchToken } from './identifiers.ts';
import type { FhirServer } from './server.ts';

/** What the report is based on, as far as the receiver knows it. */
export interface Order {
  order?: Reference<ServiceRequest>;
  encounter?: Reference<Encounter>;
}

/**
 * Finds the patient's order by accession number. None found, or more than one, is no error: the
 * report then names the accession number alone (a logical reference) and claims no visit.
 */
export async function findOrder(
  server: FhirServer,
  accession: string,
  patient: Reference<Patient> | null,
  signal: AbortSignal,
): Promise<Order> {
  if (!accession.trim()) return {};
  const identifier = accessionNumber(accession);
  const named: Order = { order: { type: 'ServiceRequest', identifier } };
  if (!patient?.reference) return named;
  const answer = await server.search(
    'ServiceRequest',
    { identifier: searchToken(identifier), patient: patient.reference, _count: '2' },
    signal,
  );
  const hits = answer.filter(
    ({ subject, identifier: identifiers }) =>
      subject.reference?.endsWith(patient.reference ?? '') &&
      identifiers?.some(({ value }) => value?.trim() === identifier.value),
  );
  const [found] = hits;
  if (!found?.id || hits.length > 1) return named;
  const encounter = found.encounter?.reference;
  return {
    order: { reference: `ServiceRequest/${found.id}`, type: 'ServiceRequest', identifier },
    encounter: encounter ? { reference: encounter } : undefined,
  };
}
