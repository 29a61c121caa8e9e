import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative, resolve, sep } from 'node:path';
import type { StudyFile } from '../../../pipelines/input/study-file.ts';
import { UsageError } from './exit-status.ts';

/**
 * Returns a file, or the files in a folder. The name is the path relative to the folder, with `/`.
 * @throws UsageError for any other path, because reading a pipe or a device may never end.
 */
async function filesOf(path: string): Promise<StudyFile[]> {
  const given = await stat(path);
  if (given.isFile()) return [{ name: basename(resolve(path)), path }];
  if (!given.isDirectory()) throw new UsageError(`"${path}" is neither a file nor a folder`);
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return paths.map((file) => ({
    name: relative(path, file).replaceAll(sep, '/'),
    path: file,
  }));
}

/** Returns the given files, and every file in the given folders, sorted by name. */
export async function localFiles(paths: readonly string[]): Promise<StudyFile[]> {
  const files: StudyFile[] = [];
  for (const path of paths) files.push(...(await filesOf(path)));
  return files;
}

/** Returns the paths of `localFiles`. */
export async function filesBelow(paths: readonly string[]): Promise<string[]> {
  return (await localFiles(paths)).map(({ path }) => path);
}

/**
 * Makes names unique: the second of two files with the same name gets a number, as in
 * `image.dcm (2)`.
 */
export function withUniqueNames(files: readonly StudyFile[]): StudyFile[] {
  const taken = new Set<string>();
  return files.map(({ name: wanted, path }) => {
    let name = wanted;
    for (let copy = 2; taken.has(name); copy += 1) name = `${wanted} (${copy})`;
    taken.add(name);
    return { name, path };
  });
}
