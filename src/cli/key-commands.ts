import { type Command, Option } from 'commander';
import { CLIENT_SCOPES, OVERLAP_HOURS, SCOPES } from '../accounts/keys.ts';
import { CONSOLE_ROLES } from '../console/roles.ts';
import { hoursUpTo } from './numbers.ts';

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
