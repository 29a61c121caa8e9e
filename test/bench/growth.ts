/**
 * Cost of a long history: `node test/bench/growth.ts [--studies 100000] [--objects 50] [--rounds
 * 40]`. Two databases on one PostgreSQL server (commits wait for the disk), one with a hundred
 * studies and one with `--studies`, take turns in each step of `daily-steps.ts`. For each step,
 * reports how many 8 kB pages PostgreSQL touched (`pg_stat_statements`; this number does not depend
 * on other load) and the time it spent. Then retention removes studies with their files from the
 * larger database. Prints tables and writes nothing else.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadConfig } from '../../config/load.ts';
import { removeOldStudies } from '../../src/core/studies/retention.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openDatabase } from '../../src/platform/database/open.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { siteSettings } from '../gateway/site.ts';
import { startPostgres } from '../peers/postgres.ts';
import { dailySteps, writeFilesOf } from './daily-steps.ts';
import { fillHistory } from './history.ts';
import { printTable } from './receivers.ts';

const { values: options } = parseArgs({
  options: {
    studies: { type: 'string', default: '100000' },
    objects: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '40' },
  },
});
const STUDIES = Number(options.studies);
const OBJECTS = Number(options.objects);
const ROUNDS = Number(options.rounds);
/** Studies in the smaller database: enough for its pages to have content. */
const FEW = 100;
/** Number of studies that retention removes together with their files. */
const OLD = 100;

const folder = await mkdtemp(join(tmpdir(), 'sonogate-growth-'));
const postgres = await startPostgres({ durable: true, preload: 'pg_stat_statements' });
if (!postgres) throw new Error('PostgreSQL is not installed');
try {
  const [small, large] = [await site(FEW), await site(STUDIES)];
  const rows: string[][] = [];
  for (const name of Object.keys(small.steps)) {
    const costs = [small, large].map(() => ({ wall: [] as number[], pages: 0, read: 0, ms: 0 }));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [at, { steps, spent }] of [small, large].entries()) {
        const cost = costs[at];
        const [before, begin] = [await spent(), performance.now()];
        await steps[name]?.(round);
        cost?.wall.push(performance.now() - begin);
        const after = await spent();
        if (!cost) continue;
        cost.pages += (after.pages - before.pages) / ROUNDS;
        cost.read += (after.read - before.read) / ROUNDS;
        cost.ms += (after.ms - before.ms) / ROUNDS;
      }
    }
    const shown = (value: (cost: (typeof costs)[number]) => number, digits: number) => {
      const [before = 0, after = 0] = costs.map(value);
      return `${before.toFixed(digits)} → ${after.toFixed(digits)} (${(after / before).toFixed(2)})`;
    };
    rows.push([
      name,
      shown(({ pages }) => pages, 0),
      costs.map(({ read }) => read.toFixed(1)).join(' → '),
      shown(({ ms }) => ms, 2),
      shown(({ wall }) => median(wall), 1),
    ]);
  }
  const span = `${FEW} → ${STUDIES} studies`;
  printTable(
    [`PostgreSQL, ${span}`, 'pages touched (ratio)', 'of them read', 'its ms', 'median ms in all'],
    rows,
  );
  await large.report();
  await large.retain();
  for (const { close } of [small, large]) await close();
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

async function site(studies: number) {
  const dataDir = join(folder, String(studies));
  const databaseUrl = await postgres?.createDatabase();
  const config = loadConfig({}, siteSettings({ dataDir }, { databaseUrl }));
  const database = await openDatabase({ dataDir, databaseUrl, logger: silentLogger });
  await migrate(database);
  await fillHistory(database, studies, OBJECTS);
  // Sets this many of the completed deliveries back to pending.
  await database.query(
    `UPDATE deliveries SET state = 'pending', next_at = now(), ended_at = NULL
     WHERE id IN (SELECT id FROM deliveries ORDER BY id LIMIT $1)`,
    [2 * ROUNDS],
  );
  await database.query('VACUUM ANALYZE');
  await database.query('CREATE EXTENSION pg_stat_statements');
  // The studies whose pages are opened need files.
  await writeFilesOf(
    dataDir,
    Array.from({ length: Math.min(ROUNDS, FEW) }, (_, index) => 1 + index),
    OBJECTS,
  );
  const { steps, received, close } = await dailySteps(database, config, OBJECTS);

  return {
    steps,

    async spent(): Promise<{ pages: number; read: number; ms: number }> {
      const { rows } = await database.query<{ pages: number; read: number; ms: number }>(
        `SELECT sum(shared_blks_hit + shared_blks_read)::float8 AS pages,
           sum(shared_blks_read)::float8 AS read, sum(total_exec_time) AS ms
         FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
         WHERE d.datname = current_database() AND query NOT LIKE '%pg_stat_statements%'`,
      );
      return rows[0] ?? { pages: 0, read: 0, ms: 0 };
    },

    /**
     * Prints the size of the database and of its largest tables, with the share of their indexes.
     */
    async report() {
      const { rows } = await database.query<{ name: string; bytes: number; share: number }>(
        `SELECT relname AS name, pg_total_relation_size(oid)::float8 AS bytes,
           pg_indexes_size(oid)::float8 AS share FROM pg_class
         WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
         ORDER BY bytes DESC LIMIT 6`,
      );
      const all = rows.reduce((sum, { bytes }) => sum + bytes, 0);
      process.stdout.write(
        `\n${(all / studies / OBJECTS).toFixed(0)} bytes of database for each object\n\n`,
      );
      const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);
      printTable(
        ['largest tables', 'MB', 'of it indexes, MB'],
        rows.map(({ name, bytes, share }) => [name, megabytes(bytes), megabytes(share)]),
      );
    },

    async retain() {
      const numbers = Array.from({ length: OLD }, (_, index) => studies - index);
      await writeFilesOf(dataDir, numbers, OBJECTS);
      await database.query(
        `UPDATE requests SET status = 'expired', input = NULL WHERE id = ANY ($1::text[])`,
        [numbers.map((n) => `req_${n}`)],
      );
      const begin = performance.now();
      const oldest = Date.now() - (studies - OLD + 0.5) * 60_000;
      const removal = await removeOldStudies(
        {
          ...{ database, dataDir, objects: received, quarantineDays: null },
          intakeDays: 1,
          now: () => new Date(oldest + 86_400_000),
        },
        false,
      );
      const seconds = (performance.now() - begin) / 1000;
      const rate = (removal.objects / seconds).toFixed(0);
      process.stdout.write(
        `\nRetention: ${removal.studies} studies, ${removal.objects} objects in ` +
          `${seconds.toFixed(2)} s, ${rate} objects/s\n`,
      );
    },

    async close() {
      await close();
      await database.close();
    },
  };
}
