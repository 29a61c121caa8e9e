import { describe, expect, it } from 'vitest';
import { batched } from '../../../../src/platform/database/batched.ts';

/**
 * Returns a function that doubles numbers but refuses negative ones, together with the batches that
 * it received.
 */
function doubling() {
  const batches: number[][] = [];
  const double = batched(async (numbers: readonly number[]) => {
    batches.push([...numbers]);
    if (numbers.some((each) => each < 0)) throw new Error('negative');
    return numbers.map((each) => 2 * each);
  });
  return { double, batches };
}

describe('batched', () => {
  it('requests together what was requested in one turn, and returns to each caller its own result', async () => {
    const { double, batches } = doubling();
    expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6]);
    expect(batches).toEqual([[1, 2, 3]]);
  });

  it('requests together next what was requested while a batch was running', async () => {
    const batches: string[][] = [];
    const release: (() => void)[] = [];
    const ask = batched(async (texts: readonly string[]) => {
      batches.push([...texts]);
      await new Promise<void>((resolve) => release.push(resolve));
      return texts;
    });
    const first = ask('a');
    await expect.poll(() => release.length).toBe(1);
    const rest = Promise.all([ask('b'), ask('c')]);
    release[0]?.();
    expect(await first).toBe('a');
    await expect.poll(() => release.length).toBe(2);
    release[1]?.();
    expect(await rest).toEqual(['b', 'c']);
    expect(batches).toEqual([['a'], ['b', 'c']]);
  });

  it('collects what is requested for a time, if this is wanted', async () => {
    const batches: number[][] = [];
    const answer = async (numbers: readonly number[]) => {
      batches.push([...numbers]);
      return numbers;
    };
    const ask = batched(answer, { collectMs: 20 });
    const first = ask(1);
    await new Promise(setImmediate);
    expect(await Promise.all([first, ask(2)])).toEqual([1, 2]);
    expect(await ask(3)).toBe(3);
    expect(batches).toEqual([[1, 2], [3]]);
  });

  it('requests again after it was idle', async () => {
    const { double, batches } = doubling();
    expect([await double(1), await double(2)]).toEqual([2, 4]);
    expect(batches).toEqual([[1], [2]]);
  });

  it('requests items one by one if a batch fails, so that only the faulty one fails', async () => {
    const { double, batches } = doubling();
    const answers = await Promise.allSettled([1, -1, 3].map(double));
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(batches).toEqual([[1, -1, 3], [1], [-1], [3]]);
  });

  it('requests at most 200 at a time', async () => {
    const { double, batches } = doubling();
    await Promise.all(Array.from({ length: 450 }, (_, n) => double(n)));
    expect(batches.map((batch) => batch.length)).toEqual([200, 200, 50]);
  });
});
