import { normalCdf, normalQuantile } from '../../measure/statistics.ts';
import type { BiometryCm } from '../biometry/formulas.ts';
import { WHO_COEFFICIENTS, WHO_WEIGHT_BY_SEX, type WhoCoefficients } from './who-coefficients.ts';

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

/** Mean size in cm; null outside 12 to 40 weeks. */
export function hadlock1984Size(measure: keyof BiometryCm, gaWeeks: number): number | null {
  return gaWeeks >= 12 && gaWeeks <= 40 ? MEAN_SIZE[measure](gaWeeks) : null;
}

/**
 * INTERGROWTH-21st fetal growth standards: Papageorghiou et al., Lancet 2014;384:869-879.
 * Exact weeks from 14+0 to 40+0, values in mm, normal distribution. BPD and OFD are outer to outer.
 */
export const INTERGROWTH_SIZE_WEEKS = { from: 14, to: 40 } as const;

export type IntergrowthMeasure = 'hc' | 'bpd' | 'ofd' | 'ac' | 'fl';

interface Standard {
  mean(ga: number): number;
  sd(ga: number): number;
}

const { exp, log } = Math;

const STANDARDS: Readonly<Record<IntergrowthMeasure, Standard>> = {
  hc: {
    mean: (ga) => -28.2849 + 1.69267 * ga ** 2 - 0.397485 * ga ** 2 * log(ga),
    sd: (ga) =>
      1.98735 +
      0.0136772 * ga ** 3 -
      0.00726264 * ga ** 3 * log(ga) +
      0.000976253 * ga ** 3 * log(ga) ** 2,
  },
  bpd: {
    mean: (ga) => 5.60878 + 0.158369 * ga ** 2 - 0.00256379 * ga ** 3,
    sd: (ga) =>
      exp(
        0.101242 +
          0.00150557 * ga ** 3 -
          0.000771535 * ga ** 3 * log(ga) +
          0.0000999638 * ga ** 3 * log(ga) ** 2,
      ),
  },
  ofd: {
    mean: (ga) => -12.4097 + 0.626342 * ga ** 2 - 0.148075 * ga ** 2 * log(ga),
    sd: (ga) =>
      exp(
        -0.880034 +
          0.0631165 * ga ** 2 -
          0.0317136 * ga ** 2 * log(ga) +
          0.00408302 * ga ** 2 * log(ga) ** 2,
      ),
  },
  ac: {
    mean: (ga) => -81.3243 + 11.6772 * ga - 0.000561865 * ga ** 3,
    sd: (ga) =>
      -4.36302 + 0.121445 * ga ** 2 - 0.0130256 * ga ** 3 + 0.00282143 * ga ** 3 * log(ga),
  },
  fl: {
    mean: (ga) => -39.9616 + 4.32298 * ga - 0.0380156 * ga ** 2,
    sd: (ga) => exp(0.605843 - 42.0014 * ga ** -2 + 0.00000917972 * ga ** 3),
  },
};

function inRange(gaWeeks: number): boolean {
  return gaWeeks >= INTERGROWTH_SIZE_WEEKS.from && gaWeeks <= INTERGROWTH_SIZE_WEEKS.to;
}

/** Mean and standard deviation in mm; null outside the chart. */
export function intergrowthSize(
  measure: IntergrowthMeasure,
  gaWeeks: number,
): { mean: number; sd: number } | null {
  if (!inRange(gaWeeks)) return null;
  const standard = STANDARDS[measure];
  return { mean: standard.mean(gaWeeks), sd: standard.sd(gaWeeks) };
}

/** z-score of a length in mm; null outside the chart. */
export function intergrowthSizeZ(
  measure: IntergrowthMeasure,
  gaWeeks: number,
  mm: number,
): number | null {
  const size = intergrowthSize(measure, gaWeeks);
  return size && (mm - size.mean) / size.sd;
}

/** Length in mm at a z-score; null outside the chart. */
export function intergrowthSizeAt(
  measure: IntergrowthMeasure,
  gaWeeks: number,
  z: number,
): number | null {
  const size = intergrowthSize(measure, gaWeeks);
  return size && size.mean + z * size.sd;
}

/**
 * A standard for the INTERGROWTH-21st estimated fetal weight. There are two, each for its own
 * weight formula; mixing them is an error (obstetric 16.5). λ, μ and σ describe ln(weight in g),
 * not the weight.
 */
export interface WeightStandard {
  weeks: { from: number; to: number };
  lambda(ga: number): number;
  mu(ga: number): number;
  sigma(ga: number): number;
}

/**
 * Standard for the weight by INTERGROWTH's formula from HC and AC: Stirnemann et al., UOG
 * 2017;49:478-486.
 */
export const INTERGROWTH_WEIGHT_2017: WeightStandard = {
  weeks: { from: 22, to: 40 },
  lambda: (ga) => -4.257629 - 2162.234 * ga ** -2 + 0.0002301829 * ga ** 3,
  mu: (ga) => 4.956737 + 0.0005019687 * ga ** 3 - 0.0001227065 * ga ** 3 * log(ga),
  sigma: (ga) => 1e-4 * (-6.997171 + 0.057559 * ga ** 3 - 0.01493946 * ga ** 3 * log(ga)),
};

/**
 * Standard for the weight by Hadlock's 1985 formula from HC, AC and FL: Stirnemann et al., UOG
 * 2020;56:946-948.
 */
export const INTERGROWTH_WEIGHT_2020: WeightStandard = {
  weeks: { from: 18, to: 41 },
  lambda: (ga) => {
    const t = ga / 10;
    return 9.43643 + 9.41579 * t ** -2 - 83.5422 * log(t) * t ** -2;
  },
  mu: (ga) => -2.42272 + 1.86478 * ga ** 0.5 - 1.93299e-5 * ga ** 3,
  sigma: (ga) => {
    const t = ga / 10;
    return 0.0193557 + 0.0310716 * t ** -2 - 0.0657587 * log(t) * t ** -2;
  },
};

const LAMBDA_ZERO = 1e-8;

function isWithinWeeks({ weeks }: WeightStandard, gaWeeks: number): boolean {
  return gaWeeks >= weeks.from && gaWeeks <= weeks.to;
}

/** z-score of a weight in g; null outside the chart. */
export function intergrowthWeightZ(
  standard: WeightStandard,
  gaWeeks: number,
  grams: number,
): number | null {
  if (!isWithinWeeks(standard, gaWeeks) || !(grams > 1)) return null;
  const lambda = standard.lambda(gaWeeks);
  const sigma = standard.sigma(gaWeeks);
  const ratio = log(grams) / standard.mu(gaWeeks);
  if (Math.abs(lambda) <= LAMBDA_ZERO) return log(ratio) / sigma;
  return (ratio ** lambda - 1) / (sigma * lambda);
}

/** Weight in g at a z-score; null outside the chart. */
export function intergrowthWeightAt(
  standard: WeightStandard,
  gaWeeks: number,
  z: number,
): number | null {
  if (!isWithinWeeks(standard, gaWeeks)) return null;
  const lambda = standard.lambda(gaWeeks);
  const mu = standard.mu(gaWeeks);
  const sigma = standard.sigma(gaWeeks);
  if (Math.abs(lambda) <= LAMBDA_ZERO) return exp(mu * exp(sigma * z));
  return exp(mu * (1 + lambda * sigma * z) ** (1 / lambda));
}

/** Estimated fetal weight charts other than INTERGROWTH and WHO. */

/** Median weight in g, null outside 10 to 40 weeks: Hadlock et al., Radiology 1991;181:129-133. */
export function hadlock1991Median(gaWeeks: number): number | null {
  if (gaWeeks < 10 || gaWeeks > 40) return null;
  return Math.exp(0.578 + 0.332 * gaWeeks - 0.00354 * gaWeeks ** 2);
}

/**
 * The paper states its spread in three ways that disagree: `table` (Table 1: 0.75, 0.83, 1.17 and
 * 1.25 of the median) is in use; the others are kept to show the difference.
 */
export const HADLOCK_1991_SPREAD = { table: 0.1327, abstract: 0.127, logarithmic: 0.12 } as const;

/** Ratio of the printed centiles in Table 1 to the median. */
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
 * Centile of a weight in g on the FMF population chart; null outside 140 to 301 days: Nicolaides et
 * al., UOG 2018;52:44-51.
 */
export function fmf2018WeightCentile(gaDays: number, grams: number): number | null {
  if (gaDays < 140 || gaDays > 301) return null;
  const x = gaDays - 199;
  const mean = 3.0893 + 0.00835 * x - 0.00002965 * x ** 2 - 0.00000006062 * x ** 3;
  const sd = 0.02464 + 0.0000564 * gaDays;
  return 100 * normalCdf((Math.log10(grams) - mean) / sd);
}

const COEFFICIENTS = { ...WHO_COEFFICIENTS, ...WHO_WEIGHT_BY_SEX };

export type WhoMeasure = keyof typeof COEFFICIENTS;

/** Range of the chart in exact weeks; values are never extrapolated. */
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
 * Value at one of the eleven quantile levels (0.01 to 0.99), in mm, or in g for a weight. BPD is
 * outer to inner. Null outside 14 to 40 weeks and for any other level.
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
