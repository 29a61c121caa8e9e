import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { identifierQuery, resultIdentifier } from '../../../fhir/resources/identifiers.ts';
import type { Result, Verification } from '../../../pipelines/result/envelope.ts';
import { type FhirTestServer, startFhirServer, statementOf } from '../../peers/fhir-server.ts';
import { DELIVERY, delivererTo, destinationOf, PATIENT, RESULT_SYSTEM } from '../delivering.ts';
import { sampleMeasurement, sampleResult } from '../sample.ts';
import { validationErrors } from '../validators.ts';

/**
 * Three runs of one study, in order. The third lacks one value and has a different head
 * circumference.
 */
const RUNS: Readonly<Record<string, Result>> = {
  req_first: sampleResult({ generated_at: '2026-03-04T10:00:00.000Z' }),
  req_second: sampleResult({ generated_at: '2026-03-04T11:00:00.000Z' }),
  req_third: sampleResult({
    generated_at: '2026-03-04T12:00:00.000Z',
    measurements: [sampleMeasurement('hc', 291, 'hc-ellipse')],
    findings: [],
  }),
};

/** Returns the signed result of a run, half an hour after its draft. */
function signedResult(requestId: string, replaces?: Verification['replaces']): Result {
  const draft = RUNS[requestId];
  if (!draft) throw new Error(`no run ${requestId}`);
  const at = new Date(Date.parse(draft.generated_at) + 1_800_600).toISOString();
  return {
    ...draft,
    generated_at: at,
    draft: false,
    verification: {
      kind: 'verified',
      revision: 1,
      signatures: [{ observer: 'Dr Ada Reader', organization: 'Ward', at, statement: null }],
      ...(replaces && { replaces }),
    },
  };
}

/** The third run replaces the first, which was signed. */
const SIGNED: Readonly<Record<string, Result>> = {
  req_first: signedResult('req_first'),
  req_third: signedResult('req_third', { request: 'req_first', revision: 1 }),
};

let ehr: FhirTestServer;
let folder: string;
/** Requests whose results were signed in the gateway. */
let signed: Set<string>;

beforeEach(async () => {
  signed = new Set();
  ehr = await startFhirServer();
  folder = await mkdtemp(join(tmpdir(), 'sonogate-superseding-'));
  await ehr.put(PATIENT);
});
afterEach(async () => {
  await ehr.close();
  await rm(folder, { recursive: true });
});

const earlierThan = (requestId: string): string[] => {
  const order = Object.keys(RUNS);
  return order.slice(0, order.indexOf(requestId)).reverse();
};

const laterThan = (requestId: string): string[] => {
  const order = Object.keys(RUNS);
  return order.slice(order.indexOf(requestId) + 1);
};

const send = (requestId: string, resultRevision = 0) =>
  delivererTo(destinationOf(ehr), folder, {
    results: {
      result: async (id, revision) => (revision === 0 ? RUNS : SIGNED)[id] ?? null,
      artifactPath: async () => null,
    },
    earlierRequests: async (id) => earlierThan(id),
    laterRequests: async (id) => laterThan(id),
    signatures: async (ids) =>
      ids
        .flatMap((id) => (signed.has(id) ? (SIGNED[id]?.generated_at ?? []) : []))
        .toSorted()
        .map((at, index) => ({ at: new Date(at), status: index === 0 ? 'final' : 'amended' })),
  }).send({ ...DELIVERY, requestId, resultRevision }, AbortSignal.timeout(30_000));

const sign = (requestId: string) => {
  signed.add(requestId);
  return send(requestId, 1);
};

const heads = async () =>
  (await ehr.all('Observation')).filter(({ code }) => code.coding?.[0]?.code === '11984-2');

describe('a later run of the same study', () => {
  test('replaces the single report, under the same identifier, based on the version that was read', async () => {
    await send('req_first');
    const [first] = await ehr.all('DiagnosticReport');
    expect(await send('req_third')).toMatchObject({ outcome: 'delivered' });
    const [report, ...others] = await ehr.all('DiagnosticReport');
    expect(others).toEqual([]);
    expect(report?.id).toBe(first?.id);
    expect(report?.meta?.versionId).not.toBe(first?.meta?.versionId);
    expect(report?.identifier?.[0]).toEqual({
      use: 'official',
      system: RESULT_SYSTEM,
      value: 'req_first',
    });
    expect(report?.identifier?.map(({ value }) => value)).toContain('req_third');
    expect(report?.issued).toBe('2026-03-04T12:00:00.000Z');
  });

  test('replaces values in place, so that a chart shows each value once', async () => {
    await send('req_first');
    await send('req_third');
    const [head, ...others] = await heads();
    expect(others).toEqual([]);
    expect(head).toMatchObject({ status: 'preliminary', valueQuantity: { value: 291 } });
  });

  test('withdraws values that it did not find again', async () => {
    await send('req_first');
    await send('req_third');
    const [report] = await ehr.all('DiagnosticReport');
    const current = new Set(report?.result?.map(({ reference }) => reference));
    for (const observation of await ehr.all('Observation')) {
      const expected = current.has(`Observation/${observation.id}`)
        ? 'preliminary'
        : 'entered-in-error';
      expect(observation.status).toBe(expected);
    }
    expect(current.size).toBeLessThan((await ehr.all('Observation')).length);
  });

  test('does not touch what a person has verified in the earlier run', async () => {
    await send('req_first');
    const weight = (await ehr.all('Observation')).find(({ identifier }) =>
      identifier?.some(({ value }) => value === 'req_first/efw'),
    );
    if (!weight) throw new Error('no weight');
    await ehr.put({ ...weight, status: 'final' });
    await send('req_third');
    const kept = (await ehr.all('Observation')).find(({ id }) => id === weight.id);
    expect(kept?.status).toBe('final');
  });

  test('may not replace a value that a person has verified: it is held', async () => {
    await send('req_first');
    const [head] = await heads();
    if (!head) throw new Error('no head');
    await ehr.put({ ...head, status: 'final' });
    const before = await everything();
    expect(await send('req_third')).toMatchObject({
      failure: 'permanent',
      code: 'ehr_already_verified',
      detail: `Observation/${head.id} has status "final"`,
    });
    expect(await everything()).toEqual(before);
  });

  test('finds such a value in an EHR whose references state a version', async () => {
    await send('req_first');
    const [report] = await ehr.all('DiagnosticReport');
    const [head] = await heads();
    if (!report || !head) throw new Error('no report');
    const result = report.result?.map(({ reference }) => ({
      reference: `${reference}/_history/1`,
    }));
    await ehr.put({ ...report, result });
    await ehr.put({ ...head, status: 'final' });
    expect(await send('req_third')).toMatchObject({ code: 'ehr_already_verified' });
  });

  test('refers to the document that it replaces, and marks that one as superseded', async () => {
    await send('req_first');
    const [former] = await ehr.all('DocumentReference');
    await send('req_third');
    const documents = await ehr.all('DocumentReference');
    expect(documents).toHaveLength(2);
    const next = documents.find(({ id }) => id !== former?.id);
    expect(next).toMatchObject({
      status: 'current',
      relatesTo: [{ code: 'replaces', target: { reference: `DocumentReference/${former?.id}` } }],
    });
    expect(documents.find(({ id }) => id === former?.id)?.status).toBe('superseded');
  });

  test('has a separate Provenance: a revision of the first', async () => {
    await send('req_first');
    await send('req_third');
    const [first, later] = (await ehr.all('Provenance')).sort((a, b) =>
      a.recorded.localeCompare(b.recorded),
    );
    expect(first?.activity?.coding?.[0]?.code).toBe('CREATE');
    expect(later?.activity?.coding?.[0]?.code).toBe('UPDATE');
    expect(later?.entity).toContainEqual({
      role: 'revision',
      what: {
        type: 'DiagnosticReport',
        identifier: { system: RESULT_SYSTEM, value: 'req_first' },
      },
    });
  });

  test('is valid for both validators as stored in the EHR', async () => {
    await send('req_first');
    await send('req_third');
    for (const type of ['DiagnosticReport', 'DocumentReference', 'Provenance'] as const) {
      expect((await ehr.all(type)).flatMap(validationErrors)).toEqual([]);
    }
  });

  test('changes nothing more when it is sent again after a lost response', async () => {
    await send('req_first');
    ehr.fail('POST /', { kind: 'cut-after-commit' });
    expect(await send('req_third')).toMatchObject({ failure: 'ambiguous' });
    const before = await everything();
    expect(await send('req_third')).toMatchObject({ outcome: 'delivered' });
    expect(await everything()).toEqual(before);
  });

  test('reaches a receiver without transactions in the same way', async () => {
    await ehr.close();
    ehr = await startFhirServer({
      capabilities: statementOf({ interaction: [{ code: 'batch' }] }),
    });
    await ehr.put(PATIENT);
    await send('req_first');
    await send('req_third');
    expect(await ehr.all('DiagnosticReport')).toHaveLength(1);
    expect(await heads()).toHaveLength(1);
    expect((await ehr.all('DocumentReference')).map(({ status }) => status).sort()).toEqual([
      'current',
      'superseded',
    ]);
  });
});

describe('an earlier run that arrives late', () => {
  test.each(['req_first', 'req_second'])('%s does not overwrite the later one', async (late) => {
    await send('req_third');
    const before = await everything();
    expect(await send(late)).toMatchObject({
      outcome: 'delivered',
      notSent: true,
      detail: expect.stringContaining('later result'),
    });
    expect(await everything()).toEqual(before);
  });
});

test('a signed report replaces the draft of a later run', async () => {
  await send('req_first');
  await send('req_third');
  expect(await sign('req_first')).toMatchObject({
    outcome: 'delivered',
    detail: expect.stringContaining('DiagnosticReport/'),
  });
  expect((await ehr.all('DiagnosticReport')).map(({ status }) => status)).toEqual(['final']);
  const documents = await ehr.all('DocumentReference');
  expect(documents.map(({ status, docStatus }) => `${status} ${docStatus}`).sort()).toEqual([
    'current final',
    'superseded preliminary',
  ]);
});

test.each([
  ['signed result', 1],
  ['draft', 0],
])('a late %s does not replace the signed report of a later run', async (_, revision) => {
  signed.add('req_first');
  await sign('req_third');
  const before = await everything();
  expect(await send('req_first', revision)).toMatchObject({
    outcome: 'delivered',
    notSent: true,
  });
  expect(await everything()).toEqual(before);
});

describe('a later run of a study whose report was signed in the gateway', () => {
  beforeEach(async () => {
    await send('req_first');
    await sign('req_first');
    expect((await ehr.all('DiagnosticReport')).map(({ status }) => status)).toEqual(['final']);
  });

  test('is not sent as a draft', async () => {
    const before = await everything();
    expect(await send('req_third')).toMatchObject({
      outcome: 'delivered',
      detail: expect.stringContaining('Not sent: the EHR already has the signed report'),
    });
    expect(await everything()).toEqual(before);
  });

  test('has a Provenance for the draft and one for each signature, each with its own time', async () => {
    await sign('req_third');
    const records = (await ehr.all('Provenance')).toSorted((a, b) =>
      a.recorded.localeCompare(b.recorded),
    );
    const signatures = [SIGNED.req_first, SIGNED.req_third].map((one) => one?.generated_at);
    expect(
      records.map(({ occurredDateTime, activity, agent }) => ({
        at: occurredDateTime,
        activity: activity?.coding?.[0]?.code,
        verifiers: agent.flatMap(({ who }) => (who.type === 'Practitioner' ? who.display : [])),
      })),
    ).toEqual([
      { at: RUNS.req_first?.generated_at, activity: 'CREATE', verifiers: [] },
      ...signatures.map((at) => ({ at, activity: 'UPDATE', verifiers: ['Dr Ada Reader'] })),
    ]);
  });

  test('amends that report once it is signed', async () => {
    const [former] = await ehr.all('DocumentReference');
    expect(await sign('req_third')).toMatchObject({ outcome: 'delivered' });
    const [report, ...others] = await ehr.all('DiagnosticReport');
    expect(others).toEqual([]);
    expect(report).toMatchObject({
      status: 'amended',
      conclusion: expect.stringContaining('Amended and signed by Dr Ada Reader'),
    });
    const current = new Set(report?.result?.map(({ reference }) => reference));
    const observations = await ehr.all('Observation');
    for (const { id, status } of observations) {
      expect(status).toBe(current.has(`Observation/${id}`) ? 'amended' : 'entered-in-error');
    }
    expect(current.size).toBeLessThan(observations.length);
    const documents = await ehr.all('DocumentReference');
    expect(documents).toHaveLength(2);
    expect(documents.find(({ id }) => id === former?.id)?.status).toBe('superseded');
    expect(documents.find(({ id }) => id !== former?.id)).toMatchObject({
      status: 'current',
      docStatus: 'amended',
      relatesTo: [{ code: 'replaces', target: { reference: `DocumentReference/${former?.id}` } }],
    });
  });

  test.each(['cut off', 'rounded'])('amends it in an EHR that stores times %s', async (how) => {
    const toSecond = (time = '') => {
      const second = (how === 'rounded' ? Math.round : Math.floor)(Date.parse(time) / 1000);
      return new Date(second * 1000).toISOString();
    };
    for (const one of [...(await ehr.all('DiagnosticReport')), ...(await ehr.all('Observation'))]) {
      await ehr.put({ ...one, issued: toSecond(one.issued) });
    }
    for (const document of await ehr.all('DocumentReference')) {
      await ehr.put({ ...document, date: toSecond(document.date) });
    }
    await sign('req_third');
    expect((await ehr.all('DiagnosticReport')).map(({ status }) => status)).toEqual(['amended']);
    expect((await ehr.all('DocumentReference')).map(({ status }) => status).sort()).toEqual([
      'current',
      'superseded',
    ]);
  });

  test('amends it resource by resource, even after an interruption', async () => {
    await ehr.close();
    ehr = await startFhirServer({
      capabilities: statementOf({ interaction: [{ code: 'batch' }] }),
    });
    await ehr.put(PATIENT);
    await sign('req_first');
    const query = identifierQuery(resultIdentifier(RESULT_SYSTEM, 'req_first'));
    ehr.fail(`PUT /DiagnosticReport?${query}`, { kind: 'status', status: 503 });
    expect(await sign('req_third')).toMatchObject({ failure: 'transient' });
    expect((await heads()).map(({ status }) => status)).toEqual(['amended']);
    expect(await sign('req_third')).toMatchObject({ outcome: 'delivered' });
    expect((await ehr.all('DiagnosticReport')).map(({ status }) => status)).toEqual(['amended']);
  });

  test.each(['amended', 'corrected'] as const)(
    'is refused if a person has since %s it in the EHR',
    async (status) => {
      const [report] = await ehr.all('DiagnosticReport');
      if (!report) throw new Error('no report');
      await ehr.put({ ...report, status });
      const before = await everything();
      expect(await sign('req_third')).toMatchObject({ code: 'ehr_already_verified' });
      expect(await everything()).toEqual(before);
    },
  );

  test('is refused if a person has since corrected one of its values in the EHR', async () => {
    const [head] = await heads();
    if (!head) throw new Error('no head');
    await ehr.put({ ...head, status: 'corrected' });
    expect(await sign('req_third')).toMatchObject({
      code: 'ehr_already_verified',
      detail: `Observation/${head.id} has status "corrected"`,
    });
  });
});

test('no later run may replace a report that a person has verified', async () => {
  await send('req_first');
  const [report] = await ehr.all('DiagnosticReport');
  if (!report) throw new Error('no report');
  await ehr.put({ ...report, status: 'final' });
  const before = await everything();
  for (const later of ['req_second', 'req_third']) {
    expect(await send(later)).toMatchObject({ code: 'ehr_already_verified' });
  }
  expect(await sign('req_third')).toMatchObject({ code: 'ehr_already_verified' });
  expect(await everything()).toEqual(before);
});

/** Returns every resource in the EHR without its version. */
async function everything(): Promise<unknown[]> {
  const types = [
    'DiagnosticReport',
    'Observation',
    'DocumentReference',
    'Provenance',
    'Device',
  ] as const;
  const found = await Promise.all(types.map((type) => ehr.all(type)));
  return found.flat().map(({ meta: _, ...resource }) => resource);
}
