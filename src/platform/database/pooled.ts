import type { PgPool, PgPoolClient } from 'bullmq';
import type { Database, Queryable } from './port.ts';

/** System error codes for a connection that could not be made or that broke. */
const SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);

/**
 * SQLSTATEs of a server that cannot work at present, whatever the statement: connection exceptions
 * (08), resources such as disk, memory and sessions (53), shutdown, start-up and ended sessions
 * (57P0x, 25P03), errors of its operating system (58), and a standby or a read-only database
 * (25006). A statement that timed out (57014), met a deadlock (40P01) or lost against another
 * transaction (40001) succeeds when it is repeated.
 */
const SQLSTATE = /^(08...|53...|57P0[1-5]|57014|58...|25006|25P03|40001|40P01)$/;

/** Message of node-postgres if the server does not answer a statement in time. */
const NO_ANSWER = 'Query read timeout';

/**
 * Messages of node-postgres without a code: a session died during a statement, or no session could
 * be opened or became free in time.
 */
const DIED =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying)/;

/**
 * Thrown if the database server is unreachable or cannot work at present. Neither the statement nor
 * its caller is at fault, so the work can be repeated later.
 */
export class DatabaseUnreachableError extends Error {
  override name = 'DatabaseUnreachableError';
}

/**
 * Returns the error of a statement as its caller should see it: a DatabaseUnreachableError if the
 * server cannot work at present, so that the HTTP API or the DICOM listener can ask clients to try
 * again later; otherwise unchanged.
 */
export function asUnreachable(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  const away =
    SYSTEM_CODES.has(code) ||
    SQLSTATE.test(code) ||
    DIED.test(error.message) ||
    error.message === NO_ANSWER;
  if (!away) return error;
  return new DatabaseUnreachableError(error.message, { cause: error });
}

/** What to correct if the server refuses the account or the database of DATABASE_URL, by SQLSTATE. */
const CORRECTIONS: Readonly<Record<string, string>> = {
  '28000': 'correct the account in DATABASE_URL, or pg_hba.conf on the server',
  '28P01': 'correct the password in DATABASE_URL',
  '3D000': 'create it, or correct its name in DATABASE_URL',
  '42501':
    'the account in DATABASE_URL must own the database and its tables (ALTER DATABASE … OWNER TO …)',
};

/**
 * Returns why the server refuses the account or the database of DATABASE_URL, and what to correct;
 * null for any other error.
 */
export function whyDatabaseRefuses(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  const correction = CORRECTIONS[String(error.code)];
  return correction ? `${error.message}; ${correction}` : null;
}

/** A database that also provides what the queue and the change feed need. */
export interface PooledDatabase extends Database {
  /** Pool whose sessions have BullMQ's schema on the search path. */
  queuePool: PgPool;
  /** True if no other process can be using this database (embedded). */
  exclusive: boolean;
  /** A transaction whose statements may take as long as they need, such as those of a migration. */
  longTransaction: Database['transaction'];
  /**
   * Calls `onNotify` with the payload of each NOTIFY on `channel`, and with an empty payload if
   * notifications may have been missed. The subscription survives a lost connection.
   */
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>>;
}

interface Parts {
  pool: PgPool;
  /** `pool.query` for a named statement, which the session keeps prepared. */
  prepared: (name: string) => PgPool['query'];
  queuePool: PgPool;
  /** Pool without a time limit for statements; `pool` if that has none. */
  longPool?: PgPool;
  exclusive: boolean;
  close(): Promise<void>;
}

const RECONNECT_MILLISECONDS = 1000;

/** Creates the database from a `pg.Pool`, or from anything with the same interface. */
export function openOnPool(parts: Parts): PooledDatabase {
  const { pool, prepared, queuePool, longPool = pool, exclusive, close } = parts;
  const named = (name: string | undefined): Pick<PgPool, 'query'> =>
    name === undefined ? pool : { query: prepared(name) };
  const subscriptions = new Set<() => Promise<void>>();
  return {
    queuePool,
    exclusive,
    query: (text, values, name) => run(named(name), text, values),
    transaction: (work) => runTransaction(pool, work),
    longTransaction: (work) => runTransaction(longPool, work),
    listen: async (channel, onNotify) => {
      const unsubscribe = await subscribe(pool, channel, onNotify);
      subscriptions.add(unsubscribe);
      return () => {
        subscriptions.delete(unsubscribe);
        return unsubscribe();
      };
    },
    close: async () => {
      // A pool ends only when all its sessions have been released.
      await Promise.all([...subscriptions].map((unsubscribe) => unsubscribe()));
      await close();
    },
  };
}

async function run<Row extends object>(
  on: Pick<PgPool, 'query'>,
  text: string,
  values?: readonly unknown[],
) {
  const { rows, rowCount } = await on.query<Row>(text, values).catch(rethrow);
  return { rows, rowCount: rowCount ?? null };
}

function rethrow(error: unknown): never {
  throw asUnreachable(error);
}

async function runTransaction<T>(pool: PgPool, work: (tx: Queryable) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch(rethrow);
  let broken = false;
  try {
    await client.query('BEGIN').catch(rethrow);
    const result = await work({ query: (text, values) => run(client, text, values) });
    await client.query('COMMIT').catch(rethrow);
    return result;
  } catch (error) {
    // A session that did not answer a statement would not answer ROLLBACK either, so it is closed.
    broken = error instanceof DatabaseUnreachableError && error.message === NO_ANSWER;
    if (!broken) {
      await client.query('ROLLBACK').catch(() => {
        broken = true;
      });
    }
    throw error;
  } finally {
    client.release(broken);
  }
}

async function subscribe(
  pool: PgPool,
  channel: string,
  onNotify: (payload: string) => void,
): Promise<() => Promise<void>> {
  let client: PgPoolClient | null = null;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  const connect = async () => {
    const next = await pool.connect();
    next.on('notification', (message) => {
      // The session of an ended subscription may still deliver a notification while it is closing.
      if (!stopped && message.channel === channel) onNotify(message.payload ?? '');
    });
    next.on('error', () => {
      if (client !== next) return;
      client = null;
      next.release(true);
      reconnectLater();
    });
    try {
      await next.query(`LISTEN ${channel}`);
    } catch (error) {
      next.release(true);
      throw error;
    }
    if (stopped) next.release(true);
    else client = next;
  };
  const reconnectLater = () => {
    if (stopped) return;
    timer = setTimeout(() => {
      connect().then(() => onNotify(''), reconnectLater);
    }, RECONNECT_MILLISECONDS);
  };

  await connect();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    client?.release(true);
    client = null;
  };
}
