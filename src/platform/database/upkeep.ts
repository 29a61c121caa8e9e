import type { Logger } from '../logging/logger.ts';
import type { Database, Queryable } from './port.ts';

/**
 * Upkeep of the embedded database. A PostgreSQL server has processes that write checkpoints and
 * vacuum tables; PGlite is a single session without them. Without upkeep, its write-ahead log (WAL)
 * and the space of deleted rows would grow until it is closed, its planner would have no
 * statistics, and its transaction numbers would never be frozen.
 */

/** Milliseconds between two rounds, the same as autovacuum_naptime. */
const EVERY_MS = 60_000;

/**
 * A checkpoint is written when the log exceeds this length in bytes, so that the log's files can be
 * reused.
 */
const CHECKPOINT_BYTES = 16 * 1024 ** 2;

/**
 * SQL for the tables that autovacuum would vacuum or analyze with its default settings (vacuum:
 * threshold 50, scale factor 0.2, insert threshold 1000, freeze age 200 million; analyze: threshold
 * 50, scale factor 0.1). Tables with the most rows to remove come first.
 */
const TABLES_IN_NEED = `
  SELECT format('%I.%I', s.schemaname, s.relname) AS name
  FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
  WHERE s.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0)
     OR s.n_ins_since_vacuum > 1000 + 0.2 * greatest(c.reltuples, 0)
     OR s.n_mod_since_analyze > 50 + 0.1 * greatest(c.reltuples, 0)
     OR age(c.relfrozenxid) > 200000000
  ORDER BY s.n_dead_tup DESC`;

/** Vacuums the tables that need it, and writes a checkpoint if the log has grown. */
export async function maintain(database: Queryable): Promise<void> {
  const { rows: tables } = await database.query<{ name: string }>(TABLES_IN_NEED);
  // One statement per table, so that the gateway's own statements can run in between.
  for (const { name } of tables) await database.query(`VACUUM (ANALYZE) ${name}`);
  const { rows } = await database.query<{ grown: boolean }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn) > $1 AS grown
     FROM pg_control_checkpoint()`,
    [CHECKPOINT_BYTES],
  );
  if (rows[0]?.grown) await database.query('CHECKPOINT');
}

/**
 * Maintains the database every minute.
 * @returns a function that stops this.
 */
export function startUpkeep(database: Database, logger: Logger): () => Promise<void> {
  let underWay: Promise<void> | null = null;
  const timer = setInterval(() => {
    underWay ??= maintain(database)
      .catch((error: unknown) => {
        logger.event('database_upkeep_failed', {
          error: error instanceof Error ? error.message : String(error),
        });
      })
      .finally(() => {
        underWay = null;
      });
  }, EVERY_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await underWay;
  };
}
