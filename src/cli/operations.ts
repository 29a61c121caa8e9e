import { loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { callAdminSocket, NoGatewayError } from '../admin/socket.ts';
import { openOperations } from '../wiring/operations.ts';
import { siteDataInWords } from './site-data.ts';

/**
 * Runs one operation in the running gateway, or, when none runs on the data folder, on the database
 * itself: PGlite serves one process at a time. Standard error then says on which.
 * @throws Error when there is no such database: an empty one, made here, would give a wrong answer.
 */
export async function runOperation<Answer>(
  name: string,
  parameters: unknown,
  config: Config = loadConfig(),
): Promise<Answer> {
  try {
    return (await callAdminSocket(config.dataDir, name, parameters)) as Answer;
  } catch (error) {
    if (!(error instanceof NoGatewayError)) throw error;
  }
  tellOnce(siteDataInWords(config, { mayMake: name === 'keys.create' }));
  const { operations, close } = await openOperations(config);
  try {
    const operation = operations[name];
    if (!operation) throw new Error(`there is no operation "${name}"`);
    return (await operation(parameters)) as Answer;
  } finally {
    await close();
  }
}

const told = new Set<string>();

/** A command may run many operations. */
function tellOnce(line: string): void {
  if (told.has(line)) return;
  told.add(line);
  process.stderr.write(`${line}\n`);
}
