import type { ObstetricChart } from '../../concepts/obstetric.ts';

/**
 * INTERGROWTH-21st fetal growth standards: Papageorghiou et al., Lancet 2014;384:869-879. They are
 * valid for exact weeks from 14+0 to 40+0; values are in mm and normally distributed. BPD and OFD
 * are outer to outer.
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

/** Returns the mean and standard deviation in mm; null outside the chart. */
export function intergrowthSize(
  measure: IntergrowthMeasure,
  gaWeeks: number,
): { mean: number; sd: number } | null {
  if (!inRange(gaWeeks)) return null;
  const standard = STANDARDS[measure];
  return { mean: standard.mean(gaWeeks), sd: standard.sd(gaWeeks) };
}

/** Returns the z-score of a length in mm; null outside the chart. */
export function intergrowthSizeZ(
  measure: IntergrowthMeasure,
  gaWeeks: number,
  mm: number,
): number | null {
  const size = intergrowthSize(measure, gaWeeks);
  return size && (mm - size.mean) / size.sd;
}

/** Returns the length in mm at a z-score; null outside the chart. */
export function intergrowthSizeAt(
  measure: IntergrowthMeasure,
  gaWeeks: number,
  z: number,
): number | null {
  const size = intergrowthSize(measure, gaWeeks);
  return size && size.mean + z * size.sd;
}

/**
 * A standard for the INTERGROWTH-21st estimated fetal weight. There are two, one per weight
 * formula; using a standard with the other formula is an error (obstetric 16.5). λ, μ and σ
 * describe ln(weight in g), not the weight.
 */
export interface WeightStandard {
  weeks: { from: number; to: number };
  lambda(ga: number): number;
  mu(ga: number): number;
  sigma(ga: number): number;
}

/**
 * INTERGROWTH standard for fetal weights estimated from HC and AC with INTERGROWTH's own formula:
 * Stirnemann et al., UOG 2017;49:478-486.
 */
export const INTERGROWTH_WEIGHT_2017: WeightStandard = {
  weeks: { from: 22, to: 40 },
  lambda: (ga) => -4.257629 - 2162.234 * ga ** -2 + 0.0002301829 * ga ** 3,
  mu: (ga) => 4.956737 + 0.0005019687 * ga ** 3 - 0.0001227065 * ga ** 3 * log(ga),
  sigma: (ga) => 1e-4 * (-6.997171 + 0.057559 * ga ** 3 - 0.01493946 * ga ** 3 * log(ga)),
};

/**
 * Standard for weights by Hadlock's 1985 formula from HC, AC and FL: Stirnemann et al., UOG
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

/** Returns the z-score of a weight in g; null outside the chart. */
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

/** Returns the weight in g at a z-score; null outside the chart. */
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

/**
 * A growth chart: the z-score of a value, and the value at a z-score; both are null outside its
 * weeks.
 */
export interface GrowthChart {
  key: ObstetricChart;
  weeks: { from: number; to: number };
  z(gaWeeks: number, value: number): number | null;
  at(gaWeeks: number, z: number): number | null;
}

export const sizeChart = (measure: IntergrowthMeasure): GrowthChart => ({
  key: 'intergrowth-2014-size',
  weeks: INTERGROWTH_SIZE_WEEKS,
  z: (gaWeeks, value) => intergrowthSizeZ(measure, gaWeeks, value),
  at: (gaWeeks, z) => intergrowthSizeAt(measure, gaWeeks, z),
});

const weightChart = (key: ObstetricChart, standard: WeightStandard): GrowthChart => ({
  key,
  weeks: standard.weeks,
  z: (gaWeeks, value) => intergrowthWeightZ(standard, gaWeeks, value),
  at: (gaWeeks, z) => intergrowthWeightAt(standard, gaWeeks, z),
});

/**
 * Chart for each weight formula. Each chart is valid only for the formula it was made with
 * (obstetric 16.5), so a weight by any other formula has no centile.
 */
export const WEIGHT_CHARTS: Readonly<Record<string, GrowthChart>> = {
  'hadlock-1985-efw-hc-ac-fl': weightChart('intergrowth-2020-efw', INTERGROWTH_WEIGHT_2020),
  'intergrowth-2017-efw-hc-ac': weightChart('intergrowth-2017-efw', INTERGROWTH_WEIGHT_2017),
};
