import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { PIPELINE_PROGRAM } from '../src/app/pipelines/program.ts';
import { openCompileCache } from '../src/core/queue/pipeline-process.ts';
import { readablePlaces } from '../src/core/queue/worker.ts';
import { silentLogger } from '../src/platform/logging/logger.ts';
import { freshDataDir } from './peers/embedded.ts';

const PREFIX = 'sonogate-tests-';

/** A folder in memory. The next constant is the space that a run needs there at most. */
const MEMORY = '/dev/shm';
const ROOM_BYTES = 8 * 1024 ** 3;

/**
 * Returns the folder in which the run's folder is created. The gateway syncs every file and row to
 * the disk, and a test run creates thousands of small databases, which cost nothing in memory.
 * `TMPDIR` overrides this choice.
 */
async function place(): Promise<string> {
  if (process.env.TMPDIR) return tmpdir();
  const room = await statfs(MEMORY).catch(() => null);
  return room && room.bavail * room.bsize >= ROOM_BYTES ? MEMORY : tmpdir();
}

/**
 * Compiles the pipelines' modules before the first test. Otherwise a gateway does so in the
 * background, and each test would stop it before it has finished.
 */
async function compilePipelines(): Promise<void> {
  const limits = { memoryMegabytes: 512, readable: readablePlaces([]) };
  await openCompileCache(PIPELINE_PROGRAM, limits, silentLogger)?.write();
}

/** Creates the database that `freshDataDir` copies. Otherwise every test process would, at once. */
async function initializeDatabase(): Promise<void> {
  await rm(await freshDataDir(), { recursive: true });
}

/**
 * Prepares a test run. Puts all its temporary files into one folder, and removes it when the run ends,
 * including what programs started by tests leave there and what a failed test did not remove. Each
 * project of the configuration calls this function, but only the first call creates a folder: in a
 * nested folder, too few of the 107 characters allowed for the address of a socket would be left.
 */
export default async function oneFolderForAll(): Promise<() => Promise<void>> {
  if (basename(tmpdir()).startsWith(PREFIX)) return async () => {};
  const folder = await mkdtemp(join(await place(), PREFIX));
  // PostgreSQL runs as another user and has its folder inside this one.
  await chmod(folder, 0o755);
  process.env.TMPDIR = folder;
  await Promise.all([compilePipelines(), initializeDatabase()]);
  return () => rm(folder, { recursive: true, force: true });
}
