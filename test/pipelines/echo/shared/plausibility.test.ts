import { describe, expect, it } from 'vitest';
import type { EchoConcept } from '../../../../pipelines/concepts/echo.ts';
import { withPlausibility } from '../../../../pipelines/echo/shared/plausibility.ts';
import { createMeasurement } from '../../../../pipelines/result/measurement.ts';
import { noteOf } from '../rendered.ts';

const judged = (key: EchoConcept, value: number) =>
  withPlausibility(createMeasurement(key, key, value, 'cart-sr', { section: 'valves' }), key);

describe('the plausibility of a value', () => {
  it.each([
    ['av-vmax', 0.69, 'inadequate'],
    ['av-vmax', 0.7, 'accepted'],
    ['av-vmax', 7, 'accepted'],
    ['av-vmax', 7.01, 'inadequate'],
    ['av-area-vmax', 0.29, 'inadequate'],
    ['ivc-collapse', -1, 'inadequate'],
    // There are no known ranges for these concepts.
    ['mapse', 5000, 'accepted'],
    ['mapse', Number.POSITIVE_INFINITY, 'inadequate'],
    ['mapse', Number.NEGATIVE_INFINITY, 'inadequate'],
    ['mapse', Number.NaN, 'inadequate'],
  ] as const)('%s of %d is %s', (key, value, quality) => {
    expect(judged(key, value).quality).toBe(quality);
  });

  it('has a reason if it is withheld', () => {
    expect(noteOf(judged('av-vmax', 8))).toContain('outside the plausible range of 0.7 to 7.0 m/s');
    expect(noteOf(judged('av-vmax', Number.NaN))).toBe('not a finite number');
  });
});
