import { Option } from 'commander';
import { CLIENT_SCOPES, OVERLAP_HOURS, SCOPES, type Scope } from '../../core/accounts/keys.ts';
import type { ConsoleRole } from '../../core/accounts/roles.ts';
import { CONSOLE_ROLES } from '../../core/accounts/roles.ts';
import type { CommandAnswer } from '../../operations/commands.ts';
import { type AnswerForm, answer } from './answer.ts';
import type { ProgramCommand } from './command.ts';
import { UsageError } from './exit-status.ts';
import { endOf, hoursUpTo } from './numbers.ts';
import { runCommand } from './operations.ts';

export function addKeyCommands(program: ProgramCommand): void {
  const keys = program.command('keys').description('manage API keys');
  keys
    .command('create')
    .description('create a key and print it; it is not shown again')
    .requiredOption('--name <name>', 'name of the key, such as its purpose')
    .option('--test', 'create a test key, which runs the mock pipeline')
    .option(
      '--scopes <list>',
      `${SCOPES.join(',')} (default: ${CLIENT_SCOPES.join(',')}; none with --console-role)`,
    )
    .addOption(
      new Option(
        '--console-role <role>',
        'role in the console for a person who signs in with the key',
      ).choices(CONSOLE_ROLES),
    )
    .option(
      '--expires <when>',
      'when the key expires: a period (90d), a date (2027-01-31) or a date and time',
      (text) => endOf(text),
    )
    .changes(createKey);
  keys
    .command('list')
    .description('list keys, without their secrets')
    .prints((options) => listKeys(options));
  keys
    .command('rotate <id>')
    .description(
      'replace a key with a new one of the same name and scopes, and print it; it is not shown again',
    )
    .option(
      '--overlap-hours <number>',
      'how long the old key keeps working',
      hoursUpTo(OVERLAP_HOURS.longest),
      OVERLAP_HOURS.usual,
    )
    .changes((id, options) => rotateKey(id, options));
  keys
    .command('revoke <id>')
    .description('revoke a key permanently')
    .changes((id, options) => revokeKey(id, options));
}

/** Creates a key and prints only the key on standard output. The key is shown only once. */
async function createKey(
  options: AnswerForm & {
    name: string;
    test?: boolean;
    scopes?: string;
    consoleRole?: ConsoleRole;
    expires?: Date;
  },
): Promise<void> {
  const made = await runCommand('keys.create', {
    name: options.name,
    test: options.test ?? false,
    ...(options.scopes && {
      scopes: options.scopes.split(',').map((scope) => scopeOf(scope.trim())),
    }),
    ...(options.consoleRole && { consoleRole: options.consoleRole }),
    ...(options.expires && { expiresAt: options.expires.toISOString() }),
  });
  answer(options, made, [made.key]);
}

function scopeOf(text: string): Scope {
  const scope = SCOPES.find((each) => each === text);
  if (scope) return scope;
  throw new UsageError(`"${text}" is not a scope; allowed: ${SCOPES.join(', ')}`);
}

/** Prints one line for each key, revoked and expired keys included. */
async function listKeys(form: AnswerForm): Promise<void> {
  const keys = await runCommand('keys.list', {});
  const lines = keys.map((key) => {
    const { id, name, console_role: role, last_used_at: used, expires_at: end } = key;
    return [
      id,
      stateOf(key),
      name,
      key.scopes.join(',') || 'no scopes',
      ...(role ? [`console ${role}`] : []),
      used ? `last used ${used}` : 'never used',
      ...(end ? [`${end > new Date().toISOString() ? 'expires' : 'expired'} ${end}`] : []),
    ].join('  ');
  });
  answer(form, keys, lines.length > 0 ? lines : ['no keys']);
}

function stateOf({ revoked_at: revoked, test }: CommandAnswer<'keys.list'>[number]): string {
  if (revoked) return 'revoked';
  return test ? 'test' : 'live';
}

/**
 * Replaces a key and prints only its replacement on standard output. The replacement is shown only
 * once.
 */
async function rotateKey(
  id: string,
  { overlapHours, ...form }: AnswerForm & { overlapHours: number },
): Promise<void> {
  const made = await runCommand('keys.rotate', { id, overlapHours });
  answer(form, made, [made.key]);
  process.stderr.write(`${id} keeps working for at most ${overlapHours} hours\n`);
}

async function revokeKey(id: string, form: AnswerForm): Promise<void> {
  const record = await runCommand('keys.revoke', { id });
  answer(form, record, [`${id} is revoked`]);
}
