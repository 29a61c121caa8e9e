import { readdir, readFile } from 'node:fs/promises';
import { runMigrations } from 'bullmq';
import type { PooledDatabase } from './pooled.ts';

const MIGRATIONS = new URL('./migrations/', import.meta.url);

/** Key of the advisory lock that lets one process migrate at a time: "SONO" in ASCII. */
const ADVISORY_LOCK = 0x534f4e4f;

/**
 * Applies every `migrations/NNNN-name.sql` that the database has not seen, each once and all in one
 * transaction, then BullMQ's own. Safe when several processes start at a time.
 * @returns the names applied now.
 */
export async function migrate(database: PooledDatabase): Promise<string[]> {
  const names = (await readdir(MIGRATIONS)).filter((name) => /^\d{4}-.*\.sql$/.test(name)).sort();
  const applied = await database.transaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
    await tx.query(
      'CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
    );
    const { rows } = await tx.query<{ name: string }>('SELECT name FROM schema_migrations');
    const done = new Set(rows.map((row) => row.name));
    const pending = names.filter((name) => !done.has(name));
    for (const name of pending) {
      await tx.query(await readFile(new URL(name, MIGRATIONS), 'utf8'));
      await tx.query('INSERT INTO schema_migrations (name) VALUES ($1)', [name]);
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
