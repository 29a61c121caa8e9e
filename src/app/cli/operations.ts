import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '../../../config/load.ts';
import type { Config } from '../../../config/schema.ts';
import { type RunCommand, typedCommands } from '../../operations/commands.ts';
import { callAdminSocket, NoGatewayError } from '../../operations/socket.ts';
import { embeddedFolder } from '../../platform/database/embedded.ts';
import { UsageError } from './exit-status.ts';
import { currentPerson } from './person.ts';

type Environment = Record<string, string | undefined>;

/**
 * Describes which data a command uses if no gateway is running.
 * @param mayMake whether the command may create the data itself, as when the first key is created
 * before the first startup. This is allowed only in a folder specified explicitly. In the default
 * `./data`, the command would usually create a second, empty database. The key would then be
 * unknown to the gateway, which uses another database.
 * @throws UsageError if there is no data.
 */
export function describeSiteData(
  { dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>,
  { mayMake, environment = process.env }: { mayMake: boolean; environment?: Environment },
): string {
  const folder = resolve(dataDir);
  if (databaseUrl !== undefined)
    return `no gateway is running on ${folder}; using the database server`;
  if (existsSync(embeddedFolder(folder)))
    return `data folder: ${folder} (no gateway is running on it)`;
  const named = environment.SONOGATE_DATA_DIR !== undefined || dataDir !== loadConfig({}).dataDir;
  if (mayMake && named) return `data folder: ${folder} (new)`;
  throw new UsageError(
    `no gateway data at ${folder}: start the gateway first, or set SONOGATE_DATA_DIR, SONOGATE_CONFIG or DATABASE_URL to the gateway's values`,
  );
}

/**
 * Runs commands in the running gateway, because only one process at a time can use PGlite. If no
 * gateway is running on the data folder, runs them directly on the database and states on standard
 * error which data is used. The audit trail names the person who runs the command.
 * @throws UsageError if there is no database, because a new, empty one would give wrong answers.
 */
export function commandsFor(config: Config): RunCommand {
  const run = typedCommands(async (name, parameters) => {
    try {
      return await callAdminSocket(config.dataDir, name, parameters);
    } catch (error) {
      if (!(error instanceof NoGatewayError)) throw error;
    }
    sayOnce(describeSiteData(config, { mayMake: name === 'keys.create' }));
    // Imported here, because it loads the queue, which a command sent to a gateway does not need.
    const { openCommands } = await import('../wiring/operations.ts');
    const { run, close } = await openCommands(config);
    try {
      return await run(name, parameters);
    } finally {
      await close();
    }
  });
  return (name, parameters) => run(name, { ...parameters, person: currentPerson() });
}

/** Runs a command for the installation configured on this host. */
export const runCommand: RunCommand = (name, parameters) =>
  commandsFor(loadConfig())(name, parameters);

const said = new Set<string>();

/**
 * Prints a line once per process, because one invocation of the command line may run many commands.
 */
function sayOnce(line: string): void {
  if (said.has(line)) return;
  said.add(line);
  process.stderr.write(`${line}\n`);
}
