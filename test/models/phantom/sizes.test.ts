import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../models/phantom/random.ts';
import {
  drawGrowth,
  ellipseCircumference,
  MEDIAN_GROWTH,
  sizesAt,
} from '../../../models/phantom/sizes.ts';

/** 50th and 97th centiles in mm as printed by INTERGROWTH-21st (Papageorghiou 2014). */
const PUBLISHED = [
  { weeks: 14, hc: 97.9, hc97: 108.4 },
  { weeks: 20, hc: 172.5, hc97: 186.5 },
  { weeks: 28, hc: 260.4 },
  { weeks: 40, hc: 333.9 },
];

const Z_97 = 1.8808;

describe('the sizes of a phantom fetus', () => {
  it.each(PUBLISHED)('have the published median HC at $weeks weeks', ({ weeks, hc }) => {
    expect(Math.abs(sizesAt(weeks * 7).hcMm - hc)).toBeLessThanOrEqual(0.11);
  });

  it.each(PUBLISHED.filter((row) => row.hc97 !== undefined))(
    'reach the published 97th centile of HC at $weeks weeks',
    ({ weeks, hc97 }) => {
      const large = sizesAt(weeks * 7, { ...MEDIAN_GROWTH, hc: Z_97 });
      expect(Math.abs(large.hcMm - (hc97 ?? 0))).toBeLessThanOrEqual(0.11);
    },
  );

  it('include axes whose ellipse has exactly the circumference', () => {
    const sizes = sizesAt(200, drawGrowth(createRandom(3)));
    expect(ellipseCircumference(sizes.bpdMm, sizes.ofdMm)).toBeCloseTo(sizes.hcMm, 9);
    expect(ellipseCircumference(sizes.tadMm, sizes.apadMm)).toBeCloseTo(sizes.acMm, 9);
  });

  it('reproduce the worked circumference of the obstetric reference, 92 by 118 mm', () => {
    expect(ellipseCircumference(92, 118)).toBeCloseTo(331.133, 3);
  });

  it('are refused for an age outside the chart, but available at its ends', () => {
    expect(() => sizesAt(97)).toThrow(RangeError);
    expect(() => sizesAt(281)).toThrow(RangeError);
    expect(() => sizesAt(Number.NaN)).toThrow(RangeError);
    expect(sizesAt(98).flMm).toBeGreaterThan(8);
    expect(sizesAt(280).flMm).toBeLessThan(80);
  });
});
