import { afterAll, beforeAll, expect, it } from 'vitest';
import { OPERATIONS } from '../../src/doors/http/openapi/operations.ts';
import { attack } from './attack.ts';
import { type AttackedGateway, startAttackedGateway } from './attacked-gateway.ts';
import { httpAttack, type Statuses } from './http-attack.ts';

let gateway: AttackedGateway;
beforeAll(async () => {
  gateway = await startAttackedGateway();
});
afterAll(() => gateway.stop());

it('every operation answers generated and malformed calls without an internal error', async () => {
  const statuses: Statuses = new Map();
  const { warm, end } = await attack(gateway, httpAttack(statuses), {
    seconds: 8,
    seed: 20_261_121,
    // These are enough batches even on a slow machine: with this seed they cover every operation.
    leastBatches: 4,
  });
  const called = new Set([...statuses.keys()].map((name) => name.split(' ')[0]));
  expect(OPERATIONS.map(({ id }) => id).filter((id) => !called.has(id))).toEqual([]);
  expect(end.sockets).toBeLessThanOrEqual(warm.sockets);
});
