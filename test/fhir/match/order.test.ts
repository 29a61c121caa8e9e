import type { ServiceRequest } from '@medplum/fhirtypes';
import { describe, expect, it } from 'vitest';
import type { FhirServer } from '../../../fhir/client/server.ts';
import { findOrder } from '../../../fhir/match/order.ts';

const PATIENT = { reference: 'Patient/1' };

const order = (id: string, status: ServiceRequest['status']): ServiceRequest => ({
  resourceType: 'ServiceRequest',
  id,
  status,
  intent: 'order',
  subject: PATIENT,
  identifier: [{ value: 'A1' }],
  encounter: { reference: `Encounter/of-${id}` },
});

const found = (
  orders: readonly ServiceRequest[],
  rule: Parameters<typeof findOrder>[1]['rule'] = 'optional',
) => {
  const server = { search: async () => orders, read: async () => null } as unknown as FhirServer;
  const lookup = { accession: 'A1', patient: PATIENT, rule };
  return findOrder(server, lookup, new AbortController().signal);
};

describe('the order of a report', () => {
  it('is the one that replaced a withdrawn order with the same accession number', async () => {
    const orders = [order('withdrawn', 'revoked'), order('current', 'active')];
    expect(await found(orders)).toMatchObject({
      order: { reference: 'ServiceRequest/current' },
      encounter: { reference: 'Encounter/of-current' },
    });
  });

  it.each(['https://ehr.example/fhir/Patient/1', 'Patient/1/_history/3'])(
    'may refer to its patient as %s',
    async (reference) => {
      const one = { ...order('current', 'active'), subject: { reference } };
      expect((await found([one])).order?.reference).toBe('ServiceRequest/current');
    },
  );

  it.each(['revoked', 'entered-in-error', 'draft'] as const)(
    'is never one that is %s: the report then has only the accession number',
    async (status) => {
      const { order: reference, encounter } = await found([order('void', status)]);
      expect(reference?.reference).toBeUndefined();
      expect(reference?.identifier?.value).toBe('A1');
      expect(encounter).toBeUndefined();
    },
  );

  const own = order('own', 'active');
  const other = { ...order('other', 'active'), subject: { reference: 'Patient/2' } };
  it.each([
    [[], 'The receiver has no valid order with this accession number'],
    [[other], 'The order with this accession number belongs to another patient'],
    [[own, own, other], '2 orders of the patient have the accession number'],
  ])('that is required but not known from %j waits for a person', async (orders, detail) => {
    await expect(found(orders, 'required')).rejects.toMatchObject({
      reason: { code: 'ehr_order_ambiguous', detail },
      candidates: orders.map(({ id }) => ({ reference: `ServiceRequest/${id}` })),
    });
  });

  it('that is required is the only one of the patient', async () => {
    const { order: reference } = await found([own, other], 'required');
    expect(reference?.reference).toBe('ServiceRequest/own');
  });
});
