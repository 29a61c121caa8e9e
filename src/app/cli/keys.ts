import { type Command, Option } from 'commander';
import { CLIENT_SCOPES, OVERLAP_HOURS, SCOPES, type Scope } from '../../core/accounts/keys.ts';
import type { ConsoleRole } from '../../core/accounts/roles.ts';
import { CONSOLE_ROLES } from '../../core/accounts/roles.ts';
import { hoursUpTo } from './numbers.ts';
import { runCommand } from './operations.ts';

/** `keys` with its sub-commands. */
export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('API keys');
  keys
    .command('create')
    .description('create a key and print it, once')
    .requiredOption('--name <name>', 'what the key is for')
    .option('--test', 'a key for the mock pipeline')
    .option('--scopes <list>', SCOPES.join(','), CLIENT_SCOPES.join(','))
    .addOption(
      new Option('--console-role <role>', 'sign in to the console with it').choices(CONSOLE_ROLES),
    )
    .action(createKey);
  keys
    .command('list')
    .description('list keys, without their secrets')
    .action(() => listKeys());
  keys
    .command('rotate <id>')
    .description('replace a key by one of the same name and scopes and print it, once')
    .option(
      '--overlap-hours <number>',
      'how long the old key still works',
      hoursUpTo(OVERLAP_HOURS.longest),
      OVERLAP_HOURS.usual,
    )
    .action((id, options) => rotateKey(id, options));
  keys
    .command('revoke <id>')
    .description('revoke a key for good')
    .action((id) => revokeKey(id));
}

/** Prints the new key alone on standard output; it is shown only once. */
export async function createKey(options: {
  name: string;
  test?: boolean;
  scopes: string;
  consoleRole?: ConsoleRole;
}): Promise<void> {
  const { key } = await runCommand('keys.create', {
    name: options.name,
    test: options.test ?? false,
    scopes: options.scopes.split(',').map((scope) => scopeOf(scope.trim())),
    ...(options.consoleRole && { consoleRole: options.consoleRole }),
  });
  process.stdout.write(`${key}\n`);
}

function scopeOf(text: string): Scope {
  const scope = SCOPES.find((each) => each === text);
  if (scope) return scope;
  throw new Error(`"${text}" is not a scope; allowed: ${SCOPES.join(', ')}`);
}

export async function listKeys(): Promise<void> {
  const keys = await runCommand('keys.list', {});
  for (const key of keys) {
    const state = key.revoked_at ? 'revoked' : key.test ? 'test' : 'live';
    const used = key.last_used_at ? `last used ${String(key.last_used_at)}` : 'never used';
    const role = key.console_role ? `  console ${key.console_role}` : '';
    process.stdout.write(
      `${key.id}  ${state}  ${key.name}  ${key.scopes.join(',')}${role}  ${used}\n`,
    );
  }
}

/** Prints the replacement of a key, alone on standard output; it is shown only once. */
export async function rotateKey(
  id: string,
  { overlapHours }: { overlapHours: number },
): Promise<void> {
  const { key } = await runCommand('keys.rotate', { id, overlapHours });
  process.stdout.write(`${key}\n`);
  process.stderr.write(`${id} still works for at most ${overlapHours} hours\n`);
}

export async function revokeKey(id: string): Promise<void> {
  await runCommand('keys.revoke', { id });
  process.stdout.write(`${id} is revoked\n`);
}
