import type { Logger } from '../logging/logger.ts';
import { openEmbedded } from './embedded.ts';
import type { PooledDatabase } from './pooled.ts';
import { openServer } from './server.ts';

export type { PooledDatabase } from './pooled.ts';

interface DatabaseOptions {
  /** PostgreSQL server; without it the embedded database is opened. */
  databaseUrl?: string | undefined;
  /** Folder that holds `database/`; null keeps the embedded database in memory (tests). */
  dataDir: string | null;
  logger: Logger;
}

/**
 * Opens the system of record; `migrate` brings its tables up to date.
 * @throws DatabaseLockedError when another process has the embedded database open.
 */
export function openDatabase(options: DatabaseOptions): Promise<PooledDatabase> {
  return options.databaseUrl === undefined
    ? openEmbedded(options.dataDir)
    : openServer(options.databaseUrl, options.logger);
}
