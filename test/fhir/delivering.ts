import type { Patient } from '@medplum/fhirtypes';
import type { FhirDestination } from '../../config/schema.ts';
import { binaryLedger } from '../../fhir/binary-ledger.ts';
import type { Candidate } from '../../fhir/candidates.ts';
import { createFhirDeliverer, type FhirDelivererDeps } from '../../fhir/deliver.ts';
import type { Decision, HoldLedger } from '../../fhir/hold-ledger.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import type { Deliverer, Delivery } from '../../src/outbox/port.ts';
import type { FhirTestServer } from '../peers/fhir-server.ts';
import { PATIENT_ID, sampleResult, sampleSubject } from './sample.ts';

export const RESULT_SYSTEM = 'https://sonogate.example/fhir/result';
export const MRN_SYSTEM = 'urn:oid:1.2.3';
export const REQUEST = 'req_01jabcdefghijkmnpqrstvwxyz';

/** The EHR's record of the patient of the sample. */
export const PATIENT: Patient = {
  resourceType: 'Patient',
  identifier: [{ system: MRN_SYSTEM, value: PATIENT_ID }],
  name: [{ family: 'Muller', given: ['Ana'] }],
  gender: 'female',
  birthDate: '1990-04-02',
};

export const DELIVERY: Delivery = {
  id: 'dlv_1',
  requestId: REQUEST,
  kind: 'fhir',
  destination: 'ehr',
  object: 'fhir-bundle',
  attempt: 1,
};

/** The settings of a site for an EHR. */
export function destinationOf(
  { baseUrl }: Pick<FhirTestServer, 'baseUrl'>,
  settings: Partial<FhirDestination> = {},
): FhirDestination {
  return {
    type: 'fhir',
    name: 'ehr',
    baseUrl,
    authorization: { type: 'none' },
    resultSystem: RESULT_SYSTEM,
    organization: 'Example Hospital',
    patientIdentifierSystems: { HOSPITAL: MRN_SYSTEM },
    createPatient: false,
    order: 'optional',
    inlinePdfMegabytes: 2,
    timeoutSeconds: 10,
    ...settings,
  };
}

/** A ledger of one delivery, with what was kept and what a person decided. */
export function holdsOf(decision: Decision | null = null): HoldLedger & {
  candidates: readonly Candidate[];
} {
  const holds = {
    candidates: [] as readonly Candidate[],
    decisionOn: async () => decision,
    keepCandidates: async (_: string, found: readonly Candidate[]) => {
      holds.candidates = found;
    },
  };
  return holds;
}

/**
 * A deliverer of the sample result to an EHR.
 * @param folder for what it keeps of Binaries.
 */
export function delivererTo(
  destination: FhirDestination,
  folder: string,
  deps: Partial<FhirDelivererDeps> = {},
): Deliverer {
  return createFhirDeliverer({
    destinations: [destination],
    results: { result: async () => sampleResult(), artifactPath: async () => null },
    subjectOf: async (requestId) => sampleSubject(requestId),
    earlierRequests: async () => [],
    reportPdf: async () => Buffer.from('%PDF-1.4 specimen'),
    binaries: binaryLedger(folder),
    holds: holdsOf(),
    logger: silentLogger,
    ...deps,
  });
}
