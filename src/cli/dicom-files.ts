import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** PS3.10 7.1: `DICM` follows the preamble of 128 bytes. */
const PREFIX_OFFSET = 128;

async function isPart10(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, PREFIX_OFFSET);
    return buffer.toString('latin1') === 'DICM';
  } finally {
    await file.close();
  }
}

/**
 * Files given by name, and the DICOM files of folders given by name (all levels, in order of name).
 * A file that was named is kept whatever it holds, so that the sender can say what is wrong with it.
 */
export async function findDicomFiles(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    if (!(await stat(path)).isDirectory()) {
      found.push(path);
      continue;
    }
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    for (const file of files.map((entry) => join(entry.parentPath, entry.name)).sort()) {
      if (await isPart10(file)) found.push(file);
    }
  }
  return found;
}
