import { describe, expect, it } from 'vitest';
import { biasInBands, recalibrationOf } from '../../../models/evaluation/echo-ejection.ts';

/** Creates a patient for whom both estimates are equal. */
const patient = (reference: number, estimate: number) => ({
  patient: String(reference),
  reference,
  byDiscs: estimate,
  byNetwork: estimate,
  joint: estimate,
  accepted: true,
});

describe('the recalibration of LVEF', () => {
  it('gives the estimates the mean and the spread of the reference, whatever their error', () => {
    // Half of the spread is noise, so least squares would halve the slope.
    const noisy = [patient(30, 40), patient(30, 20), patient(60, 70), patient(60, 50)];
    const { slope, offset } = recalibrationOf(noisy);
    expect(slope).toBeCloseTo(15 / Math.hypot(15, 10), 2);
    expect(slope * 45 + offset).toBeCloseTo(45, 1);
  });
});

describe('the bias in bands', () => {
  it('is computed both by the reference and by the reported value', () => {
    const bias = biasInBands([patient(38, 42), patient(50, 50), patient(65, 59), patient(70, 70)]);
    expect(bias.byReference).toEqual({
      'below 40': { patients: 1, biasPoints: 4 },
      '40 to 59': { patients: 1, biasPoints: 0 },
      '60 and more': { patients: 2, biasPoints: -3 },
    });
    expect(bias.byReported['40 to 59']).toEqual({ patients: 3, biasPoints: -0.67 });
  });
});
