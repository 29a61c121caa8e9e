import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Everything temporary of a run of the tests lies in one folder, which goes when the run ends: also
 * what the programs leave there that tests start, and what a test that failed did not remove.
 */
export default async function oneFolderForAll(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-tests-'));
  // PostgreSQL runs as a user of its own, whose folder lies below.
  await chmod(folder, 0o755);
  process.env.TMPDIR = folder;
  return () => rm(folder, { recursive: true, force: true });
}
