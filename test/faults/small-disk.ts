import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A separate file system, small enough to fill up. */
export interface SmallDisk {
  folder: string;
  remove(): Promise<void>;
}

/** Mounts the file system; null if mounting is not permitted. */
export async function smallDisk(megabytes: number): Promise<SmallDisk | null> {
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-small-disk-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  } catch {
    await rm(folder, { recursive: true });
    return null;
  }
  return {
    folder,
    async remove() {
      await run('umount', ['-l', folder]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
