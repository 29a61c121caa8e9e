import { describe, expect, test } from 'vitest';
import type { HoldOperations } from '../../../src/operations/operations.ts';
import { commandsOf } from './no-operations.ts';

/** Records what reaches the queue. fault-table.test.ts covers what the queue does with it. */
function operations() {
  const asked: unknown[] = [];
  const held = {
    id: 'dlv_1',
    request_id: 'req_1',
    destination: 'ehr',
    code: 'ehr_rejected',
    detail: '',
    since: '',
    retried: false,
    candidates: [],
  };
  const keep = async (call: unknown) => {
    asked.push(call);
    return { ...held, identity: null };
  };
  const holds: HoldOperations = {
    list: async () => [held],
    show: keep,
    release: keep,
    reject: keep,
  };
  return { run: commandsOf({ holds }, async () => {}), asked };
}

const BY = { id: 'dlv_1', person: 'ana' };

describe('a command of the hold queue', () => {
  test.each([
    ['holds.show', BY],
    ['holds.release', { ...BY, withoutOrder: false }],
    ['holds.release', { ...BY, patient: 'Patient/7', withoutOrder: true }],
    ['holds.release', { ...BY, order: 'ServiceRequest/7', withoutOrder: false }],
    ['holds.reject', { ...BY, reason: 'a phantom' }],
  ])('%s %j reaches it unchanged', async (name, parameters) => {
    const { run, asked } = operations();
    await run(name, parameters);
    expect(asked).toEqual([parameters]);
  });

  test.each([
    ['holds.show', { id: 'dlv_1' }, /person/],
    ['holds.show', { ...BY, person: ' ' }, /person/],
    ['holds.release', { ...BY, patient: '7' }, /Patient\/<id>/],
    ['holds.release', { ...BY, patient: 'Group/7' }, /Patient\/<id>/],
    ['holds.release', { ...BY, patient: 'Patient/7?x=y' }, /Patient\/<id>/],
    [
      'holds.release',
      { ...BY, order: 'ServiceRequest/7', withoutOrder: true },
      /an order, or none/,
    ],
    ['holds.reject', BY, /reason/],
    ['holds.reject', { ...BY, reason: '' }, /reason/],
  ])('%s %j does not reach it', async (name, parameters, message) => {
    const { run, asked } = operations();
    await expect(run(name, parameters)).rejects.toMatchObject({
      code: 'invalid_input',
      detail: expect.stringMatching(message),
    });
    expect(asked).toEqual([]);
  });
});
