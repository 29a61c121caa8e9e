import { describe, expect, it } from 'vitest';
import type { GrayImage } from '../../../pipelines/contract/image.ts';
import { oncePerImage } from '../../../pipelines/inference/once-per-image.ts';

const imageOf = (value: number, width = 2): GrayImage => ({
  width,
  height: 4 / width,
  data: new Uint8Array(4).fill(value),
});

/** Returns a function that finds the first value of each image, and the calls that it received. */
function finder() {
  const calls: number[][] = [];
  const find = async (images: readonly GrayImage[]) => {
    const values = images.map(({ data }) => data[0] ?? 0);
    calls.push(values);
    return values;
  };
  return { calls, find: oncePerImage(find) };
}

describe('oncePerImage', () => {
  it('runs once for a frame that was decoded twice', async () => {
    const { calls, find } = finder();
    expect(await find([imageOf(1)])).toEqual([1]);
    expect(await find([imageOf(2), imageOf(1)])).toEqual([2, 1]);
    expect(calls).toEqual([[1], [2]]);
  });

  it('runs once for equal images in one call, and returns an entry for each', async () => {
    const { calls, find } = finder();
    expect(await find([imageOf(1), imageOf(1), imageOf(2)])).toEqual([1, 1, 2]);
    expect(calls).toEqual([[1, 2]]);
  });

  it('runs once for two calls at the same time', async () => {
    const { calls, find } = finder();
    expect(await Promise.all([find([imageOf(1)]), find([imageOf(1)])])).toEqual([[1], [1]]);
    expect(calls).toEqual([[1]]);
  });

  it('tells images of the same values and another shape apart', async () => {
    const { calls, find } = finder();
    await find([imageOf(1, 2), imageOf(1, 4)]);
    expect(calls).toEqual([[1, 1]]);
  });

  it('passes the error to everyone who waits for the image', async () => {
    const find = oncePerImage(async () => {
      throw new Error('the model failed');
    });
    const both = await Promise.allSettled([find([imageOf(1)]), find([imageOf(1)])]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
