import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../config/load.ts';
import { migrate } from '../../../../src/platform/database/migrate.ts';
import { openDatabase } from '../../../../src/platform/database/open.ts';
import type { PooledDatabase } from '../../../../src/platform/database/pooled.ts';
import type { Queryable } from '../../../../src/platform/database/port.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { dailySteps, writeFilesOf } from '../../../bench/daily-steps.ts';
import { fillHistory } from '../../../bench/history.ts';
import { siteSettings } from '../../../gateway/site.ts';
import { freshDataDir } from '../../../peers/embedded.ts';
import { startPostgres } from '../../../peers/postgres.ts';

/** Many more studies than a page shows. */
const STUDIES = 1500;
/** A page has fifty rows, each with a few rows from other tables. */
const MOST_ROWS = 400;
const ROUND = 7;

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** Returns the number of table rows that the plan read, including those that it discarded. */
function rowsOf(node: PlanNode): number {
  const below = (node.Plans ?? []).reduce((sum, plan) => sum + rowsOf(plan), 0);
  if (node['Relation Name'] === undefined) return below;
  return (
    below + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
  );
}

/** Returns the database such that every statement is explained before it runs. */
function explained(database: PooledDatabase, onRows: (statement: string, rows: number) => void) {
  const explain = async (tx: Queryable, text: string, values?: readonly unknown[]) => {
    await tx.query('SAVEPOINT before');
    const { rows } = await tx.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      values,
    );
    await tx.query('ROLLBACK TO before');
    const [plan] = rows[0]?.['QUERY PLAN'] ?? [];
    if (plan) onRows(text, rowsOf(plan.Plan));
  };
  return {
    ...database,
    query: async (text, values, name) => {
      await database.transaction((tx) => explain(tx, text, values));
      return database.query(text, values, name);
    },
    transaction: (work) =>
      database.transaction((tx) =>
        work({
          query: async (text, values) => {
            await explain(tx, text, values);
            return tx.query(text, values);
          },
        }),
      ),
  } satisfies PooledDatabase;
}

const server = await startPostgres();
if (!server)
  console.warn('PostgreSQL is not installed: statements on a long history are not checked');

describe.skipIf(!server)('on a long history', () => {
  const read = new Map<string, number>();
  let site: Awaited<ReturnType<typeof dailySteps>>;
  let database: PooledDatabase;
  let dataDir: string;

  beforeAll(async () => {
    dataDir = await freshDataDir();
    const databaseUrl = await server?.createDatabase();
    database = await openDatabase({ dataDir, databaseUrl, logger: silentLogger });
    await migrate(database);
    await fillHistory(database, STUDIES);
    await writeFilesOf(dataDir, [1 + ROUND], 1);
    await database.query(
      `UPDATE deliveries SET state = 'pending' WHERE id LIKE 'dlv_%00sr-tid1500'`,
    );
    await database.query('VACUUM ANALYZE');
    // PostgreSQL scans a table of this size sequentially if that is cheaper, but it would not do so
    // with a hundred times as many rows. With these methods switched off, it scans sequentially
    // only if no index helps.
    for (const method of ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin'])
      await database.query(`ALTER ROLE CURRENT_USER SET ${method} = off`);
    await database.close();
    database = await openDatabase({ dataDir, databaseUrl, logger: silentLogger });
    const watched = explained(database, (statement, rows) => {
      read.set(statement, Math.max(rows, read.get(statement) ?? 0));
    });
    site = await dailySteps(
      watched,
      loadConfig({}, siteSettings({ dataDir }, { databaseUrl })),
      10,
    );
  });

  afterAll(async () => {
    await site?.close();
    await database?.close();
    await server?.stop();
    if (dataDir) await rm(dataDir, { recursive: true, force: true });
  });

  it('no page, no claim and no arriving object reads more rows than it shows', async () => {
    for (const step of Object.values(site.steps)) await step(ROUND);
    expect(read.size).toBeGreaterThan(15);
    expect([...read].filter(([, rows]) => rows > MOST_ROWS)).toEqual([]);
  });
});
