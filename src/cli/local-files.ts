import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Files given by name, and every file of folders given by name, in order of name. */
export async function filesBelow(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    if (!(await stat(path)).isDirectory()) {
      found.push(path);
      continue;
    }
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    found.push(...files.map((entry) => join(entry.parentPath, entry.name)).sort());
  }
  return found;
}
