import { describe, expect, it } from 'vitest';
import type { Ellipse, Point } from '../../../pipelines/contract/image.ts';
import {
  distanceToEllipse,
  ellipseFromMoments,
  fitEllipse,
} from '../../../pipelines/measure/ellipse-fit.ts';

const HEAD: Ellipse = { centre: { x: 131, y: 94.5 }, a: 90, b: 70, angle: 0.4 };

function pointAt({ centre, a, b, angle }: Ellipse, t: number): Point {
  const u = a * Math.cos(t);
  const v = b * Math.sin(t);
  return {
    x: centre.x + u * Math.cos(angle) - v * Math.sin(angle),
    y: centre.y + u * Math.sin(angle) + v * Math.cos(angle),
  };
}

const around = (ellipse: Ellipse, from: number, to: number, count: number) =>
  Array.from({ length: count }, (_, i) => pointAt(ellipse, from + ((to - from) * i) / count));

const ROUND: Ellipse = { centre: { x: 120, y: 100 }, a: 81, b: 79, angle: 0 };

function expectNear(found: Ellipse | null, expected: Ellipse, digits: number) {
  expect(found?.centre.x).toBeCloseTo(expected.centre.x, digits);
  expect(found?.centre.y).toBeCloseTo(expected.centre.y, digits);
  expect(found?.a).toBeCloseTo(expected.a, digits);
  expect(found?.b).toBeCloseTo(expected.b, digits);
  expect(found?.angle).toBeCloseTo(expected.angle, digits);
}

describe('fitEllipse', () => {
  it('finds the ellipse on which the points are, from a rough start', () => {
    expectNear(fitEllipse(around(HEAD, 0, 2 * Math.PI, 60), ROUND), HEAD, 6);
  });

  it('finds it from two thirds of the border, as if the rest were outside the image', () => {
    expectNear(fitEllipse(around(HEAD, 0.5, 4.7, 60), ROUND), HEAD, 4);
  });

  it('is not displaced by a dent in one tenth of the border', () => {
    const dented = around(HEAD, 0, 2 * Math.PI, 100).map((point, i) =>
      i < 10 ? { x: point.x - 12, y: point.y } : point,
    );
    const found = fitEllipse(dented, ROUND);
    expect(Math.abs((found?.a ?? 0) - HEAD.a)).toBeLessThan(0.5);
    expect(Math.abs((found?.b ?? 0) - HEAD.b)).toBeLessThan(0.5);
  });

  it('returns nothing for four points', () => {
    expect(fitEllipse(around(HEAD, 0, 6, 4), ROUND)).toBeNull();
  });

  it('returns nothing for points on a line', () => {
    const line = Array.from({ length: 20 }, (_, i) => ({ x: i * 5, y: 50 }));
    expect(fitEllipse(line, ROUND)).toBeNull();
  });
});

describe('ellipseFromMoments', () => {
  it('takes a quarter of the squared semi-axes as variance', () => {
    const found = ellipseFromMoments({ mean: { x: 3, y: 4 }, xx: 16, xy: 0, yy: 25 });
    expect(found).toMatchObject({ centre: { x: 3, y: 4 }, a: 10, b: 8 });
    expect(Math.abs(found.angle)).toBeCloseTo(Math.PI / 2);
  });
});

describe('distanceToEllipse', () => {
  it('is negative inside, zero on it and positive outside', () => {
    const circle: Ellipse = { centre: { x: 0, y: 0 }, a: 10, b: 10, angle: 0 };
    expect(distanceToEllipse(circle, { x: 8, y: 0 })).toBeCloseTo(-2);
    expect(distanceToEllipse(circle, { x: 0, y: 10 })).toBeCloseTo(0);
    expect(distanceToEllipse(circle, { x: 0, y: -13 })).toBeCloseTo(3);
  });
});
