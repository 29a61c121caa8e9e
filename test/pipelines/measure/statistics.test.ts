import { describe, expect, it } from 'vitest';
import {
  centileOf,
  meanOfBeats,
  median,
  normalCdf,
  normalQuantile,
  zOf,
} from '../../../pipelines/measure/statistics.ts';

describe('the standard normal distribution', () => {
  it.each([
    [0, 0.5],
    [1, 0.8413447460685429],
    [-1.2815515655446004, 0.1],
    [1.6448536269514722, 0.95],
    [-3, 0.0013498980316300933],
    [-8, 6.220960574271786e-16],
  ])('is %f → %f, to nine digits at least', (z, p) => {
    expect(Math.abs(normalCdf(z) - p)).toBeLessThan(1e-9 * Math.max(p, 1e-7));
  });

  it.each([0.001, 0.02425, 0.03, 0.1, 0.5, 0.9, 0.975, 0.9999])(
    'is undone by its inverse at %f',
    (p) => {
      expect(normalCdf(normalQuantile(p))).toBeCloseTo(p, 14);
    },
  );

  it('has the z-scores of the common centiles (obstetric 16.1)', () => {
    expect(zOf(2.5)).toBeCloseTo(-1.959964, 6);
    expect(zOf(3)).toBeCloseTo(-1.880794, 6);
    expect(zOf(10)).toBeCloseTo(-1.281552, 6);
    expect(zOf(25)).toBeCloseTo(-0.67449, 6);
    expect(centileOf(0)).toBe(50);
  });

  it('is infinite at the ends of the inverse and not a number beyond', () => {
    expect(normalQuantile(0)).toBe(Number.NEGATIVE_INFINITY);
    expect(normalQuantile(1)).toBe(Number.POSITIVE_INFINITY);
    expect(normalQuantile(1.1)).toBeNaN();
  });
});

describe('median', () => {
  it.each([
    [[7], 7],
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 2.5],
    [[10, 9, 100], 10],
  ])('of %j is %f', (values, expected) => {
    expect(median(values)).toBe(expected);
  });

  it('of no values is NaN', () => {
    expect(median([])).toBeNaN();
  });
});

describe('a mean over beats', () => {
  it.each([
    ['one beat', [42], 42],
    ['beats that differ by exactly half of their mean', [30, 40, 50], 40],
    ['beats that all shrink', [-10, -12], -11],
    ['beats of which one is still', [0, 0], 0],
  ])('is given for %s', (_, beats, value) => {
    expect(meanOfBeats(beats)).toEqual({ value, contradicting: null });
  });

  it.each([
    ['one beat shrinks and the other grows', [-24, 58], [-24, 58]],
    ['they differ by more than half of their mean', [29, 40, 50], [29, 50]],
    ['a still beat is beside one that moves', [0, 12], [0, 12]],
  ])('contradicts itself if %s', (_, beats, contradicting) => {
    expect(meanOfBeats(beats)?.contradicting).toEqual(contradicting);
  });

  it('of differences within the noise is given whatever the signs', () => {
    expect(meanOfBeats([-5, 10], 15)?.contradicting).toBeNull();
    expect(meanOfBeats([-5.1, 10], 15)?.contradicting).toEqual([-5.1, 10]);
  });

  it('of no beat does not exist', () => {
    expect(meanOfBeats([])).toBeNull();
  });
});
