import { describe, expect, test } from 'vitest';
import type { ParasternalMasks } from '../../../../pipelines/echo/locate/parasternal.ts';
import { type Line, longAxisLines } from '../../../../pipelines/echo/locate/parasternal.ts';

const SIZE = 300;
const NONE = { lv: 0, myocardium: 0, la: 0, rv: 0, ra: 0, aorta: 0, effusion: 0 };

/**
 * Returns true inside a structure. Pixels are counted along the axis from the base towards the
 * apex, and across it downwards.
 */
type Inside = (along: number, across: number) => boolean;

/**
 * Draws a long axis of 300 × 300 pixels, rotated by `turn` radians around the middle of the base.
 * In pixels, the septum is 14 thick, the cavity 60, the posterior wall 12, the atrium 50 and the
 * root 40.
 */
function drawn(turn: number, leftOut: readonly number[] = []): ParasternalMasks {
  const structures: readonly (readonly [number, Inside])[] = [
    [1, (u, v) => u >= 0 && u < 110 && Math.abs(v) <= 30],
    [2, (u, v) => u >= 0 && u < 110 && v < -30 && v >= -44],
    [2, (u, v) => u >= 0 && u < 110 && v > 30 && v <= 42],
    [3, (u, v) => Math.hypot((u + 40) / 40, (v - 20) / 25) <= 1],
    [6, (u, v) => u < 0 && u > -70 && v < -4 && v >= -44],
  ];
  const labels = new Uint8Array(SIZE * SIZE);
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) {
      const [dx, dy] = [x - 170, y - 150];
      const along = -dx * Math.cos(turn) - dy * Math.sin(turn);
      const across = -dx * Math.sin(turn) + dy * Math.cos(turn);
      const found = structures.findLast(([, inside]) => inside(along, across));
      if (found && !leftOut.includes(found[0])) labels[y * SIZE + x] = found[0];
    }
  }
  return {
    area: { minX: 0, minY: 0, maxX: SIZE - 1, maxY: SIZE - 1 },
    width: SIZE,
    height: SIZE,
    labels,
    confidence: { ...NONE, 'pulmonary-artery': 0 },
    accepted: true,
  };
}

const length = (line: Line | undefined) =>
  line ? Math.hypot(line[1].x - line[0].x, line[1].y - line[0].y) : Number.NaN;

describe('lines of the parasternal long axis', () => {
  test.each([0, 0.3, -0.3])('have the thickness of what they cross, turned by %s', (turn) => {
    const lines = longAxisLines(drawn(turn));
    expect(Math.abs(length(lines.cavity) - 61)).toBeLessThan(3);
    expect(Math.abs(length(lines.septum) - 14)).toBeLessThan(2);
    expect(Math.abs(length(lines['posterior-wall']) - 12)).toBeLessThan(2);
    expect(Math.abs(length(lines['left-atrium']) - 50)).toBeLessThan(4);
    expect(Math.abs(length(lines.sinus) - 40)).toBeLessThan(3);
  });

  test('are on one line, from the probe downwards: septum, cavity, posterior wall', () => {
    const { septum, cavity, 'posterior-wall': posterior } = longAxisLines(drawn(0));
    expect(septum?.[1]).toEqual(cavity?.[0]);
    expect(posterior?.[0]).toEqual(cavity?.[1]);
    expect(septum?.[0].y).toBeLessThan(cavity?.[0].y ?? 0);
  });

  test('need what they measure: without walls there is only the cavity, without a base nothing', () => {
    expect(Object.keys(longAxisLines(drawn(0, [2]))).toSorted()).toEqual([
      'cavity',
      'left-atrium',
      'sinus',
    ]);
    expect(longAxisLines(drawn(0, [3, 6]))).toEqual({});
    expect(longAxisLines(drawn(0, [1]))).toEqual({});
  });
});
