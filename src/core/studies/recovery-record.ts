import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ifMissing } from '../../platform/errors/file-system.ts';

/**
 * Records which unregistered object is about to be registered at startup. Otherwise an object that
 * ends the process, for instance by exhausting the memory, would do so at every startup.
 */

/**
 * Maximum number of startups that may end while registering the same object. The next startup
 * quarantines the object. A limit of one would be too low: a startup may be killed for another
 * reason, and the object was acknowledged.
 */
const MOST_ENDED_STARTS = 2;

const recordSchema = z.object({ path: z.string(), starts: z.number() });

interface RecoveryRecord {
  /**
   * Called before each object is registered.
   * @returns false if the object has ended too many startups.
   */
  begins(path: string): Promise<boolean>;
  /** Called once all objects have been registered. */
  ends(): Promise<void>;
}

export async function openRecoveryRecord(dataDir: string): Promise<RecoveryRecord> {
  const file = join(dataDir, 'recovering.json');
  const before = parsed(await ifMissing(readFile(file, 'utf8'), ''));
  return {
    async begins(path) {
      const starts = before?.path === path ? before.starts + 1 : 1;
      if (starts > MOST_ENDED_STARTS) return false;
      await writeFile(file, JSON.stringify({ path, starts }), { mode: 0o600 });
      return true;
    },
    ends: () => rm(file, { force: true }),
  };
}

/** Parses a record; null if the record is incomplete. */
function parsed(text: string): z.infer<typeof recordSchema> | null {
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
