import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bundle, BundleEntry } from '@medplum/fhirtypes';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  requiredCapabilities,
  sufficientScopes,
} from '../../../fhir/client/required-capabilities.ts';
import { buildBundle } from '../../../fhir/resources/bundle.ts';
import {
  type Call,
  type FhirTestServer,
  startFhirServer,
  statementOf,
} from '../../peers/fhir-server.ts';
import { DELIVERY, delivererTo, destinationOf, PATIENT, RESULT_SYSTEM } from '../delivering.ts';
import { sampleMeasurement, sampleResult, sampleSubject } from '../sample.ts';
import { validationErrors } from '../validators.ts';

const statement = requiredCapabilities();
const resources = statement.rest?.[0]?.resource ?? [];
const stated = (type: string | undefined) => resources.find((resource) => resource.type === type);
const states = (type: string | undefined, code: string) =>
  stated(type)?.interaction?.some((interaction) => interaction.code === code) ?? false;

test('it is valid for both validators', () => {
  expect(validationErrors(statement)).toEqual([]);
});

test('the page in docs/ is up to date', async () => {
  const page = new URL('../../../docs/fhir-capability-statement.json', import.meta.url);
  expect(JSON.parse(await readFile(page, 'utf8'))).toEqual(statement);
});

describe('it states', () => {
  const entries: [string, BundleEntry][] =
    (
      buildBundle({
        result: sampleResult(),
        subject: sampleSubject(),
        resultSystem: RESULT_SYSTEM,
        organization: 'Example Hospital',
        patient: { reference: 'Patient/1' },
        pdf: { data: Buffer.from('specimen') },
        keyImages: [
          { name: 'a.png', title: 'A', contentType: 'image/png', data: Buffer.from('a') },
        ],
      }) as Bundle
    ).entry?.map((entry) => [String(entry.resource?.resourceType), entry]) ?? [];

  test.each([...new Map(entries)])('the entry of a %s', (type, { request }) => {
    if (request?.ifNoneExist) expect(stated(type)?.conditionalCreate).toBe(true);
    else if (request?.url?.includes('?')) expect(stated(type)?.conditionalUpdate).toBe(true);
    else expect(stated(type)?.updateCreate).toBe(true);
    expect(states(type, request?.method === 'POST' ? 'create' : 'update')).toBe(true);
  });
});

describe('every call that we make is stated in it', () => {
  let ehr: FhirTestServer;
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sonogate-stated-'));
  });
  afterEach(async () => {
    await ehr.close();
    await rm(folder, { recursive: true });
  });

  /** Returns the type and interaction of a request; null for whole-system requests. */
  function interactionOf({ method, path }: Call): { type: string; code: string } | null {
    const [, type = '', last] = path.split('?')[0]?.split('/') ?? [];
    if (type === '' || type === 'metadata') return null;
    if (method === 'GET') return { type, code: 'read' };
    if (last === '_search') return { type, code: 'search-type' };
    return { type, code: method === 'PUT' ? 'update' : 'create' };
  }

  test.each([
    ['with transactions', [{ code: 'transaction' as const }]],
    ['resource by resource', [{ code: 'batch' as const }]],
  ])("%s: first run, re-run, and a person's choice", async (_, interaction) => {
    ehr = await startFhirServer({ capabilities: statementOf({ interaction }) });
    const { id } = await ehr.put(PATIENT);
    const measurements = [sampleMeasurement('hc', 280, 'hc-ellipse')];
    const results = [
      sampleResult({ generated_at: '2026-03-04T10:00:00.000Z' }),
      sampleResult({ generated_at: '2026-03-04T11:00:00.000Z', measurements, findings: [] }),
    ];
    const choice = { action: 'release', patient: `Patient/${id}` } as const;
    for (const [run, decision] of [null, choice].entries()) {
      const outcome = await delivererTo(destinationOf(ehr, { inlinePdfMegabytes: 0 }), folder, {
        results: { result: async () => results[run], artifactPath: async () => null },
        earlierRequests: async () => (run === 0 ? [] : ['req_0']),
        holds: { decisionOn: async () => decision, keepCandidates: async () => {} },
      }).send({ ...DELIVERY, requestId: `req_${run}` }, AbortSignal.timeout(30_000));
      expect(outcome).toMatchObject({ outcome: 'delivered' });
    }
    for (const asked of ehr.calls.flatMap((call) => interactionOf(call) ?? [])) {
      expect(states(asked.type, asked.code), `${asked.code} of ${asked.type}`).toBe(true);
    }
  });
});

test('the documented scopes allow everything that it states, but no delete', () => {
  expect(sufficientScopes()).toContain('system/DiagnosticReport.cus');
  expect(sufficientScopes()).toContain('system/ServiceRequest.rs');
  expect(sufficientScopes().join(' ')).not.toMatch(/\.\w*d/);
});
