import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hasRoom, waitForRoom } from '../../../../src/core/queue/run-request.ts';
import { smallDisk } from '../../../faults/small-disk.ts';

const disk = await smallDisk(80);

it.skipIf(!disk)(
  'a run waits while less than 64 MiB are free, and begins when there is space',
  async () => {
    const folder = disk?.folder ?? '';
    expect(await hasRoom(folder)).toBe(true);
    const filler = join(folder, 'filler');
    const { bavail, bsize } = await statfs(folder);
    await writeFile(filler, Buffer.alloc(bavail * bsize - 64 * 1024 ** 2));
    expect(await hasRoom(folder)).toBe(true);
    await writeFile(join(folder, 'one more page'), Buffer.alloc(bsize));
    expect(await hasRoom(folder)).toBe(false);

    let told = 0;
    const waited = waitForRoom(folder, new AbortController().signal, () => {
      told += 1;
    });
    await expect.poll(() => told).toBe(1);
    await rm(filler);
    await waited;
    expect(told).toBe(1);
    await disk?.remove();
  },
);
