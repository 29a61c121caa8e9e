import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { resolve } from 'node:path';
import { loadConfig } from '../../../config/load.ts';
import type { CommandAnswer } from '../../operations/commands.ts';
import { copyDatabase, DatabaseNotEmptyError } from '../../platform/database/copy-database.ts';
import { embeddedFolder, openEmbedded } from '../../platform/database/embedded.ts';
import { DatabaseLockedError } from '../../platform/database/folder-lock.ts';
import { openServer } from '../../platform/database/open.ts';
import { silentLogger } from '../../platform/logging/logger.ts';
import { type AnswerForm, answer } from './answer.ts';
import { EXIT, type ExitStatus, UsageError } from './exit-status.ts';
import { commandsFor, runCommand } from './operations.ts';

/**
 * Removes received studies older than `retention.intakeDays` and quarantined objects older than
 * `retention.quarantineDays`; with `dryRun`, prints how many would be removed.
 */
export async function clean({
  dryRun = false,
  ...form
}: AnswerForm & { dryRun?: boolean }): Promise<void> {
  const config = loadConfig();
  const { intakeDays, quarantineDays } = config.retention;
  const keepsAll = intakeDays === undefined && quarantineDays === undefined;
  // Even a dry run is left to the gateway. This command's configuration may specify a different
  // data folder, and the counts would then belong to another installation.
  const removal = await commandsFor(config)('retention.clean', {
    dryRun: dryRun || keepsAll,
  });
  if (keepsAll) {
    answer(form, removal, [
      'retention.intakeDays and quarantineDays are not set: everything is kept',
    ]);
    return;
  }
  const megabytes = (removal.bytes / 1e6).toFixed(1);
  const verb = dryRun ? 'would remove' : 'removed';
  const what = `${removal.studies} studies, ${removal.objects} objects, ${megabytes} MB`;
  answer(form, removal, [
    `${verb} ${what}; ${removal.quarantined} from the quarantine`,
    ...removal.kept.map(({ because, studies }) => `${studies} old enough, but kept: ${because}`),
  ]);
}

/** Lists every change made to the audit trail since it was sealed. Fails if there is one. */
export async function verifyAudit({
  publicKey = [],
  ...form
}: AnswerForm & { publicKey?: string[] }): Promise<ExitStatus> {
  const verified = await runCommand('audit.verify', {
    publicKeys: publicKey.map((path) => resolve(path)),
  });
  const { intact, seals, rows, unsealed, findings } = verified;
  const lines = findings.map(
    ({ what, seal, row }) =>
      `${what.replaceAll('_', ' ')}: ${row === undefined ? `seal ${seal}` : `row ${row} (seal ${seal})`}`,
  );
  const rest = unsealed === 0 ? '' : `; ${unsealed} after the last seal`;
  const verdict = intact ? 'the audit trail is intact' : 'THE AUDIT TRAIL IS NOT INTACT';
  answer(form, verified, [...lines, `${verdict}: ${rows} rows in ${seals} seals${rest}`]);
  return intact ? EXIT.success : EXIT.failed;
}

/**
 * Writes the audit trail to standard output, one event per line. Depending on the format, an event
 * is a DICOM audit message, a FHIR AuditEvent or our JSON.
 */
export async function exportAudit({ format }: { format: string }): Promise<void> {
  let after: string | null = '0';
  while (after !== null) {
    const page: CommandAnswer<'audit.export'> = await runCommand('audit.export', {
      format,
      after,
    });
    for (const line of page.lines) process.stdout.write(`${line}\n`);
    after = page.next;
  }
}

/**
 * Copies the embedded database in the data folder to the empty PostgreSQL server at DATABASE_URL.
 * Then renames the embedded database, so that a gateway started later without the server cannot
 * silently resume with the old data. Files stay in the data folder, which remains in use.
 * @throws UsageError if there is nothing to copy, a gateway is running, or the server already holds
 * rows.
 */
export async function migrateEmbedded(form: AnswerForm): Promise<void> {
  const { dataDir, databaseUrl } = loadConfig();
  const folder = embeddedFolder(dataDir);
  if (databaseUrl === undefined) {
    throw new UsageError('Set DATABASE_URL to the empty PostgreSQL database to copy into.');
  }
  if (!existsSync(folder)) throw new UsageError(`There is no embedded database in ${folder}.`);
  const from = await openEmbedded(dataDir, silentLogger).catch((error: unknown) => {
    throw error instanceof DatabaseLockedError
      ? new UsageError('The gateway is running on this data folder; stop it first.')
      : error;
  });
  let copied: { table: string; rows: number }[];
  try {
    const to = await openServer(databaseUrl, silentLogger);
    try {
      copied = await copyDatabase(from, to);
    } finally {
      await to.close();
    }
  } catch (error) {
    throw error instanceof DatabaseNotEmptyError ? new UsageError(error.message) : error;
  } finally {
    await from.close();
  }
  const kept = `${folder}.copied-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  await rename(folder, kept);
  const total = copied.reduce((sum, { rows }) => sum + rows, 0);
  answer(form, { tables: copied, kept }, [
    ...copied.filter(({ rows }) => rows > 0).map(({ table, rows }) => `${table}: ${rows}`),
    `${total} rows were copied and compared. The embedded database is now ${kept}; delete it once the ` +
      'gateway has run on the server for a while.',
    'Start the gateway with the same data folder and this DATABASE_URL.',
  ]);
}
