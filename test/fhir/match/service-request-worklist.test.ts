import type { Observation, Patient, ServiceRequest } from '@medplum/fhirtypes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  foundOrder,
  serviceRequestWorklist,
} from '../../../fhir/match/service-request-worklist.ts';
import { dicomFile } from '../../dimse/dicom-file.ts';
import { sendBuffer } from '../../dimse/send.ts';
import { openSite, type Site } from '../../dimse/site.ts';
import { type FhirTestServer, startFhirServer } from '../../peers/fhir-server.ts';

const SYSTEMS = { HOSPITAL: 'urn:oid:1.2.3' };
const ENDLESS = new AbortController().signal;
const PATIENT: Patient = {
  resourceType: 'Patient',
  identifier: [
    { system: 'urn:other', value: '9' },
    { system: SYSTEMS.HOSPITAL, value: 'P1' },
  ],
  gender: 'female',
  birthDate: '1990-04-05',
};
const order = (subject: string, over: Partial<ServiceRequest> = {}): ServiceRequest => ({
  resourceType: 'ServiceRequest',
  status: 'active',
  intent: 'order',
  identifier: [
    { value: 'A1' },
    { type: { coding: [{ code: 'PLAC' }] }, system: 'urn:placer', value: 'PL7' },
  ],
  subject: { reference: subject },
  code: { text: 'Growth scan' },
  reasonCode: [{ text: 'reduced movements' }, { coding: [{ code: '1', display: 'diabetes' }] }],
  requester: { display: 'Jane Roe' },
  ...over,
});
const observation = (
  loinc: string,
  value: Pick<Observation, 'valueDateTime' | 'valueQuantity'>,
  effectiveDateTime = '2026-02-01',
): Observation => ({
  resourceType: 'Observation',
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: loinc }] },
  effectiveDateTime,
  ...value,
});

describe('the orders of a FHIR server', () => {
  let server: FhirTestServer;
  let subject = '';
  beforeAll(async () => {
    server = await startFhirServer();
    subject = `Patient/${(await server.put(PATIENT)).id}`;
    await server.put(order(subject));
    await server.put(order(subject, { identifier: [{ value: 'A2' }], status: 'revoked' }));
    const of = { subject: { reference: subject } };
    const height = { value: 168, unit: 'cm', code: 'cm', system: 'http://unitsofmeasure.org' };
    await server.put({ ...observation('8665-2', { valueDateTime: '2026-01-01' }), ...of });
    await server.put({ ...observation('8302-2', { valueQuantity: height }), ...of });
  });
  afterAll(() => server?.close());

  const worklist = (baseUrl = server.baseUrl) =>
    serviceRequestWorklist({
      type: 'fhir',
      name: 'ehr',
      baseUrl,
      authorization: { type: 'none' },
      patientIdentifierSystems: SYSTEMS,
      timeoutSeconds: 20,
    });

  test('give indication, referrer and dating by accession number', async () => {
    expect(await worklist().orders({ accessionNumber: 'A1' }, ENDLESS)).toEqual([
      {
        patient: {
          patientId: 'P1',
          issuerOfPatientId: 'HOSPITAL',
          birthDate: '19900405',
          sex: 'F',
        },
        studyInstanceUid: '',
        accessionNumber: 'A1',
        placerOrderNumber: 'PL7',
        requestedProcedureId: '',
        requestedProcedure: 'Growth scan',
        indication: 'reduced movements, diabetes',
        referringPhysicianName: 'Jane Roe',
        sex: 'F',
        lastMenstrualDate: '20260101',
        pregnancyStatus: null,
        patientSizeMetres: 1.68,
        patientWeightKilograms: null,
      },
    ]);
  });

  test.each([{ accessionNumber: 'A2' }, { accessionNumber: 'A3' }])(
    'are not those that were revoked or never made: %o',
    async (keys) => {
      expect(await worklist().orders(keys, ENDLESS)).toEqual([]);
    },
  );

  test('are still joined where the server has no search for observations', async () => {
    server.fail('POST /Observation/_search', { kind: 'status', status: 404 });
    const [found] = await worklist().orders({ accessionNumber: 'A1' }, ENDLESS);
    expect(found).toMatchObject({
      indication: 'reduced movements, diabetes',
      lastMenstrualDate: '',
    });
  });

  test('cannot be had from a server that is down, with a code of the catalogue', async () => {
    server.fail('POST /ServiceRequest/_search', { kind: 'status', status: 503 });
    await expect(worklist().orders({ accessionNumber: 'A1' }, ENDLESS)).rejects.toMatchObject({
      code: 'ehr_unavailable',
    });
  });
});

describe('a study without an indication', () => {
  let server: FhirTestServer;
  let site: Site;
  beforeAll(async () => {
    server = await startFhirServer();
    const { id } = await server.put(PATIENT);
    await server.put(order(`Patient/${id}`));
    site = await openSite({
      completion: { signal: 'association-release', quietSeconds: 60, afterReleaseSeconds: 5 },
      worklists: [
        { type: 'fhir', name: 'ehr', baseUrl: server.baseUrl, patientIdentifierSystems: SYSTEMS },
      ],
      rules: [{ name: 'obstetric', run: { endpoint: 'us/obstetric/interpret' } }],
    });
  });
  afterAll(async () => {
    await site?.close();
    await server?.close();
  });

  test('has it from the ServiceRequest of its accession number', async () => {
    const study = {
      sopInstanceUid: '1.2.840.77.1.1',
      studyInstanceUid: '1.2.840.77.1',
      studyDate: '20260521',
      accessionNumber: 'A1',
      patientId: 'P1',
      issuerOfPatientId: 'HOSPITAL',
      birthDate: '19900405',
    };
    await sendBuffer(site.node, dicomFile(study));
    site.pass(6);
    await expect
      .poll(() => site.submitted.at(0)?.metadata)
      .toEqual({
        order:
          'Order found in ehr. From the order: referring physician, requested procedure, indication, sex.',
      });
  });
});

test('a due date gives the last menstrual date 280 days before it', () => {
  const observations = [observation('11778-8', { valueDateTime: '2026-10-08' })];
  const given = { patient: PATIENT, observations, systems: SYSTEMS };
  expect(foundOrder(order('Patient/1'), 'A1', given).lastMenstrualDate).toBe('20260101');
});

test('an order of a patient without a mapped identifier names nobody to compare', () => {
  const given = { patient: PATIENT, observations: [], systems: { '*': 'urn:unknown' } };
  expect(foundOrder(order('Patient/1'), 'A1', given).patient.patientId).toBe('');
});
