import { describe, expect, it } from 'vitest';
import { blobs, reduced, smoothed } from '../../../pipelines/measure/regions.ts';

/** Builds an image from rows of digits, in which `.` is 0 and `#` is 255. */
function image(...rows: string[]) {
  const width = rows[0]?.length ?? 0;
  const data = Uint8Array.from(rows.join(''), (letter) => (letter === '#' ? 255 : 0));
  return { width, height: rows.length, data };
}

const bright = (of: ReturnType<typeof image>) => (index: number) => of.data[index] === 255;

describe('connected regions', () => {
  it('are connected by edges, not by corners', () => {
    const two = image('.....', '.#...', '..#..', '.....');
    expect(blobs(two, bright(two), 1)).toHaveLength(2);
    const one = image('.....', '.##..', '..#..', '.....');
    expect(blobs(one, bright(one), 1)).toHaveLength(1);
  });

  it('are left out if they are smaller than requested', () => {
    const both = image('......', '.##.#.', '......');
    expect(blobs(both, bright(both), 2).map(({ pixels }) => pixels.length)).toEqual([2]);
  });

  it('state whether they reach the border of the image', () => {
    const edge = image('.....', '##.#.', '.....');
    expect(blobs(edge, bright(edge), 1).map(({ open }) => open)).toEqual([true, false]);
  });

  it('do not continue beyond the end of a row', () => {
    const rows = image('...#', '#...');
    expect(blobs(rows, bright(rows), 1)).toHaveLength(2);
  });
});

describe('a reduced image', () => {
  it('is the mean of its squares, without incomplete ones', () => {
    const small = reduced(image('##..#', '##..#', '....#'), 2);
    expect([small.width, small.height, ...small.data]).toEqual([2, 1, 255, 0]);
  });
});

describe('a smoothed image', () => {
  it('leaves an even area unchanged, up to the border', () => {
    const even = image('####', '####', '####');
    expect([...smoothed(even, 1).data]).toEqual(new Array(12).fill(255));
  });

  it('spreads a point over the square around it', () => {
    const { data } = smoothed(image('.....', '.....', '..#..', '.....', '.....'), 1);
    const spread = [...data].filter((level) => level > 0);
    expect(spread).toHaveLength(9);
    expect(new Set(spread).size).toBe(1);
  });
});
