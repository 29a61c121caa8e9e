import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dataPdu, RawPeer, statusOf, storeCommand } from './network/raw-peer.ts';
import { openSite } from './site.ts';

async function stopInsideAnObject(graceSeconds: number) {
  const site = await openSite();
  site.config.shutdown.graceSeconds = graceSeconds;
  const cart = new RawPeer(site.node.port);
  await cart.associate();
  // More than the disk writer collects before it creates the file.
  const fragments = Array.from({ length: 10 }, () => dataPdu([Buffer.alloc(60_000)], false));
  cart.send(storeCommand('1.2.3.4'), ...fragments);
  await expect
    .poll(async () => {
      const names = await readdir(join(site.config.dataDir, 'intake'), { recursive: true });
      return names.some((name) => name.endsWith('.part'));
    })
    .toBe(true);
  return { cart, stopped: site.close() };
}

test('an object that is being received is cut off when `shutdown.graceSeconds` is over', async () => {
  const { cart, stopped } = await stopInsideAnObject(0.2);
  const begin = performance.now();
  expect(await cart.next()).toBeNull();
  await stopped;
  // By default the listener would wait ten seconds.
  expect(performance.now() - begin).toBeLessThan(9000);
});

test('an object that is complete in time is answered first', async () => {
  const { cart, stopped } = await stopInsideAnObject(600);
  cart.send(dataPdu([Buffer.alloc(20)], true));
  // The bytes were received but refused, because they are not a data set.
  expect(statusOf(await cart.next())).toBe(0xc000);
  expect((await cart.next())?.[0]).toBe(7);
  await stopped;
});
