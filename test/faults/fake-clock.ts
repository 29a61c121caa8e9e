import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** From Debian's package `libfaketime`. */
const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

/**
 * A wall clock that can be changed while processes run. Timers follow the monotonic clock and are
 * not affected.
 */
export interface FakeClock {
  environment: Record<string, string>;
  /**
   * Sets the offset from real time, such as `+3600` seconds. It takes effect at once in all
   * processes with this environment.
   */
  jump(offset: string): Promise<void>;
  remove(): Promise<void>;
}

/** Creates the clock; null if libfaketime is not installed. */
export async function fakeClock(): Promise<FakeClock | null> {
  if (!existsSync(LIBRARY)) return null;
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-clock-'));
  const file = join(folder, 'offset');
  await writeFile(file, '+0');
  return {
    environment: {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    jump: (offset) => writeFile(file, offset),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
