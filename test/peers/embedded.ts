import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openDatabase } from '../../src/platform/database/open.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';

const copy = promisify(execFile);

/** The code and the migrations that set up a database. */
const SET_UP = fileURLToPath(new URL('../../src/platform/database/', import.meta.url));
/** Templates are kept for later runs. */
const TEMPLATES = fileURLToPath(new URL('../../node_modules/.cache/databases/', import.meta.url));

/**
 * Folders of PostgreSQL's databases template1 and template0. Nothing opens them, and they contain
 * almost half of the files.
 */
const UNUSED = ['base/1', 'base/4'];

/**
 * Returns a data folder with a fresh embedded database, `migrated` or `empty`. Initializing one
 * takes PGlite several seconds, so this is done once and then copied.
 */
export async function freshDataDir(state: 'migrated' | 'empty' = 'migrated'): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sonogate-data-'));
  await copyDatabase(dataDir, state);
  return dataDir;
}

/** Puts a fresh embedded database into a data folder that has none. */
export async function copyDatabase(
  dataDir: string,
  state: 'migrated' | 'empty' = 'migrated',
): Promise<void> {
  // For a thousand small files, `cp` needs a tenth of the processor time of `fs.cp`.
  templates[state] ??= template(state);
  await copy('cp', ['-r', join(await templates[state], 'database'), join(dataDir, 'database')]);
}

const templates: { migrated?: Promise<string>; empty?: Promise<string> } = {};

async function template(state: 'migrated' | 'empty'): Promise<string> {
  const name = `${state}-${await fingerprint()}`;
  const ready = join(TEMPLATES, name);
  if (await stat(ready).catch(() => null)) return ready;
  await removeOutdated(state, name);
  const making = await mkdtemp(`${ready}-`);
  const database = await openDatabase({ dataDir: making, logger: silentLogger });
  if (state === 'migrated') await migrate(database);
  await database.close();
  for (const unused of UNUSED) {
    await rm(join(making, 'database', unused), { recursive: true, force: true });
  }
  // If several test processes make a template at the same time, the first one is kept.
  await rename(making, ready).catch(() => rm(making, { recursive: true, force: true }));
  return ready;
}

async function removeOutdated(state: string, current: string): Promise<void> {
  await mkdir(TEMPLATES, { recursive: true });
  for (const name of await readdir(TEMPLATES)) {
    if (!name.startsWith(`${state}-`) || name.startsWith(current)) continue;
    await rm(join(TEMPLATES, name), { recursive: true, force: true });
  }
}

/** Returns a hash of everything that determines the content of a template. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const require = createRequire(import.meta.url);
  for (const name of ['@electric-sql/pglite', 'bullmq']) {
    hash.update(`${(await stat(require.resolve(name))).mtimeMs}\n`);
  }
  for (const name of (await readdir(SET_UP, { recursive: true })).sort()) {
    if (/\.(ts|sql)$/.test(name)) hash.update(await readFile(join(SET_UP, name)));
  }
  return hash.digest('hex').slice(0, 16);
}
