import { describe, expect, it } from 'vitest';
import { letterbox, toSource } from '../../../pipelines/inference/letterbox.ts';

/** A pattern with detail at every scale, made by a formula so that OpenCV can be given the same. */
function pattern(width: number, height: number) {
  const data = Uint8Array.from({ length: width * height }, (_, i) => {
    const x = i % width;
    const y = Math.floor(i / width);
    return (x * 7 + y * 13 + ((x * y) % 31) * 5) % 256;
  });
  return { width, height, data };
}

/** Grey levels at rows 0, 40, 96, 150, 191 and columns 0, 60, 100, 128, 190, 255 by OpenCV 5.0. */
const OPENCV = [
  {
    width: 640,
    height: 480,
    sum: 6263647,
    levels: [
      19, 118, 170, 139, 97, 168, 67, 152, 85, 114, 113, 152, 128, 167, 89, 76, 137, 138, 42, 128,
      79, 99, 99, 151, 131, 187, 128, 95, 156, 109,
    ],
  },
  {
    width: 300,
    height: 500,
    sum: 2814614,
    levels: [
      0, 0, 89, 135, 0, 0, 0, 0, 165, 175, 0, 0, 0, 0, 141, 87, 0, 0, 0, 0, 93, 82, 0, 0, 0, 0, 182,
      171, 0, 0,
    ],
  },
  {
    width: 90,
    height: 70,
    sum: 6055143,
    levels: [
      0, 140, 243, 58, 216, 0, 0, 104, 109, 62, 108, 0, 0, 184, 133, 97, 81, 0, 0, 186, 155, 80, 74,
      0, 0, 96, 74, 194, 125, 0,
    ],
  },
];
const ROWS = [0, 40, 96, 150, 191];
const COLUMNS = [0, 60, 100, 128, 190, 255];

describe('letterbox', () => {
  it.each(OPENCV)('gives the grey levels OpenCV gives for $width × $height', (expected) => {
    const { pixels } = letterbox(pattern(expected.width, expected.height), 256, 192);
    const levels = ROWS.flatMap((y) => COLUMNS.map((x) => (pixels[y * 256 + x] ?? 0) * 255));
    levels.forEach((level, i) => {
      expect(Math.abs(level - (expected.levels[i] ?? Number.NaN))).toBeLessThanOrEqual(2);
    });
    const sum = pixels.reduce((total, value) => total + value * 255, 0);
    expect(Math.abs(sum / expected.sum - 1)).toBeLessThan(0.002);
  });

  it('centres a narrow image between black columns', () => {
    const { pixels, placement } = letterbox(
      { width: 2, height: 4, data: new Uint8Array(8).fill(255) },
      8,
      8,
    );
    expect(placement).toEqual({ scaleX: 2, scaleY: 2, offsetX: 2, offsetY: 0 });
    expect([...pixels.slice(0, 8)]).toEqual([0, 0, 1, 1, 1, 1, 0, 0]);
  });

  it('keeps one row of an image that is far too wide', () => {
    const { placement } = letterbox(
      { width: 4000, height: 1, data: new Uint8Array(4000) },
      256,
      192,
    );
    expect(placement.scaleY).toBe(1);
  });

  it('maps the corner pixels of the network back to the corner pixels of the source', () => {
    const { placement } = letterbox(pattern(512, 384), 256, 192);
    expect(toSource(placement, { x: 0, y: 0 })).toEqual({ x: 0.5, y: 0.5 });
    expect(toSource(placement, { x: 255, y: 191 })).toEqual({ x: 510.5, y: 382.5 });
  });
});
