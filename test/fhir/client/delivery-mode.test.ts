import type { CapabilityStatement, CapabilityStatementRest } from '@medplum/fhirtypes';
import { describe, expect, test } from 'vitest';
import {
  type DeliveryMode,
  dailyMode,
  deliveryMode,
  simplerMode,
} from '../../../fhir/client/delivery-mode.ts';
import type { FhirServer } from '../../../fhir/client/server.ts';

const WHOLE: DeliveryMode = { transaction: true, conditional: true, updateAsCreate: true };

function statement(rest: Partial<CapabilityStatementRest>): CapabilityStatement {
  return {
    resourceType: 'CapabilityStatement',
    status: 'active',
    date: '2026-01-01',
    kind: 'instance',
    fhirVersion: '4.0.1',
    format: ['json'],
    rest: [{ mode: 'server', ...rest }],
  };
}

describe('what a receiver states', () => {
  test.each<[string, CapabilityStatement | null]>([
    ['nothing', null],
    ['no interactions', statement({})],
    ['transactions', statement({ interaction: [{ code: 'transaction' }] })],
  ])('%s: the whole transaction is tried', (_, stated) => {
    expect(deliveryMode(stated)).toEqual(WHOLE);
  });

  test.each<[string, Partial<CapabilityStatementRest>, Partial<DeliveryMode>]>([
    [
      'only batches: resource by resource',
      { interaction: [{ code: 'batch' }] },
      { transaction: false },
    ],
    [
      'no conditional create: a search first',
      { resource: [{ type: 'Device', conditionalCreate: false }] },
      { conditional: false },
    ],
    [
      'no conditional update: a search first',
      { resource: [{ type: 'Observation', conditionalUpdate: false }] },
      { conditional: false },
    ],
    [
      'no ids chosen by the client: the Provenance follows by itself',
      { resource: [{ type: 'Provenance', updateCreate: false }] },
      { updateAsCreate: false },
    ],
  ])('%s', (_, rest, expected) => {
    expect(deliveryMode(statement(rest))).toEqual({ ...WHOLE, ...expected });
  });
});

test('a receiver that lacks a capability it did not deny is asked for less, until nothing is left', () => {
  const inOrder = { ...WHOLE, transaction: false };
  const searching = { ...inOrder, conditional: false };
  expect(simplerMode(WHOLE)).toEqual(inOrder);
  expect(simplerMode(inOrder)).toEqual(searching);
  expect(simplerMode(searching)).toBeNull();
});

test('the capability statement is read once a day', async () => {
  let reads = 0;
  let time = 0;
  const server: Pick<FhirServer, 'capabilities'> = {
    capabilities: async () => {
      reads += 1;
      return null;
    },
  };
  const mode = dailyMode(server, () => time);
  const day = 24 * 60 * 60 * 1000;
  for (time of [0, 1, day - 1]) await mode.current(AbortSignal.timeout(1000));
  expect(reads).toBe(1);
  time = day;
  await mode.current(AbortSignal.timeout(1000));
  expect(reads).toBe(2);
});

test('what a delivery found out is remembered until the capability statement is read again', async () => {
  let time = 0;
  const mode = dailyMode({ capabilities: async () => null }, () => time);
  const signal = AbortSignal.timeout(1000);
  await mode.current(signal);
  mode.learn({ ...WHOLE, transaction: false });
  expect((await mode.current(signal)).transaction).toBe(false);
  time = 24 * 60 * 60 * 1000;
  expect(await mode.current(signal)).toEqual(WHOLE);
});
