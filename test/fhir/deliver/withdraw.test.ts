import type { DiagnosticReport, Observation, Resource } from '@medplum/fhirtypes';
import { beforeEach, describe, expect, test } from 'vitest';
import type { EhrDeps } from '../../../fhir/deliver/deliver.ts';
import { createFhirWithdrawer } from '../../../fhir/deliver/withdraw.ts';
import type { Withdrawal } from '../../../pipelines/contract/withdrawal.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import type { RequestDelivery } from '../../../src/core/outbox/delivery.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { ClientCertificates } from '../../../src/platform/tls/client-files.ts';
import { type FhirServerOptions, statementOf } from '../../peers/fhir-server.ts';
import { DELIVERY, delivererTo, destinationOf, PATIENT, REQUEST, withEhr } from '../delivering.ts';
import { sampleResult } from '../sample.ts';
import { validationErrors } from '../validators.ts';

const NEXT = 'req_02jabcdefghijkmnpqrstvwxyz';
const SIGNED_AT = '2026-03-04T10:30:00.000Z';
const DRAFTS: Readonly<Record<string, Result>> = {
  [REQUEST]: sampleResult({ generated_at: '2026-03-04T10:00:00.000Z' }),
  [NEXT]: sampleResult({ generated_at: '2026-03-04T11:00:00.000Z' }),
};
const draftOf = (id: string): Result => {
  const draft = DRAFTS[id];
  if (!draft) throw new Error(`no run ${id}`);
  return draft;
};
const SIGNED: Result = {
  ...draftOf(REQUEST),
  generated_at: SIGNED_AT,
  draft: false,
  verification: {
    kind: 'verified',
    revision: 1,
    signatures: [
      { observer: 'Dr Ada Reader', organization: 'Ward', at: SIGNED_AT, statement: null },
    ],
  },
};
const REASON: Withdrawal = {
  at: '2026-03-04T12:00:00.000Z',
  by: 'Dr Ben Ward',
  reason: 'wrong-patient',
  text: 'Images of another woman',
};
const PARTS = ['DiagnosticReport', 'Observation', 'DocumentReference'] as const;

const at = withEhr();
/** Requests whose result was withdrawn, and the signatures of the first one. */
let withdrawn: string[] = [];
let signed = false;
beforeEach(async () => {
  withdrawn = [];
  signed = false;
  await at.ehr.put(PATIENT);
});

const deps = (): EhrDeps => ({
  certificates: new ClientCertificates(),
  destinations: [destinationOf(at.ehr)],
  results: {
    result: async (id, revision) => (revision ? SIGNED : draftOf(id)),
    artifactPath: async () => null,
  },
  earlierRequests: async (id) => (id === NEXT ? [REQUEST] : []),
  laterRequests: async (id) => (id === REQUEST ? [NEXT] : []),
  withdrawnRequests: async (ids) => ids.filter((id) => withdrawn.includes(id)),
  signatures: async (ids) =>
    signed && ids.includes(REQUEST) ? [{ at: new Date(SIGNED_AT), status: 'final' }] : [],
  logger: silentLogger,
});
const never = new AbortController().signal;
const send = (requestId = REQUEST, resultRevision = 0) => {
  const { certificates, destinations, ...rest } = deps();
  return delivererTo(destinationOf(at.ehr), at.folder, rest).send(
    { ...DELIVERY, requestId, resultRevision },
    never,
  );
};
const WITHDRAWAL: RequestDelivery & { kind: 'fhir-withdrawal' } = {
  ...DELIVERY,
  kind: 'fhir-withdrawal',
  object: 'withdrawal',
};
const withdraw = async (requestId = REQUEST) => {
  withdrawn.push(requestId);
  const withdrawer = createFhirWithdrawer({ ...deps(), withdrawalOf: async () => REASON });
  return withdrawer.send({ ...WITHDRAWAL, requestId }, never);
};
const statuses = async () => {
  const all: string[] = [];
  for (const type of PARTS) {
    for (const { resourceType, status } of await at.ehr.all(type)) {
      all.push(`${resourceType} ${status}`);
    }
  }
  return [...new Set(all)].toSorted();
};
const WITHDRAWN = PARTS.map((type) => `${type} entered-in-error`).toSorted();
const versions = async () =>
  (await Promise.all(PARTS.map((type) => at.ehr.all(type))))
    .flat()
    .map(({ id, meta }) => `${id} ${meta?.versionId}`);
const only = async (): Promise<DiagnosticReport> => {
  const [report, ...others] = await at.ehr.all('DiagnosticReport');
  if (!report || others.length > 0) throw new Error('not one report');
  return report;
};
/** Changes a resource as people at the EHR would. */
const change = <T extends Resource>(resource: T, over: Partial<T>) =>
  fetch(`${at.ehr.baseUrl}/${resource.resourceType}/${resource.id}`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/fhir+json' },
    body: JSON.stringify({ ...resource, ...over }),
  });

describe('the withdrawal of a report at an EHR', () => {
  test('sets the report, its values and its document to entered-in-error', async () => {
    await send();
    expect(await withdraw()).toMatchObject({
      outcome: 'delivered',
      detail: expect.stringMatching(/^\d+ resources are entered-in-error$/),
    });
    expect(await statuses()).toEqual(WITHDRAWN);
    for (const type of PARTS) {
      for (const resource of await at.ehr.all(type)) {
        expect(validationErrors(resource)).toEqual([]);
      }
    }
  });

  test('of a signed result', async () => {
    await send();
    signed = true;
    await send(REQUEST, 1);
    expect((await only()).status).toBe('final');
    expect(await withdraw()).toMatchObject({ outcome: 'delivered' });
    expect(await statuses()).toEqual(WITHDRAWN);
  });

  test.each<[string, FhirServerOptions]>([
    ['that takes our ids', {}],
    [
      'that refuses our ids',
      { capabilities: statementOf({ resource: [{ type: 'Provenance', updateCreate: false }] }) },
    ],
    ['without transactions', { lacks: ['transaction'] }],
  ])('tells an EHR %s who withdrew it and why', async (_, options) => {
    await at.restart(options);
    await at.ehr.put(PATIENT);
    await send();
    await withdraw();
    await withdraw();
    const all = await at.ehr.all('Provenance');
    const [record, ...others] = all.filter(({ reason }) => reason !== undefined);
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      recorded: REASON.at,
      reason: [{ text: 'Wrong patient: Images of another woman' }],
      activity: { coding: [{ code: 'NULLIFY' }] },
      agent: [{ who: { display: 'Dr Ben Ward' } }],
    });
    const places = (await Promise.all(PARTS.map((type) => at.ehr.all(type))))
      .flat()
      .map(({ resourceType, id }) => `${resourceType}/${id}`);
    expect(record?.target.map(({ reference }) => reference).toSorted()).toEqual(places.toSorted());
    expect(record && validationErrors(record)).toEqual([]);
  });

  test('keeps what the EHR has changed and added, and the ImagingStudy', async () => {
    await send();
    const report = await only();
    await change(report, { conclusion: 'Read by the ward' });
    await at.ehr.put<Observation>({
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'Blood pressure' },
      identifier: [{ system: 'urn:other', value: '1' }],
    });
    await withdraw();
    expect(await only()).toMatchObject({
      status: 'entered-in-error',
      conclusion: 'Read by the ward',
    });
    const other = (await at.ehr.all('Observation')).filter(({ code }) => code.text);
    expect(other.map(({ status }) => status)).toContain('final');
    expect(await at.ehr.all('ImagingStudy')).toMatchObject([{ status: 'available' }]);
  });

  test('a second time, as after a lost answer, changes nothing', async () => {
    await send();
    at.ehr.fail('POST /', { kind: 'cut-after-commit' });
    expect(await withdraw()).toMatchObject({ outcome: 'failed', failure: 'ambiguous' });
    const before = await versions();
    expect(await withdraw()).toMatchObject({ outcome: 'delivered' });
    expect(await versions()).toEqual(before);
    expect(await statuses()).toEqual(WITHDRAWN);
  });

  test('is repeated with what the EHR has then, if somebody changes it meanwhile', async () => {
    await send();
    at.ehr.fail('POST /', { kind: 'status', status: 412 });
    expect(await withdraw()).toMatchObject({ outcome: 'delivered' });
    expect(await statuses()).toEqual(WITHDRAWN);
  });

  test('of a value that the EHR has deleted is complete without it', async () => {
    await send();
    const [value] = await at.ehr.all('Observation');
    const gone = await fetch(`${at.ehr.baseUrl}/Observation/${value?.id}`, { method: 'DELETE' });
    expect(gone.ok).toBe(true);
    expect(await withdraw()).toMatchObject({ outcome: 'delivered' });
    const left = (await at.ehr.all('Observation')).filter(({ id }) => id !== value?.id);
    expect([...new Set(left.map(({ status }) => status))]).toEqual(['entered-in-error']);
    expect((await only()).status).toBe('entered-in-error');
  });

  test('of a report that never arrived has nothing to do', async () => {
    expect(await withdraw()).toMatchObject({ outcome: 'delivered', notSent: true });
  });

  test('leaves what people there have verified, and says so', async () => {
    await send();
    await change(await only(), { status: 'final' });
    expect(await withdraw()).toMatchObject({
      outcome: 'failed',
      failure: 'permanent',
      code: 'ehr_already_verified',
      detail: expect.stringContaining(`DiagnosticReport/${(await only()).id}`),
    });
    expect(await statuses()).toEqual([
      'DiagnosticReport final',
      'DocumentReference entered-in-error',
      'Observation entered-in-error',
    ]);
  });

  test('does not touch a later result that has replaced it', async () => {
    await send();
    await send(NEXT);
    expect(await withdraw()).toMatchObject({ outcome: 'delivered' });
    expect((await only()).status).toBe('preliminary');
  });

  test('is followed by a new report of the next result, which a late draft does not replace', async () => {
    await send();
    await withdraw();
    expect(await send(NEXT)).toMatchObject({ outcome: 'delivered' });
    const reports = await at.ehr.all('DiagnosticReport');
    expect(reports.map(({ status }) => status).toSorted()).toEqual([
      'entered-in-error',
      'preliminary',
    ]);
    const live = (await at.ehr.all('Observation')).filter(({ status }) => status === 'preliminary');
    expect(live.length).toBeGreaterThan(0);
    // The next result is sent again after a lost answer, and its own withdrawal finds it.
    await send(NEXT);
    expect(await at.ehr.all('DiagnosticReport')).toHaveLength(2);
    await withdraw(NEXT);
    expect(await statuses()).toEqual(WITHDRAWN);
  });

  test('of the later result does not bring an earlier one back', async () => {
    await send();
    await send(NEXT);
    await withdraw(NEXT);
    expect((await only()).status).toBe('entered-in-error');
    expect(await send()).toMatchObject({ outcome: 'delivered', notSent: true });
    expect(await statuses()).not.toContain('DiagnosticReport preliminary');
  });

  test.each([['transaction'], ['conditional']] as const)(
    'reaches an EHR without %s interactions',
    async (lacking) => {
      await at.restart({ lacks: [lacking] });
      await at.ehr.put(PATIENT);
      await send();
      expect(await withdraw()).toMatchObject({ outcome: 'delivered' });
      expect(await statuses()).toEqual(WITHDRAWN);
    },
  );

  test.each([
    ['503', { kind: 'status', status: 503 }, 'transient'],
    ['a cut connection', { kind: 'cut-before' }, 'ambiguous'],
    ['401', { kind: 'status', status: 401 }, 'transient'],
  ] as const)('is retried after %s', async (_, fault, failure) => {
    await send();
    at.ehr.fail('POST /', fault);
    expect(await withdraw()).toMatchObject({ outcome: 'failed', failure });
    expect(await withdraw()).toMatchObject({ outcome: 'delivered' });
    expect(await statuses()).toEqual(WITHDRAWN);
  });
});
