import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Queryable } from '../src/database/port.ts';
import { OBJECT_SUFFIX } from './intake-folder.ts';
import { knownPaths } from './study-queries.ts';

/** Paths looked up in one query. */
const BATCH = 1000;

/** Objects of a day's folder that no row names, as paths below the data folder. */
export async function* unregisteredObjects(
  { database, dataDir }: { database: Queryable; dataDir: string },
  folder: string,
): AsyncGenerator<string> {
  const names = await readdir(join(dataDir, folder));
  const paths = names
    .filter((name) => name.endsWith(OBJECT_SUFFIX))
    .map((name) => join(folder, name));
  for (let start = 0; start < paths.length; start += BATCH) {
    const batch = paths.slice(start, start + BATCH);
    const known = await knownPaths(database, batch);
    yield* batch.filter((path) => !known.has(path));
  }
}
