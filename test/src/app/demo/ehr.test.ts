import type { Bundle, Patient, Resource } from '@medplum/fhirtypes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFhirDeliverer } from '../../../../fhir/deliver/deliver.ts';
import { binaryLedger } from '../../../../fhir/deliver/send-report.ts';
import { type DemoEhr, startDemoEhr } from '../../../../src/app/demo/ehr.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { ClientCertificates } from '../../../../src/platform/tls/client-files.ts';
import { PATIENT_ID, sampleResult, sampleSubject } from '../../../fhir/sample.ts';

let ehr: DemoEhr;

beforeAll(async () => {
  ehr = await startDemoEhr();
});
afterAll(() => ehr.close());

const identifier = [{ system: 'urn:x', value: '1' }];
const query = 'identifier=urn%3Ax%7C1';

async function post<Answer extends Resource>(
  path: string,
  body: Resource | string,
): Promise<{ status: number; body: Answer }> {
  const form = typeof body === 'string';
  const response = await fetch(`${ehr.baseUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': form ? 'application/x-www-form-urlencoded' : 'application/json' },
    body: form ? body : JSON.stringify(body),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const transaction = (entry: Bundle['entry']): Bundle => ({
  resourceType: 'Bundle',
  type: 'transaction',
  entry,
});

const report = (change: object = {}): Bundle =>
  transaction([
    {
      fullUrl: 'urn:uuid:6bf5099b-1cb3-4019-bc15-e23960e56f25',
      resource: { resourceType: 'Device', identifier },
      request: { method: 'POST', url: 'Device', ifNoneExist: query },
    },
    {
      resource: {
        resourceType: 'DiagnosticReport',
        identifier,
        status: 'preliminary',
        code: { text: 'x' },
        performer: [{ reference: 'urn:uuid:6bf5099b-1cb3-4019-bc15-e23960e56f25' }],
      },
      request: { method: 'PUT', url: `DiagnosticReport?${query}`, ...change },
    },
  ]);

describe('the receiving EHR of the demo', () => {
  test('creates each entry of a transaction once, and resolves its references', async () => {
    const statuses = async () =>
      (await post<Bundle>('', report())).body.entry?.map((entry) => entry.response?.status);
    expect(await statuses()).toEqual(['201 Created', '201 Created']);
    expect(await statuses()).toEqual(['200 OK', '200 OK']);
    const [device, ...otherDevices] = ehr.resources('Device');
    const [stored, ...others] = ehr.resources('DiagnosticReport');
    expect([...otherDevices, ...others]).toEqual([]);
    expect(stored?.performer?.[0]?.reference).toBe(`Device/${device?.id}`);
    expect(stored?.meta?.versionId).toBe('2');
    expect(device?.meta?.versionId).toBe('1');
  });

  test('refuses a whole transaction if one entry is out of date', async () => {
    const before = ehr.resources('DiagnosticReport');
    const answer = await post('', report({ ifMatch: 'W/"1"' }));
    expect(answer.status).toBe(412);
    expect(answer.body.resourceType).toBe('OperationOutcome');
    expect(ehr.resources('DiagnosticReport')).toEqual(before);
  });

  test('accepts a Patient by POST and finds it by identifier', async () => {
    const created = await post<Patient>('/Patient', { resourceType: 'Patient', identifier });
    expect(created.status).toBe(201);
    const found = await post<Bundle>('/Patient/_search', 'identifier=urn%3Ax%7C1&_count=2');
    expect(found.body.entry).toMatchObject([{ resource: { id: created.body.id } }]);
    const nobody = await post<Bundle>('/Patient/_search', 'identifier=urn%3Ay%7C1');
    expect(nobody.body.entry).toEqual([]);
  });

  test.each<[string, string, Resource | string, number]>([
    ['an unknown search parameter', '/Patient/_search', 'name=x', 400],
    ['a batch', '', { resourceType: 'Bundle', type: 'batch' }, 400],
    ['a resource under another type', '/Patient', { resourceType: 'Device' }, 400],
  ])('refuses %s', async (_, path, body, status) => {
    expect((await post(path, body)).status).toBe(status);
  });

  test('receives the same result from the deliverer twice, but stores it once', async () => {
    const subject = sampleSubject();
    await post('/Patient', {
      resourceType: 'Patient',
      identifier: [{ system: 'urn:oid:1.2.3', value: PATIENT_ID }],
    });
    const result = sampleResult();
    const deliverer = createFhirDeliverer({
      certificates: new ClientCertificates(),
      destinations: [
        {
          type: 'fhir',
          release: 'at-once',
          name: 'demo-ehr',
          baseUrl: ehr.baseUrl,
          authorization: { type: 'none' },
          resultSystem: 'https://sonogate.example/fhir/result',
          organization: 'Demo',
          patientIdentifierSystems: { HOSPITAL: 'urn:oid:1.2.3' },
          createPatient: false,
          order: 'optional',
          inlinePdfMegabytes: 2,
          timeoutSeconds: 10,
        },
      ],
      results: { result: async () => result, artifactPath: async () => null },
      subjectOf: async () => subject,
      earlierRequests: async () => [],
      laterRequests: async () => [],
      signatures: async () => [],
      withdrawnRequests: async () => [],
      reportPdf: async () => null,
      binaries: binaryLedger('unused: no PDF is sent'),
      holds: { decisionOn: async () => null, keepCandidates: async () => {} },
      logger: silentLogger,
    });
    const { requestId } = subject;
    for (const attempt of [1, 2]) {
      const delivery = { id: 'd', requestId, kind: 'fhir', destination: 'demo-ehr' } as const;
      expect(
        await deliverer.send(
          { ...delivery, object: 'fhir-bundle', resultRevision: 0, attempt },
          AbortSignal.timeout(10_000),
        ),
      ).toMatchObject({ outcome: 'delivered' });
    }
    const reports = ehr
      .resources('DiagnosticReport')
      .filter((stored) => stored.identifier?.some(({ value }) => value === requestId));
    expect(reports).toHaveLength(1);
    expect(reports[0]?.result?.[0]?.reference).toMatch(/^Observation\//);
  });

  test('states that it is the receiver of a demo', async () => {
    const response = await fetch(`${ehr.baseUrl}/metadata`);
    expect(await response.text()).toContain('not a real EHR');
  });
});
