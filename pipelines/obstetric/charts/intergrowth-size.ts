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
