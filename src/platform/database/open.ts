import pg from 'pg';
import { EVENTS } from '../logging/events.ts';
import type { Logger } from '../logging/logger.ts';
import { openEmbedded } from './embedded.ts';
import { openOnPool, type PooledDatabase } from './pooled.ts';

/**
 * Maximum number of database sessions per process: those of the core, and those of the queue with
 * its two listeners.
 */
const CORE_SESSIONS = 12;
const QUEUE_SESSIONS = 6;

/** Opens a PostgreSQL server (13 or later). Several processes and machines may share it. */
export async function openServer(databaseUrl: string, logger: Logger): Promise<PooledDatabase> {
  const settings = { connectionString: databaseUrl, keepAlive: true };
  const pool = new pg.Pool({ ...settings, max: CORE_SESSIONS });
  const queuePool = new pg.Pool({
    ...settings,
    max: QUEUE_SESSIONS,
    options: '-c search_path=bullmq',
  });
  // The pool replaces a dead session, and that session's statements fail. But node-postgres also
  // emits "error": on the pool if the session is idle, and on the session itself if it is between
  // two statements of a transaction. Without a listener, each of these events ends the process.
  for (const each of [pool, queuePool]) {
    each.on('error', () => {});
    each.on('connect', (session) => {
      session.on('error', (error) => {
        logger.event(EVENTS.databaseSessionLost, { error: error.message });
      });
    });
  }
  const close = async () => {
    await Promise.all([pool.end(), queuePool.end()]);
  };
  try {
    await pool.query('SELECT 1');
  } catch (error) {
    await close();
    throw error;
  }
  return openOnPool({
    pool,
    prepared:
      (name) =>
      <Row>(text: string, values: readonly unknown[] = []) =>
        pool.query<Row & pg.QueryResultRow>({ name, text, values: [...values] }),
    queuePool,
    exclusive: false,
    close,
  });
}

export type { PooledDatabase } from './pooled.ts';

interface DatabaseOptions {
  /** URL of the PostgreSQL server; if absent, the embedded database is opened. */
  databaseUrl?: string | undefined;
  /** Folder that contains `database/`; null keeps the embedded database in memory (tests). */
  dataDir: string | null;
  logger: Logger;
}

/**
 * Opens the system of record; `migrate` brings its tables up to date.
 * @throws DatabaseLockedError if another process has the embedded database open.
 */
export function openDatabase(options: DatabaseOptions): Promise<PooledDatabase> {
  return options.databaseUrl === undefined
    ? openEmbedded(options.dataDir, options.logger)
    : openServer(options.databaseUrl, options.logger);
}
