import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { runMigrations } from 'bullmq';
import { DatabaseUnreachableError, type PooledDatabase } from './pooled.ts';
import type { Queryable } from './port.ts';

const MIGRATIONS = new URL('./migrations/', import.meta.url);

/** Key of the advisory lock that lets one process migrate at a time: "SONO" in ASCII. */
const ADVISORY_LOCK = 0x534f4e4f;

/** The first migration, and the last of the 37 that it replaced (migrations/README.md). */
const SCHEMA = '0001-schema.sql';
const LAST_REPLACED = '0218-receptions-under-way.sql';

/** Thrown if the database has only some of the migrations replaced by `0001-schema.sql`. */
class OutdatedDatabaseError extends Error {
  override name = 'OutdatedDatabaseError';
  constructor() {
    super(
      'This database is older than version 1.0 of Sonogate: run version 1.0 on it once, then this version.',
    );
  }
}

/** How patient a migration is with processes that use the tables, in milliseconds. */
interface Patience {
  /**
   * How long a statement waits for a table. Meanwhile, every other statement on that table, and on
   * those that the migration has already changed, waits too. The limit is therefore shorter than
   * the time for which a modality waits for the response to a C-STORE.
   */
  lockMs: number;
  /** For how long a migration that did not get its tables is repeated. */
  repeatMs: number;
}

const PATIENCE = { lockMs: 3000, repeatMs: 120_000 } as const satisfies Patience;

/**
 * Mean pause before a migration is repeated. Each pause varies, so that the repetitions do not
 * always coincide with the same periodic work.
 */
const PAUSE_MS = 1000;

/** SQLSTATEs of a statement that did not get its lock: in a deadlock, or in the time allowed. */
const LOCKED_OUT: ReadonlySet<unknown> = new Set(['40P01', '55P03']);

/**
 * Applies every `migrations/NNNN-name.sql` missing in the database, all in one transaction, and
 * then BullMQ's own migrations. Several processes may call it at the same time. During a rolling
 * upgrade, older processes use the tables: a migration that does not get them is undone and
 * repeated.
 * @param onLockedOut called the first time that the migration is undone.
 * @returns the names of the applied migrations.
 * @throws OutdatedDatabaseError
 * @throws the error of the database if the tables could not be changed in two minutes.
 */
export async function migrate(
  database: PooledDatabase,
  onLockedOut: (error: string) => void = () => {},
  { lockMs, repeatMs }: Patience = PATIENCE,
): Promise<string[]> {
  const names = (await readdir(MIGRATIONS)).filter((name) => /^\d{4}-.*\.sql$/.test(name)).sort();
  const until = Date.now() + repeatMs;
  let applied: string[] | null = null;
  for (let times = 0; applied === null; times += 1) {
    try {
      applied = await applyMissing(database, names, lockMs);
    } catch (error) {
      if (!LOCKED_OUT.has(sqlStateOf(error)) || Date.now() > until) throw error;
      if (times === 0) onLockedOut(String(error));
      await delay(PAUSE_MS * (0.5 + Math.random()));
    }
  }
  const client = await database.queuePool.connect();
  try {
    await runMigrations(client);
  } finally {
    client.release();
  }
  return applied;
}

function sqlStateOf(error: unknown): unknown {
  if (error instanceof DatabaseUnreachableError) return sqlStateOf(error.cause);
  return error instanceof Error && 'code' in error ? error.code : null;
}

function applyMissing(
  database: PooledDatabase,
  names: readonly string[],
  lockMs: number,
): Promise<string[]> {
  return database.longTransaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
    // Set only now, because the wait for another migrating process has no limit.
    await tx.query(`SET LOCAL lock_timeout = ${lockMs}`);
    const done = await appliedMigrations(tx);
    const pending = names.filter((name) => !done.has(name));
    for (const name of pending) {
      await tx.query(await readFile(new URL(name, MIGRATIONS), 'utf8'));
      await record(tx, name);
    }
    return pending;
  });
}

async function appliedMigrations(tx: Queryable): Promise<ReadonlySet<string>> {
  await tx.query(
    'CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
  );
  const { rows } = await tx.query<{ name: string }>('SELECT name FROM schema_migrations');
  const done = new Set(rows.map((row) => row.name));
  if (done.size === 0 || done.has(SCHEMA)) return done;
  if (!done.has(LAST_REPLACED)) throw new OutdatedDatabaseError();
  await record(tx, SCHEMA);
  return done.add(SCHEMA);
}

async function record(tx: Queryable, name: string): Promise<void> {
  await tx.query('INSERT INTO schema_migrations (name) VALUES ($1)', [name]);
}
