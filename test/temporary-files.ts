import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const PREFIX = 'sonogate-tests-';

/** A folder in memory, and how much room a run needs there at most. */
const MEMORY = '/dev/shm';
const ROOM_BYTES = 8 * 1024 ** 3;

/**
 * Where the folder of a run is made. The gateway syncs every file and row to the disk, and a test run
 * makes thousands of small databases: in memory they cost nothing. `TMPDIR` says otherwise.
 */
async function place(): Promise<string> {
  if (process.env.TMPDIR) return tmpdir();
  const room = await statfs(MEMORY).catch(() => null);
  return room && room.bavail * room.bsize >= ROOM_BYTES ? MEMORY : tmpdir();
}

/**
 * All temporary files of a test run are in one folder, which is removed when the run ends, including
 * what programs started by tests leave there and what a failed test did not remove. Each
 * project of the configuration calls it; the folder is that of the first, since a folder in a folder
 * leaves too little of the 107 characters that the address of a socket may have.
 */
export default async function oneFolderForAll(): Promise<() => Promise<void>> {
  if (basename(tmpdir()).startsWith(PREFIX)) return async () => {};
  const folder = await mkdtemp(join(await place(), PREFIX));
  // PostgreSQL runs as another user, whose folder is inside this one.
  await chmod(folder, 0o755);
  process.env.TMPDIR = folder;
  return () => rm(folder, { recursive: true, force: true });
}
