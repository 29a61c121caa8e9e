import { constants, statSync } from 'node:fs';
import { copyFile, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import type { Routing } from '../../../../config/routing.ts';
import { SonogateError } from '../../../platform/errors/catalogue.ts';
import type { Logger } from '../../../platform/logging/logger.ts';
import type { RecordAction } from '../../audit/audit.ts';

export interface RulesSource {
  current(): Routing;
  /**
   * Writes checked rules to the settings file, which is then read again; null if there is no
   * settings file.
   * @param record records the change in the audit trail. It is called before the file is replaced.
   * @returns the name of the backup copy of the previous file, in the same folder.
   * @throws SonogateError `forbidden` if the file cannot be written, `invalid_config` if the gateway
   * could not start with it.
   */
  save: ((yaml: string, at: Date, record: RecordAction) => Promise<string>) | null;
  stop(): void;
}

export function fixedRules(routing: Routing): RulesSource {
  return { current: () => routing, save: null, stop() {} };
}

const LOOK_MILLISECONDS = 1000;

/**
 * Watches a file of rules. After a change it is read again, and applied completely or not at all.
 * An error in the file is logged, and the previous rules stay in use.
 * @param read reads and checks a file, and throws if it contains an error.
 */
export function followRules(
  file: string,
  { first, read, logger }: { first: Routing; read: (file: string) => Routing; logger: Logger },
): RulesSource {
  let routing = first;
  let seen = 0;
  const look = () => {
    try {
      const changed = statSync(file).mtimeMs;
      if (changed === seen) return;
      seen = changed;
      const next = read(file);
      if (JSON.stringify(next) === JSON.stringify(routing)) return;
      routing = next;
      logger.event('rules_changed', { rules: next.rules.map(({ name }) => name) });
    } catch (error) {
      logger.event('rules_unchanged', { error: String(error) });
    }
  };
  // The modification time is polled, because editors and orchestrators replace files, which ends
  // other kinds of watches.
  const timer = setInterval(look, LOOK_MILLISECONDS).unref();
  return {
    current: () => routing,
    async save(yaml, at, record) {
      const kept = await saveRules(file, yaml, { at, check: read, record });
      look();
      return kept;
    },
    stop: () => clearInterval(timer),
  };
}

/** File system errors that occur if the gateway may only read its settings, as in a container. */
const READ_ONLY: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'EBUSY']);

/**
 * Replaces the rules in a settings file. Everything else is kept, including comments. The file is
 * replaced in one step, so a crash leaves either the old or the new file.
 * @param check throws if the gateway could not start with the file that it is given.
 */
async function saveRules(
  file: string,
  yaml: string,
  { at, check, record }: { at: Date; check: (file: string) => unknown; record: RecordAction },
): Promise<string> {
  const settings = parseDocument(await readFile(file, 'utf8'));
  const given = parseDocument(yaml);
  settings.set('routing', given.get('routing', true) ?? given.contents);
  const kept = `${file}.${at.toISOString().replaceAll(':', '-')}`;
  const next = `${file}.next`;
  try {
    const { mode } = await stat(file);
    await writeFile(next, settings.toString(), { mode, flush: true });
    requireStartable(() => check(next));
    await copyFile(file, kept, constants.COPYFILE_EXCL);
    await record();
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true }).catch(() => {});
    if (!READ_ONLY.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new SonogateError(
      'forbidden',
      'The gateway has no permission to write its settings file; enter the rules there by hand.',
    );
  }
  return kept;
}

/**
 * Checks the whole file that would be written, not only its rules: the other settings in the file
 * may have changed since the gateway started, and might not fit the new rules.
 * @throws SonogateError `invalid_config`
 */
function requireStartable(check: () => unknown): void {
  try {
    check();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SonogateError('invalid_config', `The gateway could not use the file. ${why}`);
  }
}
