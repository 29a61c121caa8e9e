import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { loadConfig } from '../../../config/load.ts';
import type { CommandAnswer } from '../../operations/commands.ts';
import { commandsFor, runCommand } from './operations.ts';

/**
 * Removes received studies older than `retention.intakeDays`, or with `dryRun` prints how many
 * would be removed.
 */
export async function clean({ dryRun = false }: { dryRun?: boolean }): Promise<void> {
  const config = loadConfig();
  const { intakeDays, quarantineDays } = config.retention;
  const keepsAll = intakeDays === undefined && quarantineDays === undefined;
  // The gateway is asked even for a dry run, because without its data the answer would describe a
  // different site.
  const removal = await commandsFor(config)('retention.clean', {
    dryRun: dryRun || keepsAll,
    person: userInfo().username,
  });
  if (keepsAll) {
    process.stdout.write(
      'retention.intakeDays and quarantineDays are not set: everything is kept\n',
    );
    return;
  }
  const megabytes = (removal.bytes / 1e6).toFixed(1);
  const verb = dryRun ? 'would remove' : 'removed';
  const what = `${removal.studies} studies, ${removal.objects} objects, ${megabytes} MB`;
  process.stdout.write(`${verb} ${what}; ${removal.quarantined} from the quarantine\n`);
  for (const { because, studies } of removal.kept) {
    process.stdout.write(`${studies} old enough stay: ${because}\n`);
  }
}

/**
 * Lists everything in the audit that has changed since it was sealed. @returns the exit status: 0
 * when nothing has changed.
 */
export async function verifyAudit({ publicKey = [] }: { publicKey?: string[] }): Promise<number> {
  const { intact, seals, rows, unsealed, findings } = await runCommand('audit.verify', {
    publicKeys: publicKey.map((path) => resolve(path)),
    person: userInfo().username,
  });
  for (const { what, seal, row } of findings) {
    process.stdout.write(
      `${what}: ${row === undefined ? `seal ${seal}` : `row ${row} (seal ${seal})`}\n`,
    );
  }
  const rest = unsealed === 0 ? '' : `; ${unsealed} after the last seal`;
  const verdict = intact ? 'the audit is intact' : 'THE AUDIT IS NOT INTACT';
  process.stdout.write(`${verdict}: ${rows} rows in ${seals} seals${rest}\n`);
  return intact ? 0 : 1;
}

/**
 * Writes the audit to standard output, one event on each line: audit messages, AuditEvents or our
 * own form.
 */
export async function exportAudit({ format }: { format: string }): Promise<void> {
  let after: string | null = '0';
  while (after !== null) {
    const page: CommandAnswer<'audit.export'> = await runCommand('audit.export', {
      format,
      after,
      person: userInfo().username,
    });
    for (const line of page.lines) process.stdout.write(`${line}\n`);
    after = page.next;
  }
}
