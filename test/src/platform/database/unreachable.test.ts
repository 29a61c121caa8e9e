import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { openServer } from '../../../../src/platform/database/open.ts';
import {
  asUnreachable,
  DatabaseUnreachableError,
} from '../../../../src/platform/database/pooled.ts';
import type { Queryable } from '../../../../src/platform/database/port.ts';
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
    ['became a standby', failed('cannot execute UPDATE in a read-only transaction', '25006')],
    ['has a full disk', failed('could not extend file', '53100')],
    ['has no memory left', failed('out of memory', '53200')],
    ['cannot read its files', failed('could not read block', '58030')],
    ['cancelled a statement that took too long', failed('canceling statement', '57014')],
    ['ended a session for being idle', failed('terminating connection', '57P05')],
    ['chose the statement to end a deadlock', failed('deadlock detected', '40P01')],
    ['gave no session in time', failed('timeout exceeded when trying to connect')],
    ['did not answer in time', failed('Query read timeout')],
  ])('states that the database is not available if the server %s', (_, error) => {
    expect(asUnreachable(error)).toMatchObject({ name: 'DatabaseUnreachableError', cause: error });
  });

  test.each([
    ['a broken rule of a table', failed('duplicate key', '23505')],
    ['a lock not granted in the time that we set', failed('lock timeout', '55P03')],
    ['a value out of range', failed('out of range', '22003')],
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

test.skipIf(!server)(
  'a server that keeps its connections open but does not respond cannot be reached',
  async () => {
    if (!server) return;
    const patience = { connectMs: 400, statementMs: 400 };
    const database = await openServer(await server.createDatabase(), silentLogger, patience);
    await database.query('SELECT 1');
    await server.freeze();
    // The first statement finds the open session, each of the others opens a new one.
    const asked = Array.from({ length: 3 }, () => database.query('SELECT 1'));
    const change = database.transaction((tx) => tx.query('SELECT 1'));
    const outcomes = await Promise.allSettled([...asked, change]);
    await server.thaw();
    expect(outcomes.map((one) => one.status === 'rejected' && one.reason.name)).toEqual(
      Array(4).fill('DatabaseUnreachableError'),
    );
    await expect.poll(async () => (await database.query('SELECT 1')).rows.length).toBe(1);
    await database.close();
  },
);

test.skipIf(!server)('a migration may take longer than any other statement', async () => {
  if (!server) return;
  const patience = { connectMs: 5_000, statementMs: 200 };
  const database = await openServer(await server.createDatabase(), silentLogger, patience);
  const slow = (tx: Queryable) => tx.query('SELECT pg_sleep(0.5)');
  await expect(database.transaction(slow)).rejects.toBeInstanceOf(DatabaseUnreachableError);
  await expect(database.longTransaction(slow)).resolves.toMatchObject({ rowCount: 1 });
  await database.close();
});

test.skipIf(!server)('a read-only server is not available', async () => {
  if (!server) return;
  const database = await openServer(await server.createDatabase(), silentLogger);
  await database.query('CREATE TABLE kept (n int)');
  await database.query('SET default_transaction_read_only = on');
  const write = database.query('INSERT INTO kept VALUES (1)');
  await expect(write).rejects.toBeInstanceOf(DatabaseUnreachableError);
  await database.close();
});
