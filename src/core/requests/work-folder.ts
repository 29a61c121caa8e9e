import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Queryable } from '../../platform/database/port.ts';
import { ifMissing } from '../../platform/errors/file-system.ts';
import { BlobMissingError, type BlobStore } from '../files/blob-store.ts';
import { linkOrCopy } from '../files/whole-file.ts';
import type { HeldFile, RequestFile, RequestRow } from './request.ts';

/** Thrown when an input file no longer exists. */
export class InputFileMissingError extends Error {
  override name = 'InputFileMissingError';
  /** Name supplied by the client. */
  readonly file: string;

  constructor(file: string) {
    super(`the input file ${file} is no longer there`);
    this.file = file;
  }
}

const WORK = 'work';

/** Returns the folder that holds all work folders of this host. */
export const workPlace = (dataDir: string): string => resolve(dataDir, WORK);

/**
 * Returns the work folder of a run. Each attempt has its own, so a run that has lost its request
 * removes only its own files, even if workers of several processes share the data folder.
 */
export function runFolder(dataDir: string, run: Pick<RequestRow, 'id' | 'attempts'>): string {
  return resolve(dataDir, WORK, runName(run));
}

const runName = ({ id, attempts }: Pick<RequestRow, 'id' | 'attempts'>) => `${id}.${attempts}`;

/** Part of the names of folders in which the documents of a signed result are written. */
const SIGNED = '.signed-';

/** Returns a new work folder in which the documents of a signed result are written. */
export function signingFolder(dataDir: string, id: string): string {
  return resolve(dataDir, WORK, `${id}${SIGNED}${randomUUID()}`);
}

/**
 * Returns the names that prior files get in `files/`, which also holds the files of the request
 * itself.
 */
export function priorNames(files: readonly RequestFile[], priors: readonly RequestFile[]) {
  const taken = new Set(files.map(({ name }) => name));
  return priors.map(({ name }) => {
    let free = name;
    while (taken.has(free)) free = `prior-${free}`;
    taken.add(free);
    return free;
  });
}

/** Creates an empty work folder for a run: `files/`, an empty `artifacts/` and `job.json`. */
export async function prepareWorkFolder(folder: string, job: object): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'files'), { recursive: true });
  await mkdir(join(folder, 'artifacts'));
  await writeFile(join(folder, 'job.json'), JSON.stringify(job));
}

/**
 * Puts a file of a request into its work folder: from its path on this host or, by digest, from the
 * blob store. The blob store contains uploads and, if the installation has a bucket, objects
 * received by other hosts.
 * @throws InputFileMissingError
 */
export async function placeFile(
  folder: string,
  { name, path, sha256 }: HeldFile,
  blobs: BlobStore,
): Promise<void> {
  const to = join(folder, 'files', name);
  if (path !== '' && (await linked(path, to))) return;
  if (path !== '' && !blobs.direct) throw new InputFileMissingError(name);
  await blobs.place(sha256, to).catch((error: unknown) => {
    throw error instanceof BlobMissingError ? new InputFileMissingError(name) : error;
  });
}

/**
 * Links or copies a file.
 * @returns false if nothing exists at `from`.
 */
function linked(from: string, to: string): Promise<boolean> {
  const made = linkOrCopy(from, to).then(() => true);
  return ifMissing(made, false);
}

/** Removes every work folder of a request that has ended. */
export async function removeWorkFolders(dataDir: string, id: string): Promise<void> {
  const place = workPlace(dataDir);
  for (const name of await ifMissing(readdir(place), [])) {
    if (!name.startsWith(`${id}.`)) continue;
    await rm(join(place, name), { recursive: true, force: true });
  }
}

/** Name prefix of the folders of pipeline processes; see `PipelinePool`. */
export const PROCESS_FOLDER = 'process-';

/**
 * Milliseconds after which a process that was writing the documents of a signature is assumed to
 * have died.
 */
const LONGEST_SIGNING_MILLISECONDS = 3_600_000;

/**
 * Deletes the work folders of runs that no living worker holds, because they contain patient
 * images. Some are inside the folder of a pipeline process; that folder itself is kept. A recent
 * folder of a signature is kept too, because a process with the role `api` may be writing to it.
 * @returns the folders that a worker holds, relative to the place of all work folders. A worker
 * that was killed holds its folder until its lease expires.
 */
export async function removeLeftWork(database: Queryable, dataDir: string): Promise<string[]> {
  const place = workPlace(dataDir);
  const names = await ifMissing(readdir(place), []);
  const left: string[] = [];
  for (const name of names.filter((name) => !name.startsWith(PROCESS_FOLDER))) {
    if (!name.includes(SIGNED) || (await isOld(join(place, name)))) left.push(name);
  }
  for (const name of names.filter((name) => name.startsWith(PROCESS_FOLDER))) {
    const inside = await ifMissing(readdir(join(place, name)), []);
    left.push(...inside.map((run) => join(name, run)));
  }
  const { rows } = await database.query<ActiveRun>(
    `SELECT id, attempts FROM requests
     WHERE status IN ('preparing', 'running') AND lease_until >= now()`,
  );
  return removeAllBut(rows, left, place);
}

/**
 * Deletes those of the folders kept by `removeLeftWork` whose run is over: its request has ended, or
 * a later run has begun.
 * @returns the folders that are still kept.
 */
export async function removeEndedWork(
  database: Queryable,
  dataDir: string,
  kept: readonly string[],
): Promise<string[]> {
  const { rows } = await database.query<ActiveRun>(
    `SELECT id, attempts FROM requests WHERE status IN ('preparing', 'running')`,
  );
  return removeAllBut(rows, kept, workPlace(dataDir));
}

async function isOld(folder: string): Promise<boolean> {
  const found = await ifMissing(stat(folder), null);
  return found !== null && found.mtimeMs < Date.now() - LONGEST_SIGNING_MILLISECONDS;
}

type ActiveRun = Pick<RequestRow, 'id' | 'attempts'>;

async function removeAllBut(
  active: readonly ActiveRun[],
  paths: readonly string[],
  place: string,
): Promise<string[]> {
  // During an upgrade, a process of version 1.0 may hold a folder that is named by the request alone.
  const names = new Set(active.flatMap((row) => [row.id, runName(row)]));
  const isHeld = (path: string) => names.has(basename(path));
  for (const path of paths.filter((path) => !isHeld(path))) {
    await rm(join(place, path), { recursive: true, force: true });
  }
  return paths.filter(isHeld);
}
