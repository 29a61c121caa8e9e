import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { openServer } from '../../../../src/platform/database/open.ts';
import {
  asUnreachable,
  DatabaseUnreachableError,
} from '../../../../src/platform/database/pooled.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { startPostgres } from '../../../peers/postgres.ts';

const failed = (message: string, code?: string) =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

describe('an error of the database', () => {
  test.each([
    ['refuses the connection', failed('connect', 'ECONNREFUSED')],
    ['broke the connection off', failed('read', 'ECONNRESET')],
    ['is ended by its administrator', failed('terminating connection', '57P01')],
    ['is starting', failed('the database system is starting up', '57P03')],
    ['has no session left', failed('too many clients', '53300')],
    ['lost the connection', failed('connection failure', '08006')],
    ['died under a statement', failed('Connection terminated unexpectedly')],
  ])('states that the database cannot be reached if the server %s', (_, error) => {
    expect(asUnreachable(error)).toMatchObject({ name: 'DatabaseUnreachableError', cause: error });
  });

  test.each([
    ['a broken rule of a table', failed('duplicate key', '23505')],
    ['a cancelled statement', failed('canceling statement', '57014')],
    ['a defect of ours', failed('x is not a function')],
  ])('is unchanged for %s', (_, error) => {
    expect(asUnreachable(error)).toBe(error);
  });
});

const server = await startPostgres();
afterAll(() => server?.stop());

test.skipIf(!server)('a killed server cannot be reached; the pool recovers with it', async () => {
  if (!server) return;
  const database = await openServer(await server.createDatabase(), silentLogger);
  const ask = () => database.query('SELECT 1');
  const change = () => database.transaction((tx) => tx.query('SELECT 1'));
  await server.crash();
  // A session still responds until it notices that its server is gone.
  const gone = () => ask().catch((error: unknown) => error);
  await expect.poll(gone).toBeInstanceOf(DatabaseUnreachableError);
  await expect(change()).rejects.toBeInstanceOf(DatabaseUnreachableError);
  await server.resume();
  await expect.poll(async () => (await ask()).rows.length).toBe(1);
  await database.close();
});

test.skipIf(!server)(
  'a server killed between two statements fails the transaction, but not the process',
  async () => {
    if (!server) return;
    const database = await openServer(await server.createDatabase(), silentLogger);
    const notified: string[] = [];
    await database.listen('changed', (payload) => notified.push(payload));
    const work = database.transaction(async (tx) => {
      await tx.query('SELECT 1');
      await server.crash();
      // The session notices that the server is gone while no statement is running.
      await delay(300);
      await tx.query('SELECT 1');
    });
    await expect(work).rejects.toBeInstanceOf(DatabaseUnreachableError);
    await server.resume();
    await expect.poll(() => notified).toContain('');
    await database.query(`NOTIFY changed, 'again'`);
    await expect.poll(() => notified).toContain('again');
    await database.close();
  },
);
