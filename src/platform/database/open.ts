import pg from 'pg';
import type { Logger } from '../logging/logger.ts';
import { openEmbedded } from './embedded.ts';
import { asUnreachable, openOnPool, type PooledDatabase } from './pooled.ts';

/**
 * Maximum number of database sessions per process: those of the core, and those of the queue with
 * its two listeners. One more runs long transactions.
 */
const CORE_SESSIONS = 12;
const QUEUE_SESSIONS = 6;

/** How long a server may stay silent before it counts as unreachable, in milliseconds. */
interface Patience {
  connectMs: number;
  statementMs: number;
}

/**
 * A server whose host failed, or whose network drops packets, does not close its connections.
 * Without a limit, a statement would wait for the operating system, which gives up after some 15
 * minutes, or forever if the server is only frozen. The limits are far longer than any of our
 * statements takes.
 */
const PATIENCE = { connectMs: 30_000, statementMs: 120_000 } as const satisfies Patience;

/** Milliseconds without traffic after which TCP checks that the server is still there. */
const KEEP_ALIVE_MILLISECONDS = 10_000;

/**
 * Opens a PostgreSQL server (13 or later). Several processes and hosts may share it.
 * @throws DatabaseUnreachableError
 */
export async function openServer(
  databaseUrl: string,
  logger: Logger,
  { connectMs, statementMs }: Patience = PATIENCE,
): Promise<PooledDatabase> {
  const settings = {
    connectionString: databaseUrl,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MILLISECONDS,
    connectionTimeoutMillis: connectMs,
  };
  const limited = { ...settings, query_timeout: statementMs };
  const pool = new pg.Pool({ ...limited, max: CORE_SESSIONS });
  const queuePool = new pg.Pool({
    ...limited,
    max: QUEUE_SESSIONS,
    options: '-c search_path=bullmq',
  });
  const longPool = new pg.Pool({ ...settings, max: 1 });
  // The pool replaces a dead session, and that session's statements fail. But node-postgres also
  // emits "error": on the pool if the session is idle, and on the session itself if it is between
  // two statements of a transaction. Without a listener, each of these events ends the process.
  for (const each of [pool, queuePool, longPool]) {
    each.on('error', () => {});
    each.on('connect', (session) => {
      session.on('error', (error) => {
        logger.event('database_session_lost', { error: error.message });
      });
    });
  }
  const close = async () => {
    await Promise.all([pool.end(), queuePool.end(), longPool.end()]);
  };
  try {
    await pool.query('SELECT 1');
  } catch (error) {
    await close();
    throw asUnreachable(error);
  }
  return openOnPool({
    pool,
    prepared:
      (name) =>
      <Row>(text: string, values: readonly unknown[] = []) =>
        pool.query<Row & pg.QueryResultRow>({ name, text, values: [...values] }),
    queuePool,
    longPool,
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
