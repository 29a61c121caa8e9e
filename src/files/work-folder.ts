import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { RequestFile } from '../requests/port.ts';
import { linkOrCopy } from './whole-file.ts';

/** An input file is no longer where it was when the request was made. */
export class InputFileMissingError extends Error {
  override name = 'InputFileMissingError';
  /** As the client knows it. */
  readonly file: string;

  constructor(file: string) {
    super(`the input file ${file} is no longer there`);
    this.file = file;
  }
}

export function workFolder(dataDir: string, id: string): string {
  return resolve(dataDir, 'work', id);
}

/** Names of prior files below `files/`, which they share with the request's own files. */
export function priorNames(files: readonly RequestFile[], priors: readonly RequestFile[]) {
  const taken = new Set(files.map(({ name }) => name));
  return priors.map(({ name }) => {
    let free = name;
    while (taken.has(free)) free = `prior-${free}`;
    taken.add(free);
    return free;
  });
}

/**
 * Lays out the work folder of a run, from nothing: `files/`, an empty `artifacts/` and `job.json`.
 * `files` maps the name below `files/` to the path it is linked from.
 * @throws InputFileMissingError
 */
export async function layOutWork(
  folder: string,
  job: object,
  files: readonly { name: string; path: string }[],
): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'files'), { recursive: true });
  await mkdir(join(folder, 'artifacts'));
  for (const { name, path } of files) {
    await linkOrCopy(path, join(folder, 'files', name)).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? new InputFileMissingError(name) : error;
    });
  }
  await writeFile(join(folder, 'job.json'), JSON.stringify(job));
}

export async function removeWork(dataDir: string, id: string): Promise<void> {
  await rm(workFolder(dataDir, id), { recursive: true, force: true });
}
