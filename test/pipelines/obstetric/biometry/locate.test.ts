import { describe, expect, it } from 'vitest';
import type { Point } from '../../../../pipelines/contract/image.ts';
import { endsOfMaps } from '../../../../pipelines/obstetric/biometry/locate.ts';

const WIDTH = 256;
const HEIGHT = 192;
const IDENTITY = { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 };

function mapOf(value: (x: number, y: number) => number) {
  const values = Float32Array.from({ length: WIDTH * HEIGHT }, (_, i) =>
    value(i % WIDTH, Math.floor(i / WIDTH)),
  );
  return { width: WIDTH, height: HEIGHT, values };
}

const bump = (centre: Point, height: number) => (x: number, y: number) =>
  height * Math.exp(-((x - centre.x) ** 2 + (y - centre.y) ** 2) / (2 * 2.5 ** 2));

const LEFT = { x: 60.4, y: 80.7 };
const RIGHT = { x: 190.2, y: 101.3 };
const shaft = mapOf((x, y) => {
  const along = (x - LEFT.x) / (RIGHT.x - LEFT.x);
  const middle = LEFT.y + along * (RIGHT.y - LEFT.y);
  return along >= 0 && along <= 1 && Math.abs(y - middle) < 3 ? 1 : 0;
});

describe('endsOfMaps', () => {
  it('finds both ends to a fifth of a pixel, the left one first', () => {
    const ends = mapOf((x, y) => Math.max(bump(RIGHT, 0.9)(x, y), bump(LEFT, 0.8)(x, y)));
    const found = endsOfMaps(shaft, ends, IDENTITY, 0.5);
    expect(Math.abs((found?.ends[0].x ?? 0) - LEFT.x)).toBeLessThan(0.2);
    expect(Math.abs((found?.ends[0].y ?? 0) - LEFT.y)).toBeLessThan(0.2);
    expect(Math.abs((found?.ends[1].x ?? 0) - RIGHT.x)).toBeLessThan(0.2);
    expect(found?.accepted).toBe(true);
  });

  it('prefers two ends with bone between them to a higher peak at another place', () => {
    const elsewhere = { x: 120, y: 20 };
    const ends = mapOf((x, y) =>
      Math.max(bump(RIGHT, 0.6)(x, y), bump(LEFT, 0.6)(x, y), bump(elsewhere, 0.95)(x, y)),
    );
    const found = endsOfMaps(shaft, ends, IDENTITY, 0.5);
    expect(Math.round(found?.ends[0].x ?? 0)).toBe(60);
    expect(Math.round(found?.ends[1].x ?? 0)).toBe(190);
  });

  it('does not accept ends without bone between them', () => {
    const ends = mapOf((x, y) => Math.max(bump(RIGHT, 0.9)(x, y), bump(LEFT, 0.9)(x, y)));
    const found = endsOfMaps(
      mapOf(() => 0),
      ends,
      IDENTITY,
      0.1,
    );
    expect(found?.accepted ?? false).toBe(false);
  });

  it('returns nothing for one end', () => {
    expect(endsOfMaps(shaft, mapOf(bump(LEFT, 0.9)), IDENTITY, 0)).toBeNull();
  });
});
