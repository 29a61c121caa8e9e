import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { embeddedFolder } from '../database/embedded.ts';

type Environment = Record<string, string | undefined>;

/**
 * Says on which data a command works that finds no gateway running.
 * @param mayMake whether the command may make the data itself, as a first key before the first start
 * does: only in a folder that was named. In the default `./data` it would mostly be a second, empty
 * database beside that of the gateway, which does not know the key.
 * @throws Error when there is no data.
 */
export function siteDataInWords(
  { dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>,
  { mayMake, environment = process.env }: { mayMake: boolean; environment?: Environment },
): string {
  const folder = resolve(dataDir);
  if (databaseUrl !== undefined) return `no gateway runs on ${folder}: the server database is used`;
  if (existsSync(embeddedFolder(folder))) return `data folder: ${folder} (no gateway runs on it)`;
  const named = environment.SONOGATE_DATA_DIR !== undefined || dataDir !== loadConfig({}).dataDir;
  if (mayMake && named) return `data folder: ${folder} (new)`;
  throw new Error(
    `no gateway data at ${folder}: start the gateway first, or set SONOGATE_DATA_DIR, SONOGATE_CONFIG or DATABASE_URL as the gateway has them`,
  );
}
