import { cp, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';

/**
 * A data folder with a fresh embedded database. PGlite needs seconds to initialize one, so that is
 * done once per version of it and copied after that.
 */
export async function freshDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sonogate-data-'));
  await cp(await template(), join(dataDir, 'database'), { recursive: true });
  return dataDir;
}

async function template(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const { mtimeMs } = await stat(dirname(entry));
  const ready = join(tmpdir(), `sonogate-pglite-template-${Math.round(mtimeMs)}`);
  if (await stat(ready).catch(() => null)) return ready;
  const making = await mkdtemp(`${ready}-`);
  const pglite = await PGlite.create(making);
  await pglite.close();
  // Of several test processes the first one's stays.
  await rename(making, ready).catch(() => rm(making, { recursive: true, force: true }));
  return ready;
}
