import { describe, expect, it } from 'vitest';
import {
  levelAt,
  lineProfile,
  meanLevel,
  steepestStep,
} from '../../../pipelines/measure/line-profile.ts';

/** All pixels of a row have the same level: 0 up to row 39, and 120 below that. */
const image = {
  width: 60,
  height: 100,
  data: Uint8Array.from({ length: 6000 }, (_, i) => (i < 40 * 60 ? 0 : 120)),
};
const scale = { x: 0.25, y: 0.5 };
const from = { x: 30, y: 20 };
const to = { x: 30, y: 60 };
const profile = lineProfile(image, scale, [from, to], { half: 1.5, before: 5, beyond: 5 });

describe('levels along a line', () => {
  it('are given in millimetres from its first point, even if the two scales differ', () => {
    expect(profile.length).toBeCloseTo(20, 9);
    expect(profile.point(10)).toEqual({ x: 30, y: 40 });
    expect(meanLevel(profile, 0, 8)).toBe(0);
    expect(meanLevel(profile, 11, 20)).toBeCloseTo(120, 6);
  });

  it('continue before and after it, and are missing beyond the picture', () => {
    expect(profile.level(24)).toBeCloseTo(120, 6);
    const short = lineProfile(image, scale, [from, to], { half: 0, before: 20, beyond: 0 });
    expect(short.level(-15)).toBe(0);
  });
});

describe('the level between pixels', () => {
  const four = { width: 2, height: 2, data: Uint8Array.of(40, 80, 120, 200) };

  it.each([
    [0.5, 0.5, 110],
    [0, 0, 40],
    [1, 1, 200],
    [1, 0.25, 110],
    [1.5, 1, 100],
    [-0.75, 0, 10],
    [0, 1.75, 30],
    [2, 0, 0],
    [-1, 0, 0],
  ])('at %s, %s is %s: it falls to black over the pixel beyond the edge', (x, y, level) => {
    expect(levelAt(four, x, y)).toBeCloseTo(level, 9);
  });
});

describe('the steepest step', () => {
  it('is where the level changes, and has its contrast', () => {
    const step = steepestStep(profile, 'brighter', [5, 15]);
    expect(step?.at).toBeCloseTo(9.75, 6);
    expect(step?.contrast).toBeGreaterThan(0.7);
  });
  it('in the other direction does not exist', () => {
    expect(steepestStep(profile, 'darker', [5, 15])).toBeNull();
  });
  it('is the nearer bound if the change is beyond the range', () => {
    expect(steepestStep(profile, 'brighter', [5, 8.5])?.at).toBe(8.5);
  });
});
