import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing } from '../src/errors/if-missing.ts';

/** Which Binary of which receiver already holds a content, so that a retry stores it only once. */
export interface BinaryLedger {
  find(destination: string, content: Buffer): Promise<string | null>;
  record(destination: string, content: Buffer, reference: string): Promise<void>;
}

/** A ledger of one small file per content in `folder`, named by its SHA-256. */
export function binaryLedger(folder: string): BinaryLedger {
  const fileOf = (destination: string, content: Buffer) =>
    join(folder, destination, createHash('sha256').update(content).digest('hex'));
  return {
    find(destination, content) {
      return ifMissing(readFile(fileOf(destination, content), 'utf8'), null);
    },
    async record(destination, content, reference) {
      const file = fileOf(destination, content);
      await mkdir(join(folder, destination), { recursive: true });
      await writeFile(`${file}.part`, reference, { flush: true });
      await rename(`${file}.part`, file);
    },
  };
}
