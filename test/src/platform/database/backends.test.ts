import { rm } from 'node:fs/promises';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../../../src/platform/database/migrate.ts';
import { openDatabase, type PooledDatabase } from '../../../../src/platform/database/open.ts';
import { DatabaseUnreachableError } from '../../../../src/platform/database/pooled.ts';
import { silentLogger as logger } from '../../../../src/platform/logging/logger.ts';
import { freshDataDir } from '../../../peers/embedded.ts';
import { type PostgresServer, startPostgres } from '../../../peers/postgres.ts';

const postgres: PostgresServer | null = await startPostgres();
afterAll(() => postgres?.stop());

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((each) => rm(each, { recursive: true, force: true }))));

async function open(server: boolean): Promise<PooledDatabase> {
  if (server) {
    return openDatabase({ databaseUrl: await postgres?.createDatabase(), dataDir: null, logger });
  }
  const dataDir = await freshDataDir('empty');
  folders.push(dataDir);
  return openDatabase({ dataDir, logger });
}

describe.each([
  { name: 'embedded', server: false },
  { name: 'PostgreSQL server', server: true },
])('database: $name', ({ server }) => {
  const missing = server && !postgres;
  let database: PooledDatabase;

  beforeAll(async () => {
    if (missing) return;
    database = await open(server);
    await database.query('CREATE TABLE things (id integer PRIMARY KEY)');
  });
  afterAll(() => database?.close());

  const ids = async () =>
    (await database.query<{ id: number }>('SELECT id FROM things ORDER BY id')).rows.map(
      ({ id }) => id,
    );

  it('keeps what a transaction wrote, and nothing of one that threw', async ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    await database.transaction((tx) => tx.query('INSERT INTO things VALUES (1)'));
    await expect(
      database.transaction(async (tx) => {
        await tx.query('INSERT INTO things VALUES (2)');
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await ids()).toEqual([1]);
  });

  it('continues after a statement failed inside a transaction', async ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    await expect(
      database.transaction((tx) => tx.query('SELECT nonsense FROM nowhere')),
    ).rejects.toThrow(/nowhere/);
    expect(await ids()).toContain(1);
  });

  it('keeps the statements of others out of an open transaction', async ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    let other: Promise<unknown> = Promise.resolve();
    await database
      .transaction(async (tx) => {
        await tx.query('INSERT INTO things VALUES (10)');
        other = database.query('INSERT INTO things VALUES (11)');
        await new Promise((resolve) => setTimeout(resolve, 50));
        throw new Error('rolled back');
      })
      .catch(() => {});
    await other;
    expect(await ids()).toEqual([1, 11]);
  });

  it('counts the rows that a statement changed', async ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    const update = (where: string) =>
      database.query(`UPDATE things SET id = id WHERE ${where}`).then(({ rowCount }) => rowCount);
    expect(await update('id = 1')).toBe(1);
    expect(await update('id = 999')).toBe(0);
  });

  it('notifies when a transaction commits, not when it is rolled back', async ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    const heard: string[] = [];
    const unlisten = await database.listen('test_channel', (payload) => heard.push(payload));
    const notify = (payload: string, fails: boolean) =>
      database.transaction(async (tx) => {
        await tx.query('SELECT pg_notify($1, $2)', ['test_channel', payload]);
        if (fails) throw new Error('no');
      });
    await notify('lost', true).catch(() => {});
    await notify('kept', false);
    await expect.poll(() => heard).toEqual(['kept']);
    await unlisten();
    await notify('after', false);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(heard).toEqual(['kept']);
  });

  it('returns times as dates and documents as objects', async ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    const at = new Date('2026-01-02T03:04:05.678Z');
    const { rows } = await database.query('SELECT $1::timestamptz AS at, $2::jsonb AS document', [
      at,
      JSON.stringify({ list: [1, 'two', null] }),
    ]);
    expect(rows).toEqual([{ at, document: { list: [1, 'two', null] } }]);
  });

  it('returns numbers, truth values, bytes and lists as JavaScript values', async ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    const { rows } = await database.query<{ bytes: Uint8Array }>(
      `SELECT 7::integer AS whole, 0.5::float8 AS half, true AS yes, NULL AS nothing,
         $1::bytea AS bytes, $2::text[] AS list`,
      [Buffer.from('ab'), ['x', 'y, "z"']],
    );
    const [{ bytes, ...row } = { bytes: Buffer.alloc(0) }] = rows;
    expect(row).toEqual({ whole: 7, half: 0.5, yes: true, nothing: null, list: ['x', 'y, "z"'] });
    expect(Buffer.from(bytes).toString()).toBe('ab');
  });

  it('runs a named statement like any other, as often as it is asked', async ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    const text = `SELECT $1::timestamptz AS at, $2::jsonb AS document, $3::text[] AS list,
      $4::uuid AS id, $5::int8 AS large, $6::boolean AS yes, $7::bytea AS bytes`;
    const at = new Date('2026-03-01T12:00:00.123Z');
    const id = '0189b6f2-7a00-7000-8000-000000000001';
    const document = { a: [1, null, 'ü'] };
    const values = [at, JSON.stringify(document), ['x', 'y, "z"'], id, null, true, Buffer.of(0, 9)];
    const unnamed = await database.query(text, values);
    for (let n = 0; n < 8; n += 1) {
      expect(await database.query(text, values, 'all-types')).toEqual(unnamed);
    }
    expect(unnamed.rows).toMatchObject([{ at, document, list: ['x', 'y, "z"'], id, large: null }]);

    const insert = (n: number) =>
      database.query('INSERT INTO things VALUES ($1)', [n], 'insert-thing');
    expect(await insert(70)).toEqual({ rows: [], rowCount: 1 });
    await expect(insert(70)).rejects.toMatchObject({ code: '23505', constraint: 'things_pkey' });
    expect((await insert(71)).rowCount).toBe(1);
    const none = await database.query('DELETE FROM things WHERE id = $1', [-1], 'delete-thing');
    expect(none).toEqual({ rows: [], rowCount: 0 });
    await expect(database.query('SELECT $1::text', ['x'], 'insert-thing')).rejects.toThrow();

    const heard: string[] = [];
    const stop = await database.listen('named', (payload) => heard.push(payload));
    await database.query(`SELECT pg_notify('named', $1)`, ['news'], 'notify-named');
    await expect.poll(() => heard).toEqual(['news']);
    await stop();
  });

  it('fails a statement with its SQLSTATE and constraint', async ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    await database.query('INSERT INTO things VALUES (77)');
    const again = database.query('INSERT INTO things VALUES ($1)', [77]);
    await expect(again).rejects.toMatchObject({ code: '23505', constraint: 'things_pkey' });
    await database.query('DELETE FROM things WHERE id = 77');
  });

  it('notifies every listener of a channel, until each has ended', async ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    const heard: string[] = [];
    const end = await database.listen('shared', (payload) => heard.push(`first ${payload}`));
    const endSecond = await database.listen('shared', (payload) => heard.push(`second ${payload}`));
    await database.query("SELECT pg_notify('shared', 'a')");
    await expect.poll(() => heard.toSorted()).toEqual(['first a', 'second a']);
    await end();
    await database.query("SELECT pg_notify('shared', 'b')");
    await expect.poll(() => heard).toHaveLength(3);
    expect(heard.at(-1)).toBe('second b');
    await endSecond();
  });

  it('does not block anything else while a statement runs', async ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 5);
    const begin = performance.now();
    await database.query('SELECT sum(sqrt(n)) FROM generate_series(1, 1500000) AS n');
    const milliseconds = performance.now() - begin;
    clearInterval(timer);
    // If the statement ran on the sockets' thread, there would be a single turn, after the
    // statement.
    expect(turns).toBeGreaterThan(Math.min(5, milliseconds / 50));
  });

  it('applies each migration once, in numerical order', async ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    const applied = await migrate(database);
    expect(applied[0]).toBe('0001-schema.sql');
    expect(applied).toEqual([...applied].sort());
    expect(await migrate(database)).toEqual([]);
  });
});

describe('an embedded database whose thread ends by itself', () => {
  it('fails what was under way, loses no committed row, and accepts statements again', async () => {
    const threads: Worker[] = [];
    const onWorker = (worker: Worker) => threads.push(worker);
    process.on('worker', onWorker);
    const database = await open(false);
    process.off('worker', onWorker);
    await database.query('CREATE TABLE kept (id integer PRIMARY KEY)');
    await database.query('INSERT INTO kept VALUES (1)');
    const heard: string[] = [];
    await database.listen('test_channel', (payload) => heard.push(payload));

    const cut = database.transaction(async (tx) => {
      await tx.query('INSERT INTO kept VALUES (2)');
      await threads[0]?.terminate();
      // In the new session, this statement would be committed immediately, outside a transaction.
      await tx.query('INSERT INTO kept VALUES (3)').catch(() => {});
      await tx.query('INSERT INTO kept VALUES (4)');
    });
    await expect(cut).rejects.toBeInstanceOf(DatabaseUnreachableError);

    const { rows } = await database.query('SELECT id FROM kept ORDER BY id');
    expect(rows).toEqual([{ id: 1 }]);
    await expect.poll(() => heard, { timeout: 10_000 }).toEqual(['']);
    await database.query("SELECT pg_notify('test_channel', 'again')");
    await expect.poll(() => heard).toEqual(['', 'again']);
    await database.close();
  });

  it('reports an error if it was only in memory', async () => {
    const threads: Worker[] = [];
    const onWorker = (worker: Worker) => threads.push(worker);
    process.on('worker', onWorker);
    const database = await openDatabase({ dataDir: null, logger });
    process.off('worker', onWorker);
    await threads[0]?.terminate();
    await expect(database.query('SELECT 1')).rejects.toBeInstanceOf(DatabaseUnreachableError);
    await database.close();
  });
});

describe('migrations', () => {
  const migratedBy = async (names: readonly string[]) => {
    const database = await openDatabase({ dataDir: await freshDataDir(), logger });
    await database.query("DELETE FROM schema_migrations WHERE name = '0001-schema.sql'");
    await database.query('INSERT INTO schema_migrations (name) SELECT unnest($1::text[])', [names]);
    return database;
  };

  it('treat a database of version 1.0 as one that already has the schema', async () => {
    const database = await migratedBy(['0001-requests.sql', '0218-receptions-under-way.sql']);
    expect(await migrate(database)).toEqual([]);
    const { rows } = await database.query(
      "SELECT name FROM schema_migrations WHERE name = '0001-schema.sql'",
    );
    expect(rows).toHaveLength(1);
    await database.close();
  });

  it('refuse an older database, and state what to do', async () => {
    const database = await migratedBy(['0001-requests.sql', '0190-console.sql']);
    await expect(migrate(database)).rejects.toThrow('run version 1.0 on it once');
    await database.close();
  });

  it('are repeated while an older process uses a table that they change', async ({ skip }) => {
    if (!postgres) skip('PostgreSQL is not installed');
    const databaseUrl = await postgres?.createDatabase();
    const [newer, older] = await Promise.all(
      [1, 2].map(() => openDatabase({ databaseUrl, dataDir: null, logger })),
    );
    if (!newer || !older) return;
    await migrate(newer);
    await newer.query('ALTER TABLE deliveries DROP COLUMN accepted_at');
    await newer.query("DELETE FROM schema_migrations WHERE name = '0031-accepted-deliveries.sql'");

    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
    const work = older.transaction(async (tx) => {
      await tx.query('SELECT 1 FROM deliveries');
      lock();
      await released;
      // The older process is not kept waiting, and its work is not undone.
      await tx.query('SELECT 1 FROM deliveries');
    });
    await locked;
    const waits: string[] = [];
    const onWait = (error: string) => void waits.push(error);
    const patience = { lockMs: 100, repeatMs: 30_000 };
    const migrated = migrate(newer, onWait, patience);
    await expect.poll(() => waits).toHaveLength(1);
    release();
    await work;
    expect(await migrated).toEqual(['0031-accepted-deliveries.sql']);
    expect(waits).toHaveLength(1);
    await Promise.all([newer.close(), older.close()]);
  });

  it('fail with the error of the database if the table stays in use', async ({ skip }) => {
    if (!postgres) skip('PostgreSQL is not installed');
    const databaseUrl = await postgres?.createDatabase();
    const database = await openDatabase({ databaseUrl, dataDir: null, logger });
    await migrate(database);
    await database.query('ALTER TABLE deliveries DROP COLUMN accepted_at');
    await database.query(
      "DELETE FROM schema_migrations WHERE name = '0031-accepted-deliveries.sql'",
    );
    await database.transaction(async (tx) => {
      await tx.query('SELECT 1 FROM deliveries');
      const patience = { lockMs: 100, repeatMs: 500 };
      await expect(migrate(database, () => {}, patience)).rejects.toThrow('lock timeout');
    });
    await database.close();
  });

  it('are applied once if several processes start simultaneously', async ({ skip }) => {
    if (!postgres) skip('PostgreSQL is not installed');
    const databaseUrl = await postgres?.createDatabase();
    const all = await Promise.all(
      [1, 2, 3].map(() => openDatabase({ databaseUrl, dataDir: null, logger })),
    );
    const applied = await Promise.all(all.map((each) => migrate(each)));
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
    await Promise.all(all.map((each) => each.close()));
  });
});

describe('a listener whose session is ended by the server', () => {
  it('is notified that it may have missed something, and then receives notifications again', async ({
    skip,
  }) => {
    if (!postgres) skip('PostgreSQL is not installed');
    const database = await open(true);
    const heard: string[] = [];
    await database.listen('test_channel', (payload) => heard.push(payload));
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE query LIKE 'LISTEN%' AND datname = current_database()`,
    );
    await expect.poll(() => heard).toEqual(['']);
    await database.query("SELECT pg_notify('test_channel', 'again')");
    await expect.poll(() => heard).toEqual(['', 'again']);
    await database.close();
  });
});
