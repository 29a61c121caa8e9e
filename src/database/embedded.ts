import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { takeLock } from './lock-file.ts';
import { PglitePool } from './pglite-pool.ts';
import { openOnPool, type PooledDatabase } from './pooled.ts';

/** BullMQ's functions use unqualified names of its own schema; PGlite has one session for all. */
const SEARCH_PATH = 'SET search_path TO public, bullmq';

/** Where the embedded database of a data folder lies. */
export const embeddedFolder = (dataDir: string): string => join(dataDir, 'database');

/**
 * PGlite in the data folder, or in memory when `dataDir` is null (tests). Serves one process.
 * PGlite runs with fsync off: a killed process loses nothing that was committed, a power cut may;
 * a site that needs that guarantee sets DATABASE_URL.
 * @throws DatabaseLockedError when another process has it open.
 */
export async function openEmbedded(dataDir: string | null): Promise<PooledDatabase> {
  if (dataDir === null) return open(await PGlite.create(), () => {});
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const folder = embeddedFolder(dataDir);
  const unlock = takeLock(`${folder}.lock`);
  try {
    return await open(await PGlite.create(folder), unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function open(pglite: PGlite, unlock: () => void): Promise<PooledDatabase> {
  await pglite.exec(SEARCH_PATH);
  const pool = new PglitePool(pglite);
  return openOnPool({
    pool,
    queuePool: pool,
    exclusive: true,
    close: async () => {
      await pool.end();
      unlock();
    },
  });
}
