import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const PREFIX = 'sonogate-tests-';

/**
 * All temporary files of a test run are in one folder, which is removed when the run ends, including
 * what programs started by tests leave there and what a failed test did not remove. Each
 * project of the configuration calls it; the folder is that of the first, since a folder in a folder
 * leaves too little of the 107 characters that the address of a socket may have.
 */
export default async function oneFolderForAll(): Promise<() => Promise<void>> {
  if (basename(tmpdir()).startsWith(PREFIX)) return async () => {};
  const folder = await mkdtemp(join(tmpdir(), PREFIX));
  // PostgreSQL runs as another user, whose folder is inside this one.
  await chmod(folder, 0o755);
  process.env.TMPDIR = folder;
  return () => rm(folder, { recursive: true, force: true });
}
