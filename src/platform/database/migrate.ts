import { readdir, readFile } from 'node:fs/promises';
import { runMigrations } from 'bullmq';
import type { PooledDatabase } from './pooled.ts';
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

/**
 * Applies every `migrations/NNNN-name.sql` missing in the database, all in one transaction, and
 * then BullMQ's own migrations. Several processes may call it at the same time.
 * @returns the names of the applied migrations.
 * @throws OutdatedDatabaseError
 */
export async function migrate(database: PooledDatabase): Promise<string[]> {
  const names = (await readdir(MIGRATIONS)).filter((name) => /^\d{4}-.*\.sql$/.test(name)).sort();
  const applied = await database.longTransaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
    const done = await appliedMigrations(tx);
    const pending = names.filter((name) => !done.has(name));
    for (const name of pending) {
      await tx.query(await readFile(new URL(name, MIGRATIONS), 'utf8'));
      await record(tx, name);
    }
    return pending;
  });
  const client = await database.queuePool.connect();
  try {
    await runMigrations(client);
  } finally {
    client.release();
  }
  return applied;
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
