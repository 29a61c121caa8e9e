import { normalCdf } from '../../measure/statistics.ts';

/** Estimated fetal weight charts other than INTERGROWTH and WHO. */

/** Hadlock et al., Radiology 1991;181:129-133: median in g; null outside of 10 to 40 weeks. */
export function hadlock1991Median(gaWeeks: number): number | null {
  if (gaWeeks < 10 || gaWeeks > 40) return null;
  return Math.exp(0.578 + 0.332 * gaWeeks - 0.00354 * gaWeeks ** 2);
}

/**
 * The paper states its spread three ways that disagree; `table` (Table 1: 0.75, 0.83, 1.17 and 1.25
 * of the median) is the one in use, the others are kept to show the difference.
 */
export const HADLOCK_1991_SPREAD = { table: 0.1327, abstract: 0.127, logarithmic: 0.12 } as const;

/** Ratio of the printed centiles of Table 1 to the median. */
export const HADLOCK_1991_TABLE_RATIOS: Readonly<Record<number, number>> = {
  3: 0.75,
  10: 0.83,
  50: 1,
  90: 1.17,
  97: 1.25,
};

/** z-score of a weight in g; null outside the chart. */
export function hadlock1991Z(
  gaWeeks: number,
  grams: number,
  spread: keyof typeof HADLOCK_1991_SPREAD = 'table',
): number | null {
  const median = hadlock1991Median(gaWeeks);
  if (median === null) return null;
  const sd = HADLOCK_1991_SPREAD[spread];
  return spread === 'logarithmic' ? Math.log(grams / median) / sd : (grams / median - 1) / sd;
}

/**
 * Centile of a weight in g on the FMF population chart: Nicolaides et al., UOG 2018;52:44-51.
 * Null outside of 140 to 301 days.
 */
export function fmf2018WeightCentile(gaDays: number, grams: number): number | null {
  if (gaDays < 140 || gaDays > 301) return null;
  const x = gaDays - 199;
  const mean = 3.0893 + 0.00835 * x - 0.00002965 * x ** 2 - 0.00000006062 * x ** 3;
  const sd = 0.02464 + 0.0000564 * gaDays;
  return 100 * normalCdf((Math.log10(grams) - mean) / sd);
}
