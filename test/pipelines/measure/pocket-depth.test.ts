import { describe, expect, it } from 'vitest';
import { deepestPocket } from '../../../pipelines/measure/pocket-depth.ts';

/** Returns a map with fluid wherever the picture has a dot, one cell per character. */
function fluid(...rows: string[]) {
  const width = rows[0]?.length ?? 0;
  const values = Float32Array.from(rows.join(''), (cell) => (cell === '.' ? 1 : 0));
  return { width, height: rows.length, values };
}

const MM = { x: 1, y: 1 };

describe('deepestPocket', () => {
  const pocket = fluid('########', '#......#', '#......#', '#......#', '########');

  it('is the vertical extent of the fluid, in cells and in millimetres', () => {
    expect(deepestPocket(pocket, { x: 2, y: 3 }, 10)).toMatchObject({ depthMm: 9 });
    expect(deepestPocket(pocket, MM, 1)?.top.y).toBe(0.5);
    expect(deepestPocket(pocket, MM, 1)?.bottom.y).toBe(3.5);
  });

  it.each([
    [6, true],
    [6.1, false],
  ])('of 6 mm width counts if %d mm are required: %s', (narrowest, counts) => {
    expect(deepestPocket(pocket, MM, narrowest) !== null).toBe(counts);
  });

  it('does not run through cord or limb', () => {
    const crossed = fluid('......', '......', '######', '......', '......', '......');
    expect(deepestPocket(crossed, MM, 5)?.depthMm).toBe(3);
  });

  it('is the widest deep place, not a deep crack', () => {
    const crack = fluid('#.######', '#.######', '#.######', '#.######', '#......#', '#......#');
    expect(deepestPocket(crack, MM, 4)).toMatchObject({ depthMm: 2 });
  });

  it('finds its border between a wet and a dry cell by the level of one half', () => {
    const soft = { width: 1, height: 3, values: Float32Array.of(0.25, 1, 0.25) };
    const found = deepestPocket(soft, MM, 0.1);
    expect(found?.depthMm).toBeCloseTo(2 * (0.5 / 0.75), 6);
  });

  it('is null where there is no fluid', () => {
    expect(deepestPocket(fluid('####', '####'), MM, 1)).toBeNull();
  });
});
