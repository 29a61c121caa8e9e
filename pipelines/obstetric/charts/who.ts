import { normalQuantile } from '../../measure/statistics.ts';
import { WHO_COEFFICIENTS, type WhoCoefficients } from './who-coefficients.ts';
import { WHO_WEIGHT_BY_SEX } from './who-weight-by-sex.ts';

const COEFFICIENTS = { ...WHO_COEFFICIENTS, ...WHO_WEIGHT_BY_SEX };

export type WhoMeasure = keyof typeof COEFFICIENTS;

/** Exact weeks of the chart; no extrapolation. */
const WEEKS = { from: 14, to: 40 } as const;

function evaluate(b: readonly number[], t: number): number {
  return Math.exp(b.reduceRight((sum, coefficient) => sum * t + coefficient, 0));
}

function quantiles(
  measure: WhoMeasure,
  gaWeeks: number,
): { level: number; value: number }[] | null {
  if (gaWeeks < WEEKS.from || gaWeeks > WEEKS.to) return null;
  const coefficients: WhoCoefficients = COEFFICIENTS[measure];
  return coefficients.map(([level, b]) => ({ level, value: evaluate(b, gaWeeks) }));
}

/**
 * Value at one of the eleven quantile levels (0.01 to 0.99): mm, or g for a weight. BPD is outer to
 * inner. Null outside of 14 to 40 weeks or for another level.
 */
export function whoQuantile(measure: WhoMeasure, gaWeeks: number, level: number): number | null {
  const found = quantiles(measure, gaWeeks)?.find((entry) => Math.abs(entry.level - level) < 1e-9);
  return found?.value ?? null;
}

interface Interpolated {
  centile: number;
  z: number;
}

/**
 * Centile and z-score of a value by linear interpolation in ln(value) between the quantiles, as the
 * authors recommend. Null outside the chart's weeks or beyond its first and last quantile.
 */
export function whoCentile(
  measure: WhoMeasure,
  gaWeeks: number,
  value: number,
): Interpolated | null {
  const curve = quantiles(measure, gaWeeks);
  if (!curve) return null;
  for (const [index, upper] of curve.entries()) {
    const lower = curve[index - 1];
    if (!lower || value < lower.value || value > upper.value) continue;
    const share = Math.log(value / lower.value) / Math.log(upper.value / lower.value);
    const between = (from: number, to: number) => from + share * (to - from);
    return {
      centile: 100 * between(lower.level, upper.level),
      z: between(normalQuantile(lower.level), normalQuantile(upper.level)),
    };
  }
  return null;
}
