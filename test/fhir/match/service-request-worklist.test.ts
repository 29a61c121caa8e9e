import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  Identifier,
  Observation,
  Patient,
  Resource,
  ServiceRequest,
} from '@medplum/fhirtypes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  foundOrder,
  serviceRequestWorklist,
} from '../../../fhir/match/service-request-worklist.ts';
import { chooseOrder } from '../../../src/core/studies/order.ts';
import { ClientCertificates } from '../../../src/platform/tls/client-files.ts';
import { dicomFile } from '../../dimse/dicom-file.ts';
import { instanceHeader } from '../../dimse/instance-header.ts';
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
    const other = { subject: { reference: 'Patient/somebody-else' } };
    const cm = (value: number) => ({ value, unit: 'cm', code: 'cm' });
    // As many newer measurements as fit on one page, and one measurement of another patient.
    for (let day = 10; day < 32; day += 1) {
      const height = observation('8302-2', { valueQuantity: cm(168) }, `2026-03-${day}`);
      await server.put({ ...height, ...of });
    }
    await server.put({
      ...observation('8302-2', { valueQuantity: cm(190) }, '2026-04-01'),
      ...other,
    });
    await server.put({ ...observation('8665-2', { valueDateTime: '2026-01-01' }), ...of });
  });
  afterAll(() => server?.close());

  const worklist = (baseUrl = server.baseUrl) =>
    serviceRequestWorklist(
      {
        type: 'fhir',
        name: 'ehr',
        baseUrl,
        authorization: { type: 'none' },
        patientIdentifierSystems: SYSTEMS,
        timeoutSeconds: 20,
      },
      new ClientCertificates(),
    );

  test('provide indication, referrer and dating for an accession number', async () => {
    const keys = { accessionNumber: 'A1', studyDate: '20260521' };
    expect(await worklist().orders(keys, ENDLESS)).toEqual([
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
    'exclude those that were revoked or never made: %o',
    async (keys) => {
      expect(await worklist().orders(keys, ENDLESS)).toEqual([]);
    },
  );

  test('are still joined if the server does not support searching for observations', async () => {
    server.fail('POST /Observation/_search', { kind: 'status', status: 404 });
    const [found] = await worklist().orders({ accessionNumber: 'A1' }, ENDLESS);
    expect(found).toMatchObject({
      indication: 'reduced movements, diabetes',
      lastMenstrualDate: '',
    });
  });

  test('cannot be read from a server that is down, which is reported with a code from the catalogue', async () => {
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

  test('takes it from the ServiceRequest with its accession number', async () => {
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

const KEYS = { accessionNumber: 'A1', studyDate: '20260521' };
const TODAY = new Date('2026-05-21T10:00:00Z');
const found = (over: Partial<Parameters<typeof foundOrder>[2]>) =>
  foundOrder(order('Patient/1'), KEYS, {
    patient: PATIENT,
    observations: [],
    systems: SYSTEMS,
    today: TODAY,
    ...over,
  });
const lmp = (date: string, at?: string) => observation('8665-2', { valueDateTime: date }, at);
const due = (date: string, at?: string) => observation('11778-8', { valueDateTime: date }, at);

describe('the last menstrual period in an order', () => {
  test.each([
    { given: 'a due date', observations: [due('2026-10-08')], date: '20260101' },
    {
      given: 'a menstrual date of an earlier pregnancy and a due date',
      observations: [lmp('2024-01-10', '2024-03-01'), due('2026-12-20', '2026-05-01')],
      date: '20260315',
    },
    { given: 'only one of an earlier pregnancy', observations: [lmp('2024-01-10')], date: '' },
    {
      given: 'a due date that was changed after an examination',
      observations: [lmp('2026-01-01', '2026-02-01'), due('2026-10-20', '2026-04-01')],
      date: '20260113',
    },
    {
      given: 'a due date from before the menstrual date',
      observations: [due('2026-08-20', '2026-01-05'), lmp('2026-03-01', '2026-04-10')],
      date: '20260301',
    },
    {
      given: 'an older one before a newer one',
      observations: [lmp('2026-01-01', '2026-02-01'), lmp('2026-01-10', '2026-03-01')],
      date: '20260110',
    },
  ])('is $date with $given', ({ observations, date }) => {
    expect(found({ observations }).lastMenstrualDate).toBe(date);
  });
});

test('the newest height counts, in whatever order the server returns them', () => {
  const cm = (value: number) => ({ valueQuantity: { value, code: 'cm' } });
  const observations = [
    observation('8302-2', cm(90), '2010-01-01'),
    observation('8302-2', cm(168), '2026-01-01'),
  ];
  expect(found({ observations }).patientSizeMetres).toBe(1.68);
});

test("only the patient's Observations count, whatever the server returns", async () => {
  const someone = { subject: { reference: 'Patient/2' } };
  const server = createServer((request, response) => {
    const body: Resource = request.url?.includes('Patient/1')
      ? { ...PATIENT, id: '1' }
      : {
          resourceType: 'Bundle',
          type: 'searchset',
          entry: [
            {
              resource: request.url?.includes('Observation')
                ? { ...lmp('2026-01-01'), ...someone }
                : order('Patient/1'),
            },
          ],
        };
    response.setHeader('content-type', 'application/fhir+json');
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const worklist = serviceRequestWorklist(
    {
      type: 'fhir',
      name: 'ehr',
      baseUrl: `http://127.0.0.1:${port}`,
      authorization: { type: 'none' },
      patientIdentifierSystems: SYSTEMS,
      timeoutSeconds: 20,
    },
    new ClientCertificates(),
  );
  try {
    const [one] = await worklist.orders(KEYS, ENDLESS);
    expect(one).toMatchObject({ indication: expect.any(String), lastMenstrualDate: '' });
  } finally {
    server.close();
  }
});

describe('the patient of an order', () => {
  const systems = { HOSP_A: 'urn:a', HOSP_B: 'urn:b' };
  const named = (...identifier: Identifier[]) =>
    found({ patient: { ...PATIENT, identifier }, systems });
  const { identity } = instanceHeader({
    identity: {
      PatientID: '222',
      IssuerOfPatientID: 'HOSP_B',
      PatientBirthDate: '19900405',
      AccessionNumber: 'A1',
    },
  });
  const stateOf = (...identifier: Identifier[]) =>
    chooseOrder(identity, KEYS, [named(...identifier)], 'ehr').state;

  test('cannot be compared without a mapped identifier', () => {
    expect(found({ systems: { '*': 'urn:unknown' } }).patient.patientId).toBe('');
  });

  test('can have any of the mapped identifiers', () => {
    const own = { system: 'urn:b', value: '222' };
    expect(stateOf({ system: 'urn:a', value: '111' }, own)).toBe('found');
    expect(stateOf({ system: 'urn:b', value: '999' }, own)).toBe('found');
  });

  test('is another patient if the same number comes from another issuer', () => {
    expect(stateOf({ system: 'urn:a', value: '222' }, { system: 'urn:b', value: '1' })).toBe(
      'refused',
    );
  });

  test.each<Partial<Identifier>>([
    { use: 'old' },
    { period: { end: '2025' } },
    { period: { end: '2026-05-20T10:00:00Z' } },
  ])('is not identified by an identifier that is out of use: %o', (over) => {
    expect(stateOf({ system: 'urn:b', value: '222', ...over })).toBe('refused');
  });

  test('is identified by an identifier that is still valid today', () => {
    expect(stateOf({ system: 'urn:b', value: '222', period: { end: '2026' } })).toBe('found');
  });
});
