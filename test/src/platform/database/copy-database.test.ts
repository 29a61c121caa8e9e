import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  copyDatabase,
  DatabaseNotEmptyError,
} from '../../../../src/platform/database/copy-database.ts';
import {
  openDatabase,
  openServer,
  type PooledDatabase,
} from '../../../../src/platform/database/open.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { freshDataDir } from '../../../peers/embedded.ts';
import { type PostgresServer, startPostgres } from '../../../peers/postgres.ts';

/** Values that would change in a copy through JSON, or through JavaScript's numbers and dates. */
const DELICATE = {
  text: 'a "quoted", (bracketed) \\ name\nof two lines, 林',
  microseconds: '2026-01-02 03:04:05.678901+00',
  large: '9007199254740993',
  share: 0.1 + 0.2,
};

const STUDIES = 2500;

let dataDir: string;
let from: PooledDatabase;
let server: PostgresServer | null;
beforeAll(async () => {
  server = await startPostgres();
  dataDir = await freshDataDir();
  from = await openDatabase({ dataDir, logger: silentLogger });
  await fill(from);
});
afterAll(async () => {
  await from.close();
  await server?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

/**
 * Inserts more studies than fit into one batch, a delivery that precedes its alternate, a JSON
 * null, and a gap in an identity column.
 */
async function fill(database: PooledDatabase): Promise<void> {
  await database.query("UPDATE accounts SET name = $1 WHERE id = 'default'", [DELICATE.text]);
  await database.query(
    `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
       identity, first_received_at, last_received_at, complete_after)
     SELECT gen_random_uuid(), '1.2.' || n, 'cart', 'CART', 'S', 'held',
       jsonb_build_object('name', $1::text, 'share', $2::float8, 'n', n),
       $3::timestamptz, now(), now() FROM generate_series(1, $4) AS n`,
    [DELICATE.text, DELICATE.share, DELICATE.microseconds, STUDIES],
  );
  await database.query(
    `INSERT INTO requests (id, model, endpoint, version, status, stage, priority, test, input, files,
       prior_files, metadata, source, cost, deliver_to, created_at)
     VALUES ('r1', 'm', 'e', '1', 'queued', '{}', 'normal', false, 'null', '[]', '[]',
       $1::jsonb, '{}', '{}', '[]', now())`,
    [`{"large": ${DELICATE.large}}`],
  );
  await database.query(
    `INSERT INTO deliveries (id, request_id, kind, destination, object, state, give_up_at)
     VALUES ('z', 'r1', 'dicom', 'pacs', 'sr', 'pending', now())`,
  );
  await database.query(
    `INSERT INTO deliveries (id, request_id, kind, destination, object, state, give_up_at, alternate_of)
     VALUES ('a', 'r1', 'dicom', 'other', 'sr', 'pending', now(), 'z')`,
  );
  await database.query('DELETE FROM study_history WHERE id = (SELECT max(id) FROM study_history)');
}

const filled = async (address: string): Promise<PooledDatabase> => {
  const to = await openServer(address, silentLogger);
  await copyDatabase(from, to);
  return to;
};

describe('a copy of the embedded database on a PostgreSQL server', () => {
  test('has every row, with every value unchanged', async ({ skip }) => {
    if (!server) return skip('PostgreSQL is not installed');
    const to = await openServer(await server.createDatabase(), silentLogger);
    const copied = await copyDatabase(from, to);
    expect(copied).toContainEqual({ table: 'studies', rows: STUDIES });
    const { rows } = await to.query(
      `SELECT identity ->> 'name' AS text, (identity -> 'share')::float8 AS share,
         first_received_at::text AS microseconds, (SELECT metadata ->> 'large' FROM requests) AS large,
         (SELECT input::text FROM requests) AS input, (SELECT name FROM accounts) AS account
       FROM studies WHERE study_instance_uid = '1.2.2500'`,
    );
    expect(rows).toEqual([
      { ...DELICATE, input: 'null', account: DELICATE.text, microseconds: expect.anything() },
    ]);
    const times = await to.query(
      'SELECT count(*)::int AS n FROM studies WHERE first_received_at = $1::timestamptz',
      [DELICATE.microseconds],
    );
    expect(times.rows).toEqual([{ n: STUDIES }]);
    await to.close();
  });

  test("continues numbering after the source's last number, and has its triggers and foreign keys", async ({
    skip,
  }) => {
    if (!server) return skip('PostgreSQL is not installed');
    const to = await filled(await server.createDatabase());
    const LAST = 'SELECT max(id)::int AS id, count(*)::int AS rows FROM study_history';
    const before = (await from.query<{ id: number; rows: number }>(LAST)).rows[0];
    await to.query("UPDATE studies SET state = 'complete' WHERE study_instance_uid = '1.2.1'");
    const after = (await to.query<{ id: number; rows: number }>(LAST)).rows[0];
    expect(after?.rows).toBe((before?.rows ?? 0) + 1);
    // The number of the removed row is not reused.
    expect(after?.id).toBe((before?.id ?? 0) + 2);
    const orphan = to.query(
      `INSERT INTO deliveries (id, request_id, kind, destination, object, state, give_up_at)
       VALUES ('x', 'nobody', 'dicom', 'pacs', 'sr', 'pending', now())`,
    );
    await expect(orphan).rejects.toThrow(/foreign key/);
    await to.close();
  });

  test('is refused by a database that contains rows, which are left unchanged', async ({
    skip,
  }) => {
    if (!server) return skip('PostgreSQL is not installed');
    const to = await filled(await server.createDatabase());
    await expect(copyDatabase(from, to)).rejects.toThrow(DatabaseNotEmptyError);
    const { rows } = await to.query('SELECT count(*)::int AS n FROM studies');
    expect(rows).toEqual([{ n: STUDIES }]);
    await to.close();
  });

  test('is not left half complete if the server ends in the middle', async ({ skip }) => {
    if (!server) return skip('PostgreSQL is not installed');
    const to = await openServer(await server.createDatabase(), silentLogger);
    const query = from.transaction.bind(from);
    let batches = 0;
    const failing = {
      ...from,
      queuePool: from.queuePool,
      query: from.query.bind(from),
      close: async () => {},
      transaction: <T>(work: Parameters<typeof query<T>>[0]) =>
        query<T>((tx) =>
          work({
            query: (text, values) => {
              if (text.startsWith('FETCH') && ++batches > 20) throw new Error('the disk broke');
              return tx.query(text, values);
            },
          }),
        ),
    };
    await expect(copyDatabase(failing, to)).rejects.toThrow('the disk broke');
    for (const table of ['studies', 'requests', 'deliveries', 'instances', 'audit']) {
      expect((await to.query(`SELECT 1 FROM ${table} LIMIT 1`)).rows).toEqual([]);
    }
    await to.close();
  });
});
