import { describe, expect, it } from 'vitest';
import type { Ellipse, GrayImage } from '../../../../pipelines/contract/image.ts';
import { planeOfLogits, withHeadPlane } from '../../../../pipelines/obstetric/planes/locate.ts';
import { cropHead } from '../../../../pipelines/obstetric/shared/head-crop.ts';
import type { Plane } from '../../../../pipelines/obstetric/shared/plane.ts';

const HEADS = ['transthalamic', 'transventricular', 'transcerebellar', 'femur'];

/**
 * The probabilities are 45 % transthalamic, 35 % transventricular, 10 % transcerebellar and 10 %
 * femur.
 */
const UNDECIDED = planeOfLogits([0.45, 0.35, 0.1, 0.1].map(Math.log), HEADS, 1, 0);

const STRUCTURES = { csp: 0.8, thalami: 0.9, cerebellum: 0.1 };

const shares = (tt: number, tv: number, tc: number) => ({
  planes: new Map<Plane, number>([
    ['transthalamic', tt],
    ['transventricular', tv],
    ['transcerebellar', tc],
  ]),
  structures: STRUCTURES,
});

describe('withHeadPlane', () => {
  it('follows the head alone if the whole image is undecided', () => {
    const named = withHeadPlane(UNDECIDED, shares(0.1, 0.8, 0.1));
    expect(named.label).toBe('transventricular');
    expect(named.structures).toEqual(STRUCTURES);
  });

  it('follows the whole image if the head alone is undecided', () => {
    const named = withHeadPlane(UNDECIDED, shares(1 / 3, 1 / 3, 1 / 3));
    expect(named.label).toBe('transthalamic');
  });

  it('does not change the total probability of a head', () => {
    const { probabilities } = withHeadPlane(UNDECIDED, shares(0.1, 0.8, 0.1));
    const head =
      probabilities.transthalamic + probabilities.transventricular + probabilities.transcerebellar;
    expect(head).toBeCloseTo(0.9, 9);
    expect(probabilities.femur).toBeCloseTo(0.1, 9);
  });
});

const SIZE = 120;

/** The brightness increases to the right, and everything below the middle row is black. */
const ramp: GrayImage = {
  width: SIZE,
  height: SIZE,
  data: Uint8Array.from({ length: SIZE * SIZE }, (_, i) =>
    Math.floor(i / SIZE) > SIZE / 2 ? 0 : i % SIZE,
  ),
};
const HEAD: Ellipse = { centre: { x: 60, y: 60 }, a: 44, b: 30, angle: 0 };
const AS_IS = { along: 1, across: 1 } as const;

describe('cropHead', () => {
  it('puts the centre of the head in the middle and its long axis across 88 % of the width', () => {
    const crop = cropHead(ramp, HEAD, 101, 81, AS_IS);
    const row = 39 * 101;
    expect(255 * (crop[row + 50] ?? 0)).toBeCloseTo(60, 0);
    // One pixel of the crop is 2 x 44 / (0.88 x 101) pixels of the image.
    expect(255 * (crop[row + 90] ?? 0)).toBeCloseTo(60 + (40 * 88) / (0.88 * 101), -0.5);
  });

  it('rotates a steep head until it is level', () => {
    const crop = cropHead(ramp, { ...HEAD, angle: Math.PI / 2 }, 101, 81, AS_IS);
    const dark = crop.slice(40 * 101 + 60, 40 * 101 + 90).every((value) => value === 0);
    const bright = crop.slice(40 * 101 + 10, 40 * 101 + 40).every((value) => value > 0);
    expect([dark, bright]).toEqual([true, true]);
  });

  it('mirrors along and across the head', () => {
    const crop = cropHead(ramp, HEAD, 101, 81, AS_IS);
    const along = cropHead(ramp, HEAD, 101, 81, { along: -1, across: 1 });
    const across = cropHead(ramp, HEAD, 101, 81, { along: 1, across: -1 });
    expect(along[20 * 101 + 10]).toBeCloseTo(crop[20 * 101 + 90] ?? 0, 6);
    expect(across[20 * 101 + 10]).toBeCloseTo(crop[60 * 101 + 10] ?? 0, 6);
  });

  it('is black beyond the image', () => {
    const crop = cropHead(ramp, { ...HEAD, centre: { x: 0, y: 0 } }, 101, 81, AS_IS);
    expect(crop[0]).toBe(0);
  });
});
