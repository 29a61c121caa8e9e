import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** What a run may write: copies of its files, previews and documents. With less free it waits. */
const LEAST_FREE_BYTES = 64 * 1024 ** 2;

const LOOK_AGAIN_MS = 5000;

/** Whether a run can write what it makes. */
export async function hasRoom(dataDir: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(dataDir);
  return bavail * bsize >= LEAST_FREE_BYTES;
}

/** Resolves when a run can begin, or at once when it is broken off. */
export async function waitForRoom(
  dataDir: string,
  broken: AbortSignal,
  onFull: () => void,
): Promise<void> {
  while (!broken.aborted && !(await hasRoom(dataDir))) {
    onFull();
    await delay(LOOK_AGAIN_MS, null, { signal: broken }).catch(() => {});
  }
}
