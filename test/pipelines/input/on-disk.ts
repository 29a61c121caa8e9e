import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../temporary-folder.ts';

/** Writes files to a new folder and returns them in the form that `readStudy` accepts. */
export async function onDisk(
  files: Readonly<Record<string, Buffer | string>>,
): Promise<{ name: string; path: string }[]> {
  const folder = await temporaryFolder();
  return Promise.all(
    Object.entries(files).map(async ([name, content]) => {
      const path = join(folder, name);
      await writeFile(path, content);
      return { name, path };
    }),
  );
}
