import { type Command, Option } from 'commander';
import { CLIENT_SCOPES, type KeyRecord, OVERLAP_HOURS, SCOPES } from '../../core/accounts/keys.ts';
import { CONSOLE_ROLES } from '../../core/accounts/roles.ts';
import { hoursUpTo } from './numbers.ts';
import { runOperation } from './operations.ts';

/** `keys` with its sub-commands. */
export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('API keys');
  keys
    .command('create')
    .description('make a key and print it, once')
    .requiredOption('--name <name>', 'what the key is for')
    .option('--test', 'a key for the mock backend')
    .option('--scopes <list>', SCOPES.join(','), CLIENT_SCOPES.join(','))
    .addOption(
      new Option('--console-role <role>', 'sign in to the console with it').choices(CONSOLE_ROLES),
    )
    .action(async (options) => (await import('./keys.ts')).createKey(options));
  keys
    .command('list')
    .description('list keys, without their secrets')
    .action(async () => (await import('./keys.ts')).listKeys());
  keys
    .command('rotate <id>')
    .description('make a key of the same name and scopes and print it, once; the old one ends')
    .option(
      '--overlap-hours <number>',
      'how long the old one works on',
      hoursUpTo(OVERLAP_HOURS.longest),
      OVERLAP_HOURS.usual,
    )
    .action(async (id, options) => (await import('./keys.ts')).rotateKey(id, options));
  keys
    .command('revoke <id>')
    .description('revoke a key for good')
    .action(async (id) => (await import('./keys.ts')).revokeKey(id));
}

/** Prints the new key alone on standard output; it is shown this once. */
export async function createKey(options: {
  name: string;
  test?: boolean;
  scopes: string;
  consoleRole?: string;
}): Promise<void> {
  const { key } = await runOperation<{ key: string }>('keys.create', {
    name: options.name,
    test: options.test ?? false,
    scopes: options.scopes.split(',').map((scope) => scope.trim()),
    ...(options.consoleRole && { consoleRole: options.consoleRole }),
  });
  process.stdout.write(`${key}\n`);
}

export async function listKeys(): Promise<void> {
  const keys = await runOperation<KeyRecord[]>('keys.list', {});
  for (const key of keys) {
    const state = key.revoked_at ? 'revoked' : key.test ? 'test' : 'live';
    const used = key.last_used_at ? `last used ${String(key.last_used_at)}` : 'never used';
    const role = key.console_role ? `  console ${key.console_role}` : '';
    process.stdout.write(
      `${key.id}  ${state}  ${key.name}  ${key.scopes.join(',')}${role}  ${used}\n`,
    );
  }
}

/** Prints the key that takes the place of another, alone on standard output; it is shown this once. */
export async function rotateKey(
  id: string,
  { overlapHours }: { overlapHours: number },
): Promise<void> {
  const { key } = await runOperation<{ key: string }>('keys.rotate', { id, overlapHours });
  process.stdout.write(`${key}\n`);
  process.stderr.write(`${id} works for ${overlapHours} more hours at most\n`);
}

export async function revokeKey(id: string): Promise<void> {
  await runOperation('keys.revoke', { id });
  process.stdout.write(`${id} is revoked\n`);
}
