import type { Random } from './random.ts';

/**
 * Dimensions of one fetus in mm, following the conventions of INTERGROWTH-21st (Papageorghiou
 * 2014): BPD, OFD and HC outer to outer, AC on the skin, FL of the ossified diaphysis.
 */
export interface FetalSizes {
  bpdMm: number;
  ofdMm: number;
  hcMm: number;
  tadMm: number;
  apadMm: number;
  acMm: number;
  flMm: number;
}

/**
 * Medians and standard deviations for exact weeks w, 14 to 40, in mm. Papageorghiou AT et al.,
 * Lancet 2014;384:869-879. Deliberately separate from the gateway's charts, because a phantom built
 * with the code under test could not reveal an error in it.
 */
const GROWTH = {
  hc: {
    median: (w: number) => -28.2849 + 1.69267 * w ** 2 - 0.397485 * w ** 2 * Math.log(w),
    deviation: (w: number) =>
      1.98735 + w ** 3 * (0.0136772 - 0.00726264 * Math.log(w) + 0.000976253 * Math.log(w) ** 2),
  },
  bpd: { median: (w: number) => 5.60878 + 0.158369 * w ** 2 - 0.00256379 * w ** 3 },
  ofd: { median: (w: number) => -12.4097 + 0.626342 * w ** 2 - 0.148075 * w ** 2 * Math.log(w) },
  ac: {
    median: (w: number) => -81.3243 + 11.6772 * w - 0.000561865 * w ** 3,
    deviation: (w: number) =>
      -4.36302 + 0.121445 * w ** 2 - 0.0130256 * w ** 3 + 0.00282143 * w ** 3 * Math.log(w),
  },
  fl: {
    median: (w: number) => -39.9616 + 4.32298 * w - 0.0380156 * w ** 2,
    deviation: (w: number) => Math.exp(0.605843 - 42.0014 * w ** -2 + 0.00000917972 * w ** 3),
  },
} as const;

/**
 * Returns the circumference of an ellipse from its full axes (Ramanujan 1914, first approximation).
 */
export function ellipseCircumference(axis1: number, axis2: number): number {
  const a = axis1 / 2;
  const b = axis2 / 2;
  return Math.PI * (3 * (a + b) - Math.sqrt((3 * a + b) * (a + 3 * b)));
}

/**
 * Returns the full axes of the ellipse with this circumference and this ratio of second to first
 * axis.
 */
function axesFor(circumference: number, ratio: number): [number, number] {
  const axis = circumference / ellipseCircumference(1, ratio);
  return [axis, axis * ratio];
}

/**
 * z-scores of the fetus, and factors applied to the median proportions. A z-score of 0 and a factor
 * of 1 give the median.
 */
export interface GrowthDeviation {
  hc: number;
  ac: number;
  fl: number;
  /** Factor applied to the median BPD/OFD. */
  headProportion: number;
  /** TAD/APAD. */
  abdomenProportion: number;
}

export const MEDIAN_GROWTH: GrowthDeviation = {
  hc: 0,
  ac: 0,
  fl: 0,
  headProportion: 1,
  abdomenProportion: 1,
};

/** Ages of the growth standards: 14+0 to 40+0 weeks. */
export const CHARTED_DAYS = { youngest: 98, oldest: 280 } as const;

/**
 * Returns the dimensions at `gaDays`, which must be within `CHARTED_DAYS`.
 * @throws RangeError outside the chart
 */
export function sizesAt(gaDays: number, deviation: GrowthDeviation = MEDIAN_GROWTH): FetalSizes {
  const { youngest, oldest } = CHARTED_DAYS;
  if (!(gaDays >= youngest && gaDays <= oldest)) {
    throw new RangeError(
      `gestational age ${gaDays} d is outside the growth chart (${youngest} to ${oldest} d)`,
    );
  }
  const weeks = gaDays / 7;
  const hcMm = GROWTH.hc.median(weeks) + deviation.hc * GROWTH.hc.deviation(weeks);
  const acMm = GROWTH.ac.median(weeks) + deviation.ac * GROWTH.ac.deviation(weeks);
  const flMm = GROWTH.fl.median(weeks) + deviation.fl * GROWTH.fl.deviation(weeks);
  const cephalicRatio =
    (GROWTH.bpd.median(weeks) / GROWTH.ofd.median(weeks)) * deviation.headProportion;
  const [ofdMm, bpdMm] = axesFor(hcMm, cephalicRatio);
  const [apadMm, tadMm] = axesFor(acMm, deviation.abdomenProportion);
  return { hcMm, bpdMm, ofdMm, acMm, tadMm, apadMm, flMm };
}

/**
 * Samples a plausible deviation. The z-scores have a common part, because usually all parts of a
 * fetus are large or small together.
 */
export function drawGrowth(random: Random): GrowthDeviation {
  const shared = random.normal(0, 0.6);
  const own = () => Math.max(-2, Math.min(2, shared + random.normal(0, 0.6)));
  return {
    hc: own(),
    ac: own(),
    fl: own(),
    headProportion: Math.max(0.9, Math.min(1.12, random.normal(1, 0.04))),
    abdomenProportion: Math.max(0.88, Math.min(1.14, random.normal(1, 0.05))),
  };
}
