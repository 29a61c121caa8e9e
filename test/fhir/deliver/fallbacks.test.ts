import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CapabilityStatementRest } from '@medplum/fhirtypes';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inOrder, referencesIn } from '../../../fhir/deliver/post-report.ts';
import { buildBundle } from '../../../fhir/resources/bundle.ts';
import {
  type FhirServerOptions,
  type FhirTestServer,
  startFhirServer,
  statementOf,
} from '../../peers/fhir-server.ts';
import { DELIVERY, delivererTo, destinationOf, PATIENT, RESULT_SYSTEM } from '../delivering.ts';
import { sampleResult, sampleSubject } from '../sample.ts';

const SIGNED = {
  draft: false,
  verification: {
    kind: 'verified',
    revision: 1,
    signatures: [
      {
        observer: 'Dr Ada Reader',
        organization: 'Ward',
        at: '2026-01-02T08:00:00Z',
        statement: null,
      },
    ],
  },
} as const;

let ehr: FhirTestServer;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-fallbacks-'));
});
afterEach(async () => {
  await ehr.close();
  await rm(folder, { recursive: true });
});

async function start(options: FhirServerOptions): Promise<void> {
  ehr = await startFhirServer(options);
  await ehr.put(PATIENT);
}

const send = (to = delivererTo(destinationOf(ehr), folder)) =>
  to.send(DELIVERY, AbortSignal.timeout(30_000));

/** The resources left by a transaction at a receiver that supports everything. */
const WHOLE = buildBundle({
  result: sampleResult(),
  subject: sampleSubject(DELIVERY.requestId),
  resultSystem: RESULT_SYSTEM,
  organization: 'Example Hospital',
  patient: { reference: 'Patient/1' },
  pdf: { data: Buffer.from('%PDF-1.4 specimen') },
});

const TYPES = [
  'Device',
  'ImagingStudy',
  'Observation',
  'DocumentReference',
  'DiagnosticReport',
  'Provenance',
] as const;

async function expectOneReport(): Promise<void> {
  for (const type of TYPES) {
    const sent = WHOLE.entry?.filter(({ resource }) => resource?.resourceType === type);
    const there = await ehr.all(type);
    expect(there.length, type).toBe(sent?.length);
    expect(JSON.stringify(there)).not.toContain('urn:uuid:');
  }
  const [report] = await ehr.all('DiagnosticReport');
  const observations = (await ehr.all('Observation')).map(({ id }) => `Observation/${id}`);
  expect(report?.result?.map(({ reference }) => reference).sort()).toEqual(observations.sort());
  const [provenance] = await ehr.all('Provenance');
  expect(provenance?.target[0]?.reference).toBe(`DiagnosticReport/${report?.id}`);
}

const noConditions: Partial<CapabilityStatementRest> = {
  resource: [
    { type: 'Device', conditionalCreate: false },
    { type: 'Observation', conditionalUpdate: false },
  ],
};

describe.each<[string, FhirServerOptions]>([
  [
    'states that it takes no transactions',
    { capabilities: statementOf({ interaction: [{ code: 'batch' }] }) },
  ],
  ['has no conditional interactions', { capabilities: statementOf(noConditions) }],
  [
    'has neither',
    { capabilities: statementOf({ interaction: [{ code: 'batch' }], ...noConditions }) },
  ],
  ['refuses transactions that it did not deny', { lacks: ['transaction'] }],
  [
    'refuses both without a statement',
    { capabilities: null, lacks: ['transaction', 'conditional'] },
  ],
])('a receiver that %s', (_, options) => {
  test('receives the same single report, even if it is sent again', async () => {
    await start(options);
    expect(await send()).toMatchObject({ outcome: 'delivered' });
    await expectOneReport();
    expect(await send()).toMatchObject({ outcome: 'delivered' });
    await expectOneReport();
  });
});

test('what a receiver lacks is discovered once, not for every report', async () => {
  await start({ lacks: ['transaction'] });
  const to = delivererTo(destinationOf(ehr), folder);
  await send(to);
  await send(to);
  const transactions = ehr.calls.filter(({ method, path }) => method === 'POST' && path === '/');
  expect(transactions).toHaveLength(1);
});

test('a connection lost in the middle of sending resource by resource is recovered from', async () => {
  await start({ lacks: ['transaction'] });
  ehr.fail('POST /ImagingStudy', { kind: 'cut-after-commit' });
  const to = delivererTo(destinationOf(ehr), folder);
  expect(await send(to)).toMatchObject({ failure: 'ambiguous' });
  expect(await ehr.all('DiagnosticReport')).toEqual([]);
  expect(await send(to)).toMatchObject({ outcome: 'delivered' });
  await expectOneReport();
});

test('a signed report whose response was lost is sent again, and remains one final report', async () => {
  await start({});
  const result = { ...sampleResult(), ...SIGNED };
  const to = delivererTo(destinationOf(ehr), folder, {
    results: { result: async () => result, artifactPath: async () => null },
    signatures: async () => [{ at: new Date(result.generated_at), status: 'final' as const }],
  });
  const signed = { ...DELIVERY, resultRevision: 1 };
  ehr.fail('POST /', { kind: 'cut-after-commit' });
  const sendSigned = () => to.send(signed, AbortSignal.timeout(30_000));
  expect(await sendSigned()).toMatchObject({ outcome: 'failed' });
  expect(await sendSigned()).toMatchObject({ outcome: 'delivered' });
  const reports = await ehr.all('DiagnosticReport');
  expect(reports.map(({ status }) => status)).toEqual(['final']);
  const observations = await ehr.all('Observation');
  expect(new Set(observations.map(({ status }) => status))).toEqual(new Set(['final']));
});

test('a receiver that does not return the location of a resource is asked for it', async () => {
  await start({ lacks: ['transaction'] });
  ehr.fail('POST /Device', { kind: 'silent' });
  expect(await send()).toMatchObject({ outcome: 'delivered' });
  await expectOneReport();
  const [device] = await ehr.all('Device');
  const measured = (await ehr.all('Observation')).filter(({ device: by }) => by !== undefined);
  expect(new Set(measured.map(({ device: by }) => by?.reference))).toEqual(
    new Set([`Device/${device?.id}`]),
  );
});

test('a body that is too large even without the PDF is sent resource by resource', async () => {
  await start({});
  ehr.fail('POST /', { kind: 'status', status: 413 }, 2);
  expect(await send()).toMatchObject({ outcome: 'delivered' });
  await expectOneReport();
  expect(await ehr.all('Binary')).toHaveLength(1);
});

test('two resources with the same identifier are left to a person', async () => {
  await start({ capabilities: statementOf(noConditions) });
  await send();
  const [observation] = await ehr.all('Observation');
  if (!observation) throw new Error('no Observation');
  await ehr.put({ ...observation, id: undefined });
  expect(await send()).toMatchObject({
    failure: 'permanent',
    code: 'ehr_rejected',
    detail: expect.stringContaining('Observation'),
  });
});

test('entries are ordered so that each follows those to which it refers', () => {
  const ordered = inOrder([...(WHOLE.entry ?? [])].reverse());
  const seen = new Set<string>();
  const all = new Set(ordered.map(({ fullUrl }) => fullUrl));
  for (const { fullUrl = '', resource } of ordered) {
    const inside = referencesIn(resource).filter((reference) => all.has(reference));
    expect(inside.filter((reference) => !seen.has(reference))).toEqual([]);
    seen.add(fullUrl);
  }
  expect(ordered).toHaveLength(WHOLE.entry?.length ?? 0);
});
