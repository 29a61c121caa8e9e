import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ifMissing } from '../../platform/errors/file-system.ts';

/**
 * Records which unregistered object a start is about to register. An object that ends the process,
 * for instance because memory runs out, would otherwise end every start.
 */

/**
 * Maximum number of starts that may end while they register the same object. The next start moves
 * the object to the quarantine. One is not enough, because a start may be killed for another reason
 * and the object was acknowledged.
 */
const MOST_ENDED_STARTS = 2;

const recordSchema = z.object({ path: z.string(), starts: z.number() });

export interface RecoveryRecord {
  /**
   * Called before each object is registered. @returns false if the object has ended too many
   * starts.
   */
  begins(path: string): Promise<boolean>;
  /** Called when the start has registered all objects. */
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

/** Parses a record; null if it was cut short. */
function parsed(text: string): z.infer<typeof recordSchema> | null {
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
