import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../../config/load.ts';
import { enqueueForwards } from '../../../src/core/outbox/deliveries.ts';
import type { DeliveryState } from '../../../src/core/outbox/delivery.ts';
import {
  type CommandParameters,
  type RunCommand,
  typedCommands,
} from '../../../src/operations/commands.ts';
import { createDeliveryOperations } from '../../../src/operations/deliveries.ts';
import { openSite, type Site } from '../core/requests/site.ts';
import { commandsOf } from './no-operations.ts';

let site: Site;
let run: RunCommand;
let count = 0;
const closed: string[] = [];

beforeAll(async () => {
  site = await openSite();
  const node = { type: 'dicom', host: 'localhost', port: 104, aeTitle: 'PACS' };
  const config = loadConfig(
    {},
    {
      destinations: [
        { ...node, name: 'pacs', alternate: 'archive' },
        { ...node, name: 'archive' },
      ],
    },
  );
  const deliveries = createDeliveryOperations(config, site.database, ({ id }) => closed.push(id));
  run = typedCommands(commandsOf({ deliveries }, async () => {}));
});
afterAll(() => site?.close());
beforeEach(() => site.database.query('DELETE FROM deliveries'));

async function add(destination: string, state: DeliveryState): Promise<string> {
  count += 1;
  const instance = `object-${count}`;
  await site.database.transaction((tx) =>
    enqueueForwards(tx, [{ instance, study: 's', revision: 1 }], [destination], 3600),
  );
  const { rows } = await site.database.query<{ id: string }>(
    'UPDATE deliveries SET state = $2 WHERE object = $1 RETURNING id',
    [instance, state],
  );
  return rows[0]?.id ?? '';
}
const list = (filter: CommandParameters<'deliveries.list'> = {}) => run('deliveries.list', filter);
const states = async (destination: string) =>
  (await list({ destination })).map(({ state }) => state).sort();

test('the list is narrowed by destination, state and reason', async () => {
  const dead = await add('pacs', 'dead');
  await add('pacs', 'delivered');
  await add('archive', 'dead');
  await site.database.query(`UPDATE deliveries SET code = 'peer_refused_object' WHERE id = $1`, [
    dead,
  ]);
  expect(await list()).toHaveLength(3);
  expect(await list({ destination: 'pacs', state: 'dead' })).toMatchObject([{ id: dead }]);
  expect(await list({ code: 'peer_refused_object' })).toMatchObject([{ id: dead }]);
  expect(await list({ limit: 1 })).toHaveLength(1);
});

test('everything that was given up at a destination, and nothing else, is sent again', async () => {
  for (const state of ['dead', 'dead', 'delivered', 'diverted'] as const) await add('pacs', state);
  await add('archive', 'dead');
  expect(await run('deliveries.replay-all', { destination: 'pacs' })).toBe(2);
  expect(await states('pacs')).toEqual(['delivered', 'diverted', 'pending', 'pending']);
  expect(await states('archive')).toEqual(['dead']);
});

test('a destination that neither the settings nor a delivery name is reported, not sent nothing', async () => {
  await add('removed', 'delivered');
  const replayed = (destination: string) => run('deliveries.replay-all', { destination });
  expect([await replayed('pacs'), await replayed('removed')]).toEqual([0, 0]);
  await expect(replayed('pcas')).rejects.toMatchObject({
    code: 'not_found',
    detail: 'There is no destination "pcas". Destinations: pacs, archive.',
  });
});

test('dead or waiting deliveries are diverted to the alternate, but none that was sent', async () => {
  for (const state of ['dead', 'pending', 'sending', 'delivered'] as const)
    await add('pacs', state);
  expect(await run('deliveries.divert-all', { destination: 'pacs' })).toBe(2);
  expect(await states('pacs')).toEqual(['delivered', 'diverted', 'diverted', 'sending']);
  expect(await states('archive')).toEqual(['pending', 'pending']);
});

test('one delivery is diverted to the alternate of its destination, or to a given destination', async () => {
  const [first, second] = [await add('pacs', 'dead'), await add('archive', 'dead')];
  expect(await run('deliveries.divert', { id: first })).toMatchObject({
    destination: 'archive',
    alternate_of: first,
  });
  expect(await run('deliveries.divert', { id: second, destination: 'pacs' })).toMatchObject({
    destination: 'pacs',
  });
});

test.each<[string, () => Promise<unknown>]>([
  ['a delivery that is not there', () => run('deliveries.divert', { id: 'dlv_none' })],
  [
    'a destination without an alternate',
    () => run('deliveries.divert-all', { destination: 'archive' }),
  ],
  ['a delivery that is not there', () => run('deliveries.replay', { id: 'dlv_none' })],
])('%s is refused', async (_, refused) => {
  await expect(refused()).rejects.toMatchObject({ code: 'not_found' });
});

test('a destination that accepts no DICOM objects is refused', async () => {
  const id = await add('pacs', 'dead');
  await expect(run('deliveries.divert', { id, destination: 'ehr' })).rejects.toMatchObject({
    code: 'not_found',
  });
  expect(await states('pacs')).toEqual(['dead']);
});

test('a dead delivery is closed by a person with a reason, and reported once', async () => {
  const [id, other] = [await add('pacs', 'dead'), await add('pacs', 'dead')];
  const call = { id, reason: '  The PACS was replaced ', person: 'Sam' };
  expect(await run('deliveries.close', call)).toMatchObject({
    state: 'closed',
    closed: { by: 'Sam', reason: 'The PACS was replaced' },
  });
  expect(await list({ state: 'dead' })).toMatchObject([{ id: other }]);
  expect(await list({ state: 'closed' })).toMatchObject([{ id }]);
  await expect(run('deliveries.close', call)).rejects.toMatchObject({
    code: 'delivery_not_closable',
  });
  expect(closed).toEqual([id]);
  await run('deliveries.replay', { id });
  expect(await states('pacs')).toEqual(['dead', 'pending']);
});

test.each([
  ['without a reason', { reason: ' ' }],
  ['with a reason that names the patient', { reason: 'Entered by hand for Mrs Roe' }],
  ['with a date in the reason', { reason: 'PACS replaced on 2026-10-01' }],
  ['with a reason of two lines', { reason: 'PACS\nreplaced' }],
  ['with too long a reason', { reason: 'x'.repeat(501) }],
  ['by nobody', { reason: 'The PACS was replaced', person: undefined }],
])('a delivery is not closed %s', async (_, given) => {
  const id = await add('pacs', 'dead');
  const call = { id, person: 'Sam', ...given } as CommandParameters<'deliveries.close'>;
  await expect(run('deliveries.close', call)).rejects.toMatchObject({ code: 'invalid_input' });
  expect(await states('pacs')).toEqual(['dead']);
});
