import { describe, expect, it } from 'vitest';
import { inParallel } from '../../../src/platform/in-parallel.ts';

/** Returns pieces of work that each end when the test lets them. */
function gates(count: number) {
  const all = Array.from({ length: count }, () => Promise.withResolvers<void>());
  const begun: number[] = [];
  const each = async (index: number) => {
    begun.push(index);
    await all[index]?.promise;
    return index * 10;
  };
  return { all, begun, each };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('work in parallel', () => {
  it('starts as many as may run at once, and the next when one ends', async () => {
    const { all, begun, each } = gates(4);
    const done = inParallel([0, 1, 2, 3], 2, each);
    expect(begun).toEqual([0, 1]);
    all[1]?.resolve();
    await settled();
    expect(begun).toEqual([0, 1, 2]);
    for (const { resolve } of all) resolve();
    await done;
  });

  it('returns results in the order of the items, whichever ended first', async () => {
    const { all, each } = gates(3);
    const done = inParallel([0, 1, 2], 3, each);
    for (const { resolve } of all.toReversed()) {
      resolve();
      await settled();
    }
    expect(await done).toEqual([0, 10, 20]);
  });

  it('starts nothing after an error, and throws it once nothing is running', async () => {
    const { all, begun, each } = gates(4);
    let over = false;
    const done = inParallel([0, 1, 2, 3], 2, each).finally(() => {
      over = true;
    });
    all[0]?.reject(new Error('full disk'));
    await settled();
    expect({ begun, over }).toEqual({ begun: [0, 1], over: false });
    all[1]?.resolve();
    await expect(done).rejects.toThrow('full disk');
    expect(begun).toEqual([0, 1]);
  });

  it('returns no results for no items', async () => {
    expect(await inParallel([], 4, async () => 1)).toEqual([]);
  });
});
