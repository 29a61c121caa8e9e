import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Patient } from '@medplum/fhirtypes';
import { afterEach, beforeEach } from 'vitest';
import type { FhirDestination } from '../../config/schema.ts';
import { createFhirDeliverer, type FhirDelivererDeps } from '../../fhir/deliver/deliver.ts';
import type { Decision, HoldLedger } from '../../fhir/deliver/holds.ts';
import { binaryLedger } from '../../fhir/deliver/send-report.ts';
import type { Subject } from '../../pipelines/dicom/subject.ts';
import type { Deliverer, RequestDelivery } from '../../src/core/outbox/delivery.ts';
import type { Candidate } from '../../src/core/outbox/held.ts';
import type { ResultReader } from '../../src/core/requests/request.ts';
import { type Logger, silentLogger } from '../../src/platform/logging/logger.ts';
import { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import {
  type FhirServerOptions,
  type FhirTestServer,
  startFhirServer,
} from '../peers/fhir-server.ts';
import { PATIENT_ID, sampleResult, sampleSubject } from './sample.ts';

export const RESULT_SYSTEM = 'https://sonogate.example/fhir/result';
export const MRN_SYSTEM = 'urn:oid:1.2.3';
export const REQUEST = 'req_01jabcdefghijkmnpqrstvwxyz';

/** The EHR's record of the sample's patient. */
export const PATIENT: Patient = {
  resourceType: 'Patient',
  identifier: [{ system: MRN_SYSTEM, value: PATIENT_ID }],
  name: [{ family: 'Muller', given: ['Ana'] }],
  gender: 'female',
  birthDate: '1990-04-02',
};

export const DELIVERY: RequestDelivery = {
  id: 'dlv_1',
  requestId: REQUEST,
  kind: 'fhir',
  destination: 'ehr',
  object: 'fhir-bundle',
  resultRevision: 0,
  attempt: 1,
};

/** Returns the settings of a destination that sends to this EHR. */
export function destinationOf(
  { baseUrl }: Pick<FhirTestServer, 'baseUrl'>,
  settings: Partial<FhirDestination> = {},
): FhirDestination {
  return {
    type: 'fhir',
    release: 'at-once',
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

/**
 * Creates a hold ledger for one delivery, which records its candidates and contains a person's
 * decision.
 */
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
 * Creates a deliverer that sends the sample result to an EHR.
 * @param folder contains the record of the Binaries that were created.
 */
export function delivererTo(
  destination: FhirDestination,
  folder: string,
  deps: Partial<FhirDelivererDeps> = {},
): Deliverer {
  return createFhirDeliverer({
    certificates: new ClientCertificates(),
    destinations: [destination],
    results: { result: async () => sampleResult(), artifactPath: async () => null },
    subjectOf: async (requestId) => sampleSubject(requestId),
    earlierRequests: async () => [],
    laterRequests: async () => [],
    signatures: async () => [],
    withdrawnRequests: async () => [],
    reportPdf: async () => Buffer.from('%PDF-1.4 specimen'),
    binaries: binaryLedger(folder),
    holds: holdsOf(),
    logger: silentLogger,
    ...deps,
  });
}

/** For each test in a file, starts an EHR and creates a folder for the gateway. */
export function withEhr() {
  let ehr: FhirTestServer | undefined;
  let folder = '';
  beforeEach(async () => {
    ehr = await startFhirServer();
    folder = await mkdtemp(join(tmpdir(), 'sonogate-fhir-'));
  });
  afterEach(async () => {
    await ehr?.close();
    await rm(folder, { recursive: true });
  });
  const running = (): FhirTestServer => {
    if (!ehr) throw new Error('the EHR runs within a test only');
    return ehr;
  };

  return {
    get ehr() {
      return running();
    },
    get folder() {
      return folder;
    },
    async restart(options: FhirServerOptions): Promise<void> {
      await ehr?.close();
      ehr = await startFhirServer(options);
    },
    deliverer(
      settings: Partial<FhirDestination> = {},
      subject: Subject | null = sampleSubject(REQUEST),
      pdf: Buffer | null = Buffer.from('%PDF-1.4 specimen'),
      logger: Logger = silentLogger,
      results: ResultReader = {
        result: async () => sampleResult(),
        artifactPath: async () => null,
      },
    ): Deliverer {
      return delivererTo(destinationOf(running(), settings), folder, {
        results,
        subjectOf: async () => subject,
        reportPdf: async () => pdf,
        logger,
      });
    },
    send: (to: Deliverer, attempt = 1) =>
      to.send({ ...DELIVERY, attempt }, AbortSignal.timeout(30_000)),
    /** Counts the EHR's resources, by each type that a bundle creates. */
    async counts(): Promise<Record<string, number>> {
      const found = await Promise.all(CREATED.map((type) => running().all(type)));
      return Object.fromEntries(CREATED.map((type, index) => [type, found[index]?.length ?? 0]));
    },
  };
}

const CREATED = [
  'Device',
  'ImagingStudy',
  'Observation',
  'Media',
  'DocumentReference',
  'DiagnosticReport',
  'Provenance',
  'Patient',
] as const;
