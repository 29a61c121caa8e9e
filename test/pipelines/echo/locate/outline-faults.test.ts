import { describe, expect, it } from 'vitest';
import type { Point } from '../../../../pipelines/contract/image.ts';
import {
  isTooSmallAtrium,
  outlineFault,
  shareOnEdge,
  solidity,
} from '../../../../pipelines/echo/locate/outline-faults.ts';
import { litHull } from '../../../../pipelines/echo/locate/sector.ts';

/**
 * Returns a circle of radius 20 around (50, 50), one quarter of which is pulled inwards to the
 * radius `dent`.
 */
function chamber(dent = 20): Point[] {
  return Array.from({ length: 96 }, (_, i) => {
    const angle = (2 * Math.PI * i) / 96;
    const radius = i < 24 ? dent : 20;
    return { x: 50 + radius * Math.cos(angle), y: 50 + radius * Math.sin(angle) };
  });
}

const FAN = [
  { x: 0, y: 0 },
  { x: 100, y: 0 },
  { x: 100, y: 100 },
  { x: 0, y: 100 },
];

describe('the outline of a chamber', () => {
  it('of a whole chamber within the fan has no fault', () => {
    for (const name of ['lv', 'la', 'rv', 'ra'] as const) {
      expect(outlineFault(name, chamber(), FAN)).toBeNull();
    }
  });

  it('that lost a part in a shadow is dented; the curved RV may have a deeper dent', () => {
    const bitten = chamber(9);
    expect(solidity(bitten)).toBeGreaterThan(0.82);
    expect(solidity(bitten)).toBeLessThan(0.92);
    expect(outlineFault('la', bitten, FAN)).toBe('dented');
    expect(outlineFault('ra', bitten, FAN)).toBe('dented');
    expect(outlineFault('rv', bitten, FAN)).toBeNull();
  });

  it('that runs along the edge of the fan is cut off by it', () => {
    const cut = chamber().map(({ x, y }) => ({ x, y: Math.min(100, y + 42) }));
    expect(shareOnEdge(cut, FAN)).toBeGreaterThan(0.15);
    expect(outlineFault('la', cut, FAN)).toBe('out-of-sector');
    // Only the tip touches the edge.
    expect(
      outlineFault(
        'la',
        chamber().map(({ x, y }) => ({ x, y: y + 30 })),
        FAN,
      ),
    ).toBeNull();
  });

  it('is not compared with an edge that is unknown', () => {
    expect(shareOnEdge(chamber(), [])).toBe(0);
  });
});

describe('an atrium next to its ventricle', () => {
  it.each([
    [7.5, 30, false],
    [7.4, 30, true],
    [6, 35, true],
    [16, 30, false],
  ])('of %f beside %f cm2 is too small: %s', (atrium, ventricle, small) => {
    expect(isTooSmallAtrium(atrium, ventricle)).toBe(small);
  });
});

describe('the edge of a picture', () => {
  it('is the hull of what any frame shows within the fan, without anything outside it', () => {
    const frame = (lit: readonly (readonly [number, number])[]) => {
      const data = new Uint8Array(50 * 40);
      for (const [x, y] of lit) data[y * 50 + x] = 90;
      return { width: 50, height: 40, data };
    };
    const area = { minX: 5, minY: 5, maxX: 44, maxY: 34 };
    const frames = [
      frame([
        [20, 6],
        [1, 1],
      ]),
      frame([
        [8, 30],
        [40, 30],
      ]),
    ];
    const hull = litHull(frames, area);
    expect(hull.toSorted((a, b) => a.x - b.x)).toEqual([
      { x: 8, y: 30 },
      { x: 20, y: 6 },
      { x: 40, y: 30 },
    ]);
  });
});
