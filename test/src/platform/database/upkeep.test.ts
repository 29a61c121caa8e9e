import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { embeddedFolder } from '../../../../src/platform/database/embedded.ts';
import { openDatabase, type PooledDatabase } from '../../../../src/platform/database/open.ts';
import { maintain } from '../../../../src/platform/database/upkeep.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { freshDataDir } from '../../../peers/embedded.ts';

const ROWS = 4000;
const ROUNDS = 6;
const MEBIBYTE = 1024 ** 2;

let dataDir = '';
let database: PooledDatabase;

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  dataDir = await freshDataDir();
  database = await openDatabase({ dataDir, logger: silentLogger });
  await database.query('CREATE TABLE jobs (id int PRIMARY KEY, round int, body text)');
  await database.query('CREATE INDEX ON jobs (round)');
});
afterAll(async () => {
  vi.useRealTimers();
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function sizeOf(part: string): Promise<number> {
  const folder = join(embeddedFolder(dataDir), part);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Replaces every row with a new one, as a queue does with its jobs. */
const rewrite = (round: number) =>
  database.query(
    `INSERT INTO jobs SELECT n, $1::int, repeat(md5((n * ($1::int + 1))::text), 60)
     FROM generate_series(1, ${ROWS}) n
     ON CONFLICT (id) DO UPDATE SET round = excluded.round, body = excluded.body`,
    [round],
  );

const tableBytes = async () =>
  Number(
    (await database.query<{ bytes: string }>("SELECT pg_table_size('jobs') AS bytes")).rows[0]
      ?.bytes,
  );

describe('in a table that is rewritten again and again', () => {
  let once = 0;
  beforeAll(async () => {
    await rewrite(0);
    once = await tableBytes();
    for (let round = 1; round <= ROUNDS; round += 1) {
      await rewrite(round);
      // PostgreSQL counts the effect of a statement about a second later.
      await vi.waitFor(async () => {
        vi.advanceTimersByTime(60_000);
        const { rows } = await database.query<{ updated: string; dead: string }>(
          `SELECT n_tup_upd AS updated, n_dead_tup AS dead
           FROM pg_stat_user_tables WHERE relname = 'jobs'`,
        );
        expect({ updated: Number(rows[0]?.updated), dead: Number(rows[0]?.dead) }).toEqual({
          updated: round * ROWS,
          dead: 0,
        });
      }, 20_000);
    }
  }, 120_000);

  test('the space of earlier rows is reused', async () => {
    // There are two versions of each row, the old and the new one, but not `ROUNDS` versions.
    expect(await tableBytes()).toBeLessThan(3 * once);
  });

  test('the log of changes stays within its limit, however much is written', async () => {
    const { rows } = await database.query<{ written: string }>(
      "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS written",
    );
    expect(Number(rows[0]?.written)).toBeGreaterThan(100 * MEBIBYTE);
    expect(await sizeOf('pg_wal')).toBeLessThanOrEqual(81 * MEBIBYTE);
  });

  test('the planner knows how many rows there are', async () => {
    const { rows } = await database.query(
      "SELECT reltuples::int AS rows FROM pg_class WHERE relname = 'jobs'",
    );
    expect(rows).toEqual([{ rows: ROWS }]);
  });
});

test('a database in which nothing has changed is left untouched', async () => {
  const end = async () =>
    (await database.query('SELECT pg_current_wal_insert_lsn() AS at')).rows[0]?.at;
  await maintain(database);
  const before = await end();
  await maintain(database);
  expect(await end()).toBe(before);
});
