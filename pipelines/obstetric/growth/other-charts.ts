import { readFileSync } from 'node:fs';
import { normalCdf, normalQuantile } from '../../measure/statistics.ts';
import type { BiometryCm } from '../biometry/formulas.ts';

/** Charts of size and weight other than INTERGROWTH-21st. Currently, no result uses them. */

/**
 * Mean size in cm at an age in weeks, 12 to 40: Hadlock et al., Radiology 1984;152:497-501.
 * BPD outer to inner.
 */
const MEAN_SIZE: Readonly<Record<keyof BiometryCm, (ga: number) => number>> = {
  bpd: (ga) => -3.08 + 0.41 * ga - 0.000061 * ga ** 3,
  hc: (ga) => -11.48 + 1.56 * ga - 0.0002548 * ga ** 3,
  ac: (ga) => -13.3 + 1.61 * ga - 0.00998 * ga ** 2,
  fl: (ga) => -3.91 + 0.427 * ga - 0.0034 * ga ** 2,
};

/** Returns the mean size in cm; null outside 12 to 40 weeks. */
export function hadlock1984Size(measure: keyof BiometryCm, gaWeeks: number): number | null {
  return gaWeeks >= 12 && gaWeeks <= 40 ? MEAN_SIZE[measure](gaWeeks) : null;
}

/**
 * Returns the median weight in g; null outside 10 to 40 weeks. Source: Hadlock et al., Radiology
 * 1991;181:129-133.
 */
export function hadlock1991Median(gaWeeks: number): number | null {
  if (gaWeeks < 10 || gaWeeks > 40) return null;
  return Math.exp(0.578 + 0.332 * gaWeeks - 0.00354 * gaWeeks ** 2);
}

/**
 * Coefficient of variation of the weight. The paper states three values that disagree. `table` is
 * that of Table 1 (0.75, 0.83, 1.17 and 1.25 of the median).
 */
const HADLOCK_1991_SPREAD = { table: 0.1327, abstract: 0.127, logarithmic: 0.12 } as const;

/** Ratio of the printed centiles in Table 1 to the median. */
export const HADLOCK_1991_TABLE_RATIOS: Readonly<Record<number, number>> = {
  3: 0.75,
  10: 0.83,
  50: 1,
  90: 1.17,
  97: 1.25,
};

/** Returns the z-score of a weight in g; null outside the chart. */
export function hadlock1991Z(
  gaWeeks: number,
  grams: number,
  spread: keyof typeof HADLOCK_1991_SPREAD,
): number | null {
  const median = hadlock1991Median(gaWeeks);
  if (median === null) return null;
  const sd = HADLOCK_1991_SPREAD[spread];
  return spread === 'logarithmic' ? Math.log(grams / median) / sd : (grams / median - 1) / sd;
}

/**
 * Returns the centile of a weight in g on the FMF population chart; null outside 140 to 301 days.
 * Source: Nicolaides et al., UOG 2018;52:44-51.
 */
export function fmf2018WeightCentile(gaDays: number, grams: number): number | null {
  if (gaDays < 140 || gaDays > 301) return null;
  const x = gaDays - 199;
  const mean = 3.0893 + 0.00835 * x - 0.00002965 * x ** 2 - 0.00000006062 * x ** 3;
  const sd = 0.02464 + 0.0000564 * gaDays;
  return 100 * normalCdf((Math.log10(grams) - mean) / sd);
}

export type WhoMeasure = 'ac' | 'bpd' | 'efw' | 'efw-female' | 'efw-male' | 'fl' | 'hc' | 'hl';

/**
 * Coefficients of the WHO fetal growth charts: Kiserud et al., PLoS Med 2017;14:e1002220, quantile
 * regression, revision of 13 March 2023. Each row contains a measure, a quantile level, and b0 to b4
 * of exp(b0 + b1 t + b2 t² + b3 t³ + b4 t⁴), with t in exact weeks. b4 is omitted if it is 0.
 */
const COEFFICIENTS = readFileSync(new URL('./who-2017.csv', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((row) => {
    const [measure, level, ...b] = row.split(',');
    return { measure, level: Number(level), b: b.map(Number) };
  });

/** Range of the chart in exact weeks. Values are never extrapolated. */
const WEEKS = { from: 14, to: 40 } as const;

function evaluate(b: readonly number[], t: number): number {
  return Math.exp(b.reduceRight((sum, coefficient) => sum * t + coefficient, 0));
}

function quantiles(
  measure: WhoMeasure,
  gaWeeks: number,
): { level: number; value: number }[] | null {
  if (gaWeeks < WEEKS.from || gaWeeks > WEEKS.to) return null;
  const own = COEFFICIENTS.filter((one) => one.measure === measure);
  return own.map(({ level, b }) => ({ level, value: evaluate(b, gaWeeks) }));
}

/**
 * Returns the value at one of the eleven quantile levels (0.01 to 0.99), in mm, or in g for a
 * weight. BPD is outer to inner. Null outside 14 to 40 weeks and for any other level.
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
 * Returns centile and z-score of a value by linear interpolation in ln(value) between the
 * quantiles, as the authors recommend. Null outside the chart's weeks, or beyond the first or last
 * quantile.
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
