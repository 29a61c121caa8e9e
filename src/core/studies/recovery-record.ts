import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ifMissing } from '../../platform/errors/file-system.ts';

/**
 * Records which left object a start is about to register. An object that ends the process, for
 * instance for want of memory, would otherwise end every start.
 */

/**
 * So many starts may end while they register the same object; the next one puts it in quarantine. One
 * is not enough: a start may be killed for another reason, and the object was acknowledged.
 */
const MOST_ENDED_STARTS = 2;

const recordSchema = z.object({ path: z.string(), starts: z.number() });

export interface RecoveryRecord {
  /** Called before each object. @returns false when it has ended too many starts. */
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

/** Null for a record that was cut short. */
function parsed(text: string): z.infer<typeof recordSchema> | null {
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
