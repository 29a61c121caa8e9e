import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Debian's package `libfaketime`. */
const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

/** A wall clock that can be turned while processes run; timers go on by the monotonic clock. */
export interface FakeClock {
  environment: Record<string, string>;
  /** `+3600`: seconds from the real time, at once, for all processes with this environment. */
  jump(offset: string): Promise<void>;
  remove(): Promise<void>;
}

/** Null where libfaketime is not installed. */
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
