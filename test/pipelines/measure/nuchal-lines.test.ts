import { describe, expect, it } from 'vitest';
import type { GrayImage } from '../../../pipelines/contract/image.ts';
import { nuchalLines } from '../../../pipelines/measure/nuchal-lines.ts';

const WIDTH = 200;
const HEIGHT = 120;
const BOX = { minX: 40, minY: 48, maxX: 160, maxY: 72 };

/**
 * Draws two bright lines, each four pixels thick, on grey tissue. Between their inner borders is a
 * dark band. It is `thickness` pixels thick in the middle, tapers to 60 % at its ends, and is
 * tilted by `slope`.
 */
function band(thickness: number, slope = 0, dark = 10, line = 200): GrayImage {
  const data = new Uint8Array(WIDTH * HEIGHT);
  for (let x = 0; x < WIDTH; x++) {
    const middle = HEIGHT / 2 + slope * (x - WIDTH / 2);
    const half = (thickness / 2) * (1 - 0.4 * Math.abs((x - WIDTH / 2) / (WIDTH / 2)) ** 2);
    for (let y = 0; y < HEIGHT; y++) {
      const away = Math.abs(y - middle) * Math.cos(Math.atan(slope));
      const inBand = Math.min(Math.max(half - away + 0.5, 0), 1);
      const inLine = Math.min(Math.max(half + 4 - away + 0.5, 0), 1) - inBand;
      data[y * WIDTH + x] = Math.round(dark * inBand + line * inLine + 70 * (1 - inBand - inLine));
    }
  }
  return { width: WIDTH, height: HEIGHT, data };
}

describe('nuchalLines', () => {
  it.each([8, 12, 16])('measures a band of %s pixels where it is thickest', (thickness) => {
    const lines = nuchalLines(band(thickness), BOX);
    expect(lines?.thickness).toBeGreaterThan(thickness - 1);
    expect(lines?.thickness).toBeLessThan(thickness + 1);
    expect(Math.abs((lines?.ends[0].x ?? 0) - WIDTH / 2)).toBeLessThan(40);
  });

  it('measures perpendicular to a tilted band, not down the column', () => {
    const lines = nuchalLines(band(12, 0.3), { ...BOX, minY: 38, maxY: 82 });
    expect(lines?.thickness).toBeGreaterThan(11);
    expect(lines?.thickness).toBeLessThan(13);
    const [upper, lower] = lines?.ends ?? [];
    expect((upper?.x ?? 0) - (lower?.x ?? 0)).toBeGreaterThan(2);
  });

  it('returns millimetres in a scale, with its ends in pixels', () => {
    const lines = nuchalLines(band(12), BOX, { x: 0.1, y: 0.1 });
    expect(lines?.thickness).toBeCloseTo(1.2, 0);
    const [upper, lower] = lines?.ends ?? [];
    expect(((lower?.y ?? 0) - (upper?.y ?? 0)) / 10).toBeCloseTo(lines?.thickness ?? 0, 1);
  });

  it('finds nothing in even tissue', () => {
    const data = new Uint8Array(WIDTH * HEIGHT).fill(70);
    expect(nuchalLines({ width: WIDTH, height: HEIGHT, data }, BOX)).toBeNull();
  });

  it('finds nothing if the lines have little contrast', () => {
    expect(nuchalLines(band(12, 0, 60, 80), BOX)).toBeNull();
  });

  it('finds nothing in a box of a few pixels', () => {
    expect(nuchalLines(band(12), { minX: 50, minY: 58, maxX: 54, maxY: 60 })).toBeNull();
  });
});
