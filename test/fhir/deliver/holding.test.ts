import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceRequest } from '@medplum/fhirtypes';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FhirDestination } from '../../../config/schema.ts';
import type { Decision } from '../../../fhir/deliver/holds.ts';
import { type FhirTestServer, startFhirServer } from '../../peers/fhir-server.ts';
import { DELIVERY, delivererTo, destinationOf, holdsOf, PATIENT } from '../delivering.ts';
import { PATIENT_ID, sampleSubject } from '../sample.ts';

let ehr: FhirTestServer;
let folder: string;

beforeEach(async () => {
  ehr = await startFhirServer();
  folder = await mkdtemp(join(tmpdir(), 'sonogate-holding-'));
});
afterEach(async () => {
  await ehr.close();
  await rm(folder, { recursive: true });
});

/**
 * Sends the sample.
 * @returns the outcome, and what a person is shown.
 */
async function send(
  decision: Decision | null = null,
  settings: Partial<FhirDestination> = {},
  identity: Parameters<typeof sampleSubject>[1] = {},
) {
  const holds = holdsOf(decision);
  const to = delivererTo(destinationOf(ehr, settings), folder, {
    holds,
    subjectOf: async (requestId) => sampleSubject(requestId, identity),
  });
  const outcome = await to.send(DELIVERY, AbortSignal.timeout(30_000));
  return { outcome, candidates: holds.candidates };
}

const release = (choice: Omit<Decision, 'action'> = {}): Decision => ({
  action: 'release',
  ...choice,
});

describe('what a person is shown about a patient who could not be matched', () => {
  test('both records with the identifier, and what agrees and differs in each', async () => {
    const same = await ehr.put(PATIENT);
    const other = await ehr.put({ ...PATIENT, birthDate: '1991-01-01', gender: 'male' });
    const { outcome, candidates } = await send();
    expect(outcome).toMatchObject({ failure: 'permanent', code: 'ehr_patient_ambiguous' });
    expect(candidates).toEqual([
      {
        reference: `Patient/${same.id}`,
        agrees: ['birth date', 'sex', 'family name'],
        differs: [],
      },
      {
        reference: `Patient/${other.id}`,
        agrees: ['family name'],
        differs: ['birth date', 'sex'],
      },
    ]);
  });

  test('records with the same birth date and name, if no record has the identifier', async () => {
    const alike = await ehr.put({
      ...PATIENT,
      name: [{ family: 'Müller' }],
      identifier: [{ system: 'urn:oid:9', value: '1' }],
    });
    await ehr.put({ ...PATIENT, birthDate: '1970-01-01', identifier: undefined });
    const { outcome, candidates } = await send();
    expect(outcome).toMatchObject({ failure: 'transient', code: 'ehr_patient_not_found' });
    expect(candidates.map(({ reference }) => reference)).toEqual([`Patient/${alike.id}`]);
    expect(await ehr.all('DiagnosticReport')).toEqual([]);
  });

  test('nothing, if the receiver cannot search by demographics', async () => {
    ehr.fail('POST /Patient/_search', { kind: 'status', status: 200, body: EMPTY });
    ehr.fail('POST /Patient/_search', { kind: 'status', status: 400 });
    const { outcome, candidates } = await send();
    expect(outcome).toMatchObject({ code: 'ehr_patient_not_found' });
    expect(candidates).toEqual([]);
  });

  test("nobody's name, birth date or number", async () => {
    await ehr.put(PATIENT);
    await ehr.put(PATIENT);
    const { candidates } = await send();
    expect(JSON.stringify(candidates)).not.toMatch(new RegExp(`M.ller|1990|${PATIENT_ID}`));
  });
});

const EMPTY = { resourceType: 'Bundle', type: 'searchset' };

describe('a released report goes to the chosen patient', () => {
  test('whatever the identifiers say', async () => {
    await ehr.put(PATIENT);
    const chosen = await ehr.put({ ...PATIENT, identifier: undefined });
    const reference = `Patient/${chosen.id}`;
    const { outcome } = await send(release({ patient: reference }));
    expect(outcome).toMatchObject({ outcome: 'delivered' });
    const [report] = await ehr.all('DiagnosticReport');
    expect(report?.subject).toEqual({ reference, type: 'Patient' });
    for (const { subject } of await ehr.all('Observation')) {
      expect(subject?.reference).toBe(reference);
    }
  });

  test('even with an issuer that is not mapped', async () => {
    const chosen = await ehr.put(PATIENT);
    const { outcome } = await send(
      release({ patient: `Patient/${chosen.id}` }),
      {},
      { IssuerOfPatientID: 'ELSEWHERE' },
    );
    expect(outcome).toMatchObject({ outcome: 'delivered' });
  });

  test('but not to a record that was deleted or merged', async () => {
    const merged = await ehr.put({ ...PATIENT, active: false });
    for (const patient of [
      'Patient/00000000-0000-4000-8000-000000000000',
      `Patient/${merged.id}`,
    ]) {
      const { outcome } = await send(release({ patient }));
      expect(outcome).toMatchObject({ failure: 'permanent', code: 'ehr_patient_ambiguous' });
    }
    expect(await ehr.all('DiagnosticReport')).toEqual([]);
  });

  test('after matching again if no patient was chosen', async () => {
    expect((await send(release())).outcome).toMatchObject({ code: 'ehr_patient_not_found' });
    await ehr.put(PATIENT);
    expect((await send(release())).outcome).toMatchObject({ outcome: 'delivered' });
  });

  test('but never replaces a report that a person has verified', async () => {
    const known = await ehr.put(PATIENT);
    await send();
    const [report] = await ehr.all('DiagnosticReport');
    if (!report) throw new Error('no report');
    await ehr.put({ ...report, status: 'corrected' });
    const { outcome } = await send(release({ patient: `Patient/${known.id}` }));
    expect(outcome).toMatchObject({ code: 'ehr_already_verified' });
  });
});

test('a rejected report is not sent, whatever the EHR would say', async () => {
  await ehr.put(PATIENT);
  const { outcome } = await send({ action: 'reject' });
  expect(outcome).toMatchObject({ failure: 'permanent', code: 'ehr_withdrawn' });
  expect(ehr.calls).toEqual([]);
});

describe('if an order is required', () => {
  const required = { order: 'required' } as const;
  const orderOf = (subject: string): ServiceRequest => ({
    resourceType: 'ServiceRequest',
    status: 'active',
    intent: 'order',
    identifier: [{ system: 'urn:oid:9.9', value: 'ACC-00042' }],
    subject: { reference: subject },
  });

  test("the patient's order is used", async () => {
    const { id } = await ehr.put(PATIENT);
    const order = await ehr.put(orderOf(`Patient/${id}`));
    expect((await send(null, required)).outcome).toMatchObject({ outcome: 'delivered' });
    const [report] = await ehr.all('DiagnosticReport');
    expect(report?.basedOn?.[0]?.reference).toBe(`ServiceRequest/${order.id}`);
  });

  test.each<[string, (patient: string) => string[], number]>([
    ['none', () => [], 0],
    ['two', (patient) => [patient, patient], 2],
    ['one of another patient', () => ['Patient/stranger'], 1],
  ])('%s: the report is held, with the orders that have the number', async (_, subjects, shown) => {
    const { id } = await ehr.put(PATIENT);
    for (const subject of subjects(`Patient/${id}`)) await ehr.put(orderOf(subject));
    const { outcome, candidates } = await send(null, required);
    expect(outcome).toMatchObject({ failure: 'permanent', code: 'ehr_order_ambiguous' });
    expect(candidates).toHaveLength(shown);
    expect(await ehr.all('DiagnosticReport')).toEqual([]);
  });

  test('a person chooses an order of the patient, or sends without one', async () => {
    const { id } = await ehr.put(PATIENT);
    await ehr.put(orderOf(`Patient/${id}`));
    const second = await ehr.put(orderOf(`Patient/${id}`));
    const order = `ServiceRequest/${second.id}`;
    await send(release({ order }), required);
    expect((await ehr.all('DiagnosticReport'))[0]?.basedOn?.[0]?.reference).toBe(order);
    await send(release({ order: null }), required);
    const [report] = await ehr.all('DiagnosticReport');
    expect(report?.basedOn?.[0]).toMatchObject({ identifier: { value: 'ACC-00042' } });
    expect(report?.basedOn?.[0]?.reference).toBeUndefined();
  });

  test("another patient's order is not used, even if it is chosen", async () => {
    await ehr.put(PATIENT);
    const order = await ehr.put(orderOf('Patient/stranger'));
    const { outcome } = await send(release({ order: `ServiceRequest/${order.id}` }), required);
    expect(outcome).toMatchObject({ failure: 'permanent', code: 'ehr_order_ambiguous' });
  });
});

test('an EHR that keeps no orders still receives reports, if orders are optional', async () => {
  await ehr.put(PATIENT);
  ehr.fail('POST /ServiceRequest/_search', { kind: 'status', status: 404 });
  expect((await send()).outcome).toMatchObject({ outcome: 'delivered' });
});
