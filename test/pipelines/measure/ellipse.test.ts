import { describe, expect, it } from 'vitest';
import type { Ellipse } from '../../../pipelines/contract/image.ts';
import {
  axisEnds,
  distance,
  extent,
  perimeter,
  toMillimetres,
} from '../../../pipelines/measure/ellipse.ts';

const ellipse = (changes: Partial<Ellipse> = {}): Ellipse => ({
  centre: { x: 100, y: 80 },
  a: 50,
  b: 30,
  angle: 0,
  ...changes,
});

describe('perimeter (Ramanujan)', () => {
  it('of a circle is 2 π r', () => {
    expect(perimeter(10, 10)).toBeCloseTo(20 * Math.PI, 12);
  });

  it('of 92 by 118 mm is 331.133 mm (obstetric 2.2)', () => {
    expect(perimeter(46, 59)).toBeCloseTo(331.133, 3);
  });

  it('agrees with the summed length of many short chords', () => {
    const points = Array.from({ length: 20_001 }, (_, i) => {
      const t = (2 * Math.PI * i) / 20_000;
      return { x: 59 * Math.cos(t), y: 46 * Math.sin(t) };
    });
    const length = points
      .slice(1)
      .reduce((sum, p, i) => sum + distance(points[i] ?? p, p, { x: 1, y: 1 }), 0);
    expect(perimeter(59, 46) / length).toBeCloseTo(1, 5);
  });
});

describe('an ellipse in millimetres', () => {
  it('is scaled uniformly if both scales are the same, whatever its angle', () => {
    const { a, b, angle } = toMillimetres(ellipse({ angle: 0.7 }), { x: 0.2, y: 0.2 });
    expect(a).toBeCloseTo(10, 10);
    expect(b).toBeCloseTo(6, 10);
    expect(angle).toBeCloseTo(0.7, 10);
  });

  it('has its longer axis first, even where pixels are not square', () => {
    const { a, b, angle } = toMillimetres(ellipse(), { x: 0.1, y: 0.3 });
    expect([a, b]).toEqual([expect.closeTo(9, 10), expect.closeTo(5, 10)]);
    expect(Math.abs(angle)).toBeCloseTo(Math.PI / 2, 10);
  });

  it('keeps its points: each point of the tilted ellipse is on the result', () => {
    const tilted = ellipse({ angle: 0.6 });
    const scale = { x: 0.25, y: 0.4 };
    const mm = toMillimetres(tilted, scale);
    for (let t = 0; t < 2 * Math.PI; t += 0.1) {
      const u = tilted.a * Math.cos(t);
      const v = tilted.b * Math.sin(t);
      const x = (100 + u * Math.cos(0.6) - v * Math.sin(0.6)) * scale.x - mm.centre.x;
      const y = (80 + u * Math.sin(0.6) + v * Math.cos(0.6)) * scale.y - mm.centre.y;
      const along = x * Math.cos(mm.angle) + y * Math.sin(mm.angle);
      const across = -x * Math.sin(mm.angle) + y * Math.cos(mm.angle);
      expect((along / mm.a) ** 2 + (across / mm.b) ** 2).toBeCloseTo(1, 9);
    }
  });

  it('has its axis ends at the ends of its axes, the first axis first', () => {
    const [a1, a2, b1, b2] = axisEnds(ellipse());
    expect([a1, a2]).toEqual([
      { x: 50, y: 80 },
      { x: 150, y: 80 },
    ]);
    expect(b1.y).toBeCloseTo(50, 10);
    expect(b2.y).toBeCloseTo(110, 10);
  });

  it('lies within its extent and touches it', () => {
    const [low, high] = extent(ellipse({ angle: Math.PI / 2 }));
    expect(low.x).toBeCloseTo(70, 10);
    expect(high.y).toBeCloseTo(130, 10);
  });
});

describe('distance', () => {
  it('uses the scale of each axis', () => {
    expect(distance({ x: 0, y: 0 }, { x: 30, y: 40 }, { x: 0.1, y: 0.1 })).toBeCloseTo(5, 12);
    expect(distance({ x: 0, y: 0 }, { x: 30, y: 40 }, { x: 0.2, y: 0 })).toBeCloseTo(6, 12);
  });
});
