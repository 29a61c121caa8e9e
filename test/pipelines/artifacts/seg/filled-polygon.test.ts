import { describe, expect, it } from 'vitest';
import { filledPolygon } from '../../../../pipelines/artifacts/seg/outlined-structures.ts';
import { outlineOf } from '../../../../pipelines/measure/outline.ts';

const count = (pixels: Uint8Array) => pixels.reduce((sum, pixel) => sum + pixel, 0);

describe('a filled outline', () => {
  it('contains the pixels whose centre is inside: a square of 4 by 3 at an odd size', () => {
    const square: [number, number][] = [
      [0.5, 0.5],
      [4.5, 0.5],
      [4.5, 3.5],
      [0.5, 3.5],
    ];
    const pixels = filledPolygon(square, 7, 5);
    expect(count(pixels)).toBe(12);
    expect([pixels[8], pixels[11], pixels[12]]).toEqual([1, 1, 0]);
  });
  it('of a horseshoe leaves the gap empty', () => {
    const horseshoe: [number, number][] = [
      [0, 0],
      [8, 0],
      [8, 8],
      [6, 8],
      [6, 2],
      [2, 2],
      [2, 8],
      [0, 8],
    ];
    const pixels = filledPolygon(horseshoe, 9, 9);
    expect([pixels[5 * 9 + 1], pixels[5 * 9 + 4], pixels[5 * 9 + 7]]).toEqual([1, 0, 1]);
  });
  it('that extends beyond the image is cut off at its edge', () => {
    const beyond: [number, number][] = [
      [-5, -5],
      [20, -5],
      [20, 20],
      [-5, 20],
    ];
    expect(count(filledPolygon(beyond, 6, 4))).toBe(24);
  });
  it('around a mask reproduces that mask to within 1 % of its pixels', () => {
    const size = 120;
    const mask = Uint8Array.from({ length: size * size }, (_, i) => {
      const [x, y] = [(i % size) - 60, Math.floor(i / size) - 55];
      return (x / 40) ** 2 + (y / 25) ** 2 <= 1 ? 1 : 0;
    });
    const outline = outlineOf(mask, size) ?? [];
    const again = filledPolygon(
      outline.map(({ x, y }) => [x, y]),
      size,
      size,
    );
    const different = again.reduce((sum, pixel, i) => sum + (pixel === mask[i] ? 0 : 1), 0);
    expect(different / count(mask)).toBeLessThan(0.01);
  });
});
