import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const PREFIX = 'sonogate-tests-';

/**
 * Everything temporary of a run of the tests lies in one folder, which goes when the run ends: also
 * what the programs leave there that tests start, and what a test that failed did not remove. Each
 * project of the configuration calls it; the folder is that of the first, since a folder in a folder
 * leaves too little of the 107 characters that the address of a socket may have.
 */
export default async function oneFolderForAll(): Promise<() => Promise<void>> {
  if (basename(tmpdir()).startsWith(PREFIX)) return async () => {};
  const folder = await mkdtemp(join(tmpdir(), PREFIX));
  // PostgreSQL runs as a user of its own, whose folder lies below.
  await chmod(folder, 0o755);
  process.env.TMPDIR = folder;
  return () => rm(folder, { recursive: true, force: true });
}
