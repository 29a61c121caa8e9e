import type { CapabilityStatement, CapabilityStatementRest } from '@medplum/fhirtypes';
import { describe, expect, test } from 'vitest';
import { dailyMode, deliveryMode } from '../../fhir/capabilities.ts';
import type { FhirServer } from '../../fhir/server.ts';

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
    expect(deliveryMode(stated)).toEqual({ updateAsCreate: true });
  });

  test.each<[string, Partial<CapabilityStatementRest>, RegExp]>([
    ['only batches', { interaction: [{ code: 'batch' }] }, /transactions/],
    [
      'no conditional create',
      { resource: [{ type: 'Device', conditionalCreate: false }] },
      /conditional create/,
    ],
    [
      'no conditional update',
      { resource: [{ type: 'Observation', conditionalUpdate: false }] },
      /conditional update of Observation/,
    ],
  ])('%s: it is refused before anything is sent', (_, rest, message) => {
    expect(() => deliveryMode(statement(rest))).toThrow(message);
  });

  test('no ids chosen by the client: the Provenance must follow by itself', () => {
    const stated = statement({ resource: [{ type: 'Provenance', updateCreate: false }] });
    expect(deliveryMode(stated)).toEqual({ updateAsCreate: false });
  });
});

test('the statement is read once a day', async () => {
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
  for (time of [0, 1, day - 1]) await mode(AbortSignal.timeout(1000));
  expect(reads).toBe(1);
  time = day;
  await mode(AbortSignal.timeout(1000));
  expect(reads).toBe(2);
});
