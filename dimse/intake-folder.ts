import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing } from '../src/errors/if-missing.ts';

/**
 * Where received objects lie, below the data folder: `intake/<source>/<day>/<uuid>.dcm`, `.part`
 * while they come. The source stands in the path so that an object without a row still tells how
 * its study completes.
 */
const INTAKE = 'intake';
export const QUARANTINE = 'quarantine';
export const PARTIAL_SUFFIX = '.part';
export const OBJECT_SUFFIX = '.dcm';

/** A fresh place for one object; paths are relative to the data folder. */
export async function newPlace(
  dataDir: string,
  source: string,
  now: Date,
): Promise<{ partial: string; complete: string }> {
  const day = join(INTAKE, source, now.toISOString().slice(0, 10));
  const made = await mkdir(join(dataDir, day), { recursive: true });
  if (made !== undefined) await syncFolders(dataDir, day);
  const base = join(day, randomUUID());
  return { partial: base + PARTIAL_SUFFIX, complete: base + OBJECT_SUFFIX };
}

/** Moves an object that cannot be used out of the way, where a person can look at it. */
export async function quarantine(dataDir: string, path: string): Promise<string> {
  const place = join(QUARANTINE, `${randomUUID()}${OBJECT_SUFFIX}`);
  await mkdir(join(dataDir, QUARANTINE), { recursive: true });
  await rename(join(dataDir, path), join(dataDir, place));
  return place;
}

/** Every day folder with its source, oldest first. */
export async function dayFolders(dataDir: string): Promise<{ source: string; folder: string }[]> {
  const found: { source: string; folder: string }[] = [];
  for (const source of await subfolders(join(dataDir, INTAKE))) {
    for (const day of await subfolders(join(dataDir, INTAKE, source))) {
      found.push({ source, folder: join(INTAKE, source, day) });
    }
  }
  return found;
}

/** A rename is durable only when its folder has reached the disk. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function syncFolders(dataDir: string, relative: string): Promise<void> {
  for (let path = relative; path !== '.'; path = join(path, '..')) {
    await syncFolder(join(dataDir, path));
  }
  await syncFolder(dataDir);
}

async function subfolders(path: string): Promise<string[]> {
  const entries = await ifMissing(readdir(path, { withFileTypes: true }), []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}
