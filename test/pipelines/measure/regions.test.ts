import { describe, expect, it } from 'vitest';
import {
  boundsOfRegion,
  largestOf,
  paint,
  pixelsOf,
  regionsOf,
} from '../../../pipelines/measure/regions.ts';

/** Builds a map from rows of digits, in which `.` is 0. */
function map(...rows: string[]) {
  const width = rows[0]?.length ?? 0;
  const values = Uint8Array.from(rows.join(''), (digit) => (digit === '.' ? 0 : Number(digit)));
  return { width, values };
}

const found = ({ values, width }: ReturnType<typeof map>, neighbours?: 4 | 8) =>
  regionsOf(values, width, neighbours).map((region) => [region.value, region.size, region.open]);

describe('regions of a map of values', () => {
  it('are connected by edges, not by corners', () => {
    expect(found(map('.....', '.1...', '..1..', '.....'))).toEqual([
      [1, 1, false],
      [1, 1, false],
    ]);
  });

  it('are connected by corners too if all eight neighbours count', () => {
    expect(found(map('......', '.1..1.', '..11..', '......'), 8)).toEqual([[1, 4, false]]);
    expect(found(map('.....', '..11.', '.1...', '.....'), 8)).toEqual([[1, 3, false]]);
    expect(found(map('.....', '.1...', '...1.', '.....'), 8)).toHaveLength(2);
  });

  it('have the bounds of all their runs', () => {
    const { values, width } = map('.....', '..11.', '.111.', '.1...', '.....');
    expect(regionsOf(values, width).map((region) => boundsOfRegion(region, width))).toEqual([
      { minX: 1, minY: 1, maxX: 3, maxY: 3 },
    ]);
  });

  it('do not depend on a larger map that was examined before', () => {
    const speckle = Uint8Array.from({ length: 64 * 64 }, (_, at) => 1 + (at % 3));
    expect(regionsOf(speckle, 64).length).toBeGreaterThan(64);
    expect(found(map('....', '.1..', '..2.', '....'))).toEqual([
      [1, 1, false],
      [2, 1, false],
    ]);
  });

  it('are connected by corners past a region of another value', () => {
    expect(found(map('.....', '.12..', '.2...', '.....'), 8)).toEqual([
      [1, 1, false],
      [2, 2, false],
    ]);
  });

  it('are not connected by corners beyond the end of a row', () => {
    expect(found(map('...1', '....', '1...'), 8)).toHaveLength(2);
    expect(found(map('...1', '1...'), 8)).toHaveLength(2);
  });

  it('with two values are separate where they touch', () => {
    expect(found(map('......', '.1122.', '......'))).toEqual([
      [1, 2, false],
      [2, 2, false],
    ]);
  });

  it('that meet further down are one: a horseshoe, and a comb', () => {
    expect(found(map('.......', '.1...1.', '.11111.', '.......'))).toEqual([[1, 7, false]]);
    expect(found(map('.......', '.1.1.1.', '.1.1.1.', '.11111.', '.......'))).toEqual([
      [1, 11, false],
    ]);
  });

  it('do not continue beyond the end of a row', () => {
    expect(found(map('...1', '1...'))).toEqual([
      [1, 1, true],
      [1, 1, true],
    ]);
  });

  it.each([
    ['the first row', ['.1.', '...', '...']],
    ['the last row', ['...', '...', '.1.']],
    ['the first column', ['...', '1..', '...']],
    ['the last column', ['...', '..1', '...']],
  ])('are open at %s', (_, rows) => {
    expect(found(map(...rows))).toEqual([[1, 1, true]]);
  });

  it('inside a ring are separate, and closed', () => {
    const ring = map('22222', '21112', '21.12', '21112', '22222');
    expect(found(ring)).toEqual([
      [2, 16, true],
      [1, 8, false],
    ]);
  });
});

describe('a region', () => {
  const two = map('.....', '.1.1.', '.1.1.', '...1.', '.....');

  it('has its pixels row by row', () => {
    const [first] = regionsOf(two.values, two.width);
    expect(first && pixelsOf(first)).toEqual([6, 11]);
  });

  it('is the largest by its pixels; of equal ones, the first', () => {
    expect(largestOf(regionsOf(two.values, two.width))?.size).toBe(3);
    const even = regionsOf(map('1.1').values, 3);
    expect(largestOf(even)).toBe(even[0]);
    expect(largestOf([])).toBeNull();
  });

  it('is painted where it lies and nowhere else', () => {
    const into = new Uint8Array(25);
    const region = largestOf(regionsOf(two.values, two.width));
    if (region) paint(into, region, 7);
    expect([...into.entries()].filter(([, value]) => value === 7).map(([at]) => at)).toEqual([
      8, 13, 18,
    ]);
  });
});
