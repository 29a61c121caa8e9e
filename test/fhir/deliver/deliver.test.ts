import type { ServiceRequest } from '@medplum/fhirtypes';
import { describe, expect, test } from 'vitest';
import type { Deliverer } from '../../../src/core/outbox/delivery.ts';
import { statementOf } from '../../peers/fhir-server.ts';
import { PATIENT, REQUEST, withEhr } from '../delivering.ts';
import { PATIENT_ID, sampleSubject } from '../sample.ts';

const site = withEhr();
const { deliverer, send } = site;

describe('a result that arrives', () => {
  test('is one preliminary report of the EHR PATIENT, with its Observations', async () => {
    const known = await site.ehr.put(PATIENT);
    expect(await send(deliverer())).toMatchObject({
      outcome: 'delivered',
      detail: expect.stringMatching(/^DiagnosticReport\/\S+, \d+ entries$/),
    });
    const [report, ...others] = await site.ehr.all('DiagnosticReport');
    expect(others).toEqual([]);
    expect(report).toMatchObject({
      status: 'preliminary',
      subject: { reference: `Patient/${known.id}`, identifier: { value: PATIENT_ID } },
    });
    const observations = await site.ehr.all('Observation');
    expect(report?.result?.map((reference) => reference.reference).sort()).toEqual(
      observations.map((observation) => `Observation/${observation.id}`).sort(),
    );
    expect(JSON.stringify(report)).not.toContain('urn:uuid:');
  });

  test('exists once even if it is sent twice', async () => {
    await site.ehr.put(PATIENT);
    const to = deliverer();
    await send(to);
    const before = await site.counts();
    expect(await send(to)).toMatchObject({ outcome: 'delivered' });
    expect(await site.counts()).toEqual(before);
  });

  describe('if an order has its accession number', () => {
    const orderOf = (subject: string): ServiceRequest => ({
      resourceType: 'ServiceRequest',
      status: 'active',
      intent: 'order',
      identifier: [{ system: 'urn:oid:9.9', value: 'ACC-00042' }],
      subject: { reference: subject },
      encounter: { reference: 'Encounter/5' },
    });

    test("is based on the order, in the order's visit", async () => {
      const known = await site.ehr.put(PATIENT);
      const order = await site.ehr.put(orderOf(`Patient/${known.id}`));
      await send(deliverer());
      const [report] = await site.ehr.all('DiagnosticReport');
      expect(report?.basedOn?.[0]?.reference).toBe(`ServiceRequest/${order.id}`);
      expect(report?.encounter?.reference).toBe('Encounter/5');
    });

    test('is based on an order that only a worklist has, too', async () => {
      const known = await site.ehr.put(PATIENT);
      const order = await site.ehr.put(orderOf(`Patient/${known.id}`));
      const joined = {
        accessionNumber: 'ACC-00042',
        placerOrderNumber: '',
        requestedProcedureId: '',
        requestedProcedure: '',
        referringPhysicianName: '',
        joined: ['accessionNumber'],
      };
      await send(
        deliverer({}, { ...sampleSubject(REQUEST, { AccessionNumber: '' }), order: joined }),
      );
      const [report] = await site.ehr.all('DiagnosticReport');
      expect(report?.basedOn?.[0]?.reference).toBe(`ServiceRequest/${order.id}`);
    });

    test.each<[string, (patientId: string) => Promise<unknown>]>([
      ['none', async () => undefined],
      [
        'two',
        async (id) => [
          await site.ehr.put(orderOf(`Patient/${id}`)),
          await site.ehr.put(orderOf(`Patient/${id}`)),
        ],
      ],
      ['one of another patient', () => site.ehr.put(orderOf('Patient/stranger'))],
    ])('states only the number if there is %s, and claims no visit', async (_, prepare) => {
      const known = await site.ehr.put(PATIENT);
      await prepare(known.id);
      await send(deliverer());
      const [report] = await site.ehr.all('DiagnosticReport');
      expect(report?.basedOn?.[0]?.reference).toBeUndefined();
      expect(report?.basedOn?.[0]?.identifier?.value).toBe('ACC-00042');
      expect(report?.encounter).toBeUndefined();
    });
  });

  test('is sent to the base address itself, even if the setting ends with a slash', async () => {
    await site.ehr.put(PATIENT);
    const to = deliverer({ baseUrl: `${site.ehr.baseUrl}/` });
    expect(await send(to)).toMatchObject({ outcome: 'delivered' });
  });

  test('contains no patient identifier in an address', async () => {
    await site.ehr.put(PATIENT);
    await send(deliverer());
    expect(site.ehr.calls.map((call) => call.path).join()).not.toContain(PATIENT_ID);
  });
});

test('a transaction leaves nothing behind if the EHR refuses one of its entries', async () => {
  await site.ehr.put(PATIENT);
  const before = await site.counts();
  const subject = sampleSubject(REQUEST);
  const [instance] = subject.instances;
  if (!instance) throw new Error('the sample has an instance');
  const broken = { ...subject, instances: [{ ...instance, sopInstanceUid: 'not a uid' }] };
  expect(await send(deliverer({}, broken))).toMatchObject({ code: 'ehr_rejected' });
  expect(await site.counts()).toEqual(before);
});

test('an EHR that refuses our ids receives the Provenance after the transaction, only once', async () => {
  await site.restart({
    capabilities: statementOf({ resource: [{ type: 'Provenance', updateCreate: false }] }),
  });
  await site.ehr.put(PATIENT);
  const to = deliverer();
  site.ehr.fail('POST /Provenance', { kind: 'status', status: 503 });
  expect(await send(to)).toMatchObject({ failure: 'transient' });
  expect(await send(to)).toMatchObject({ outcome: 'delivered' });
  // Simulates an EHR that rounds times to the second.
  for (const one of await site.ehr.all('Provenance')) {
    const recorded = new Date(Date.parse(one.recorded) + 500).toISOString();
    await site.ehr.put({ ...one, recorded });
  }
  expect(await send(to)).toMatchObject({ outcome: 'delivered' });
  const [provenance, ...others] = await site.ehr.all('Provenance');
  expect(others).toEqual([]);
  const [report] = await site.ehr.all('DiagnosticReport');
  expect(provenance?.target[0]?.reference).toBe(`DiagnosticReport/${report?.id}`);
  expect(JSON.stringify(provenance)).not.toContain('urn:uuid:');
});

describe('a report that a person has touched', () => {
  test.each(['final', 'amended', 'entered-in-error'] as const)(
    'is kept when it is %s',
    async (status) => {
      await site.ehr.put(PATIENT);
      const to = deliverer();
      await send(to);
      const [report] = await site.ehr.all('DiagnosticReport');
      if (!report) throw new Error('no report');
      await site.ehr.put({ ...report, status, conclusion: 'Seen by a person.' });
      expect(await send(to)).toMatchObject({ failure: 'permanent', code: 'ehr_already_verified' });
      const [kept] = await site.ehr.all('DiagnosticReport');
      expect(kept?.conclusion).toBe('Seen by a person.');
    },
  );
});

test.each<[string, () => Deliverer, object]>([
  [
    'a request without a patient',
    () => deliverer({}, null),
    { failure: 'permanent', code: 'ehr_patient_not_found' },
  ],
  [
    'a destination that is gone',
    () => deliverer({ name: 'other' }),
    { failure: 'permanent', code: 'destination_not_configured' },
  ],
])('%s cannot be sent', async (_, to, expected) => {
  expect(await send(to())).toMatchObject(expected);
});
