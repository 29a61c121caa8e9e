import { describe, expect, it } from 'vitest';
import { blobs, reduced, smoothed } from '../../../pipelines/measure/regions.ts';

/** Builds an image from rows of digits; `.` is 0, `#` is 255. */
function image(...rows: string[]) {
  const width = rows[0]?.length ?? 0;
  const data = Uint8Array.from(rows.join(''), (letter) => (letter === '#' ? 255 : 0));
  return { width, height: rows.length, data };
}

const bright = (of: ReturnType<typeof image>) => (index: number) => of.data[index] === 255;

describe('connected regions', () => {
  it('hang together by edges, not by corners', () => {
    const two = image('.....', '.#...', '..#..', '.....');
    expect(blobs(two, bright(two), 1)).toHaveLength(2);
    const one = image('.....', '.##..', '..#..', '.....');
    expect(blobs(one, bright(one), 1)).toHaveLength(1);
  });

  it('smaller than asked for are left out', () => {
    const both = image('......', '.##.#.', '......');
    expect(blobs(both, bright(both), 2).map(({ pixels }) => pixels.length)).toEqual([2]);
  });

  it('say whether they reach the border of the image', () => {
    const edge = image('.....', '##.#.', '.....');
    expect(blobs(edge, bright(edge), 1).map(({ open }) => open)).toEqual([true, false]);
  });

  it('do not run over the end of a row', () => {
    const rows = image('...#', '#...');
    expect(blobs(rows, bright(rows), 1)).toHaveLength(2);
  });
});

describe('a reduced image', () => {
  it('is the mean of its squares, without what does not fill one', () => {
    const small = reduced(image('##..#', '##..#', '....#'), 2);
    expect([small.width, small.height, ...small.data]).toEqual([2, 1, 255, 0]);
  });
});

describe('a smoothed image', () => {
  it('keeps an even area as it is, up to the border', () => {
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
