import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openDatabase, openServer } from '../../src/platform/database/open.ts';
import type { PooledDatabase } from '../../src/platform/database/pooled.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { freshDataDir } from './embedded.ts';
import { startPostgres } from './postgres.ts';

/** Environment variable with the address of the migrated database that `freshDatabase` copies. */
const TEMPLATE = 'SONOGATE_TEST_DATABASE';

/** The settings that name a fresh, migrated database, and the data folder that belongs to it. */
export interface FreshDatabase {
  settings: { dataDir: string; databaseUrl?: string };
  /** Removes both. All sessions of the database are ended. */
  remove(): Promise<void>;
}

/** Returns a fresh embedded database, for tests of it. */
export async function embeddedDatabase(): Promise<FreshDatabase> {
  const dataDir = await freshDataDir();
  return {
    settings: { dataDir },
    remove: () => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/**
 * Returns a fresh database for a test that does not depend on the kind of database: on PostgreSQL if
 * that is installed, because opening and closing a gateway on PGlite needs ten times as much processor
 * time.
 */
export async function freshDatabase(): Promise<FreshDatabase> {
  const template = process.env[TEMPLATE];
  if (template === undefined) return embeddedDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'sonogate-data-'));
  const name = `site_${randomUUID().replaceAll('-', '')}`;
  await administer(template, `CREATE DATABASE ${name} TEMPLATE ${databaseIn(template)}`);
  const databaseUrl = Object.assign(new URL(template), { pathname: name }).href;
  return {
    settings: { dataDir, databaseUrl },
    async remove() {
      await administer(template, `DROP DATABASE ${name} WITH (FORCE)`);
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** An open, fresh database, and the data folder that belongs to it. */
export interface OpenDatabase {
  database: PooledDatabase;
  dataDir: string;
  /** Closes and removes the database, and removes the folder. */
  close(): Promise<void>;
}

/** Opens a fresh database for a test that uses it without a gateway. */
export async function openFreshDatabase(): Promise<OpenDatabase> {
  const { settings, remove } = await freshDatabase();
  const database = await openDatabase({ ...settings, logger: silentLogger });
  return {
    database,
    dataDir: settings.dataDir,
    async close() {
      await database.close();
      await remove();
    },
  };
}

const databaseIn = (url: string) => new URL(url).pathname.slice(1);

async function administer(template: string, sql: string): Promise<void> {
  const client = new pg.Client(Object.assign(new URL(template), { pathname: 'postgres' }).href);
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

/** Starts the PostgreSQL server that all test processes of a run share, with the template. */
export default async function startSharedServer(): Promise<(() => Promise<void>) | undefined> {
  const server = await startPostgres();
  if (!server) return undefined;
  const url = await server.createDatabase();
  const database = await openServer(url, silentLogger);
  await migrate(database);
  await database.close();
  process.env[TEMPLATE] = url;
  return server.stop;
}
