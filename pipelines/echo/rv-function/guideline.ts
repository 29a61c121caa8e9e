import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { categoryWithin } from '../../result/section-outcome.ts';

/** Indices of RV systolic function, with the cut-offs beyond which they are abnormal (ASE15). */
export const RV_FUNCTION = {
  tapse: { name: 'TAPSE', unit: 'mm', decimals: 0, below: 17 },
  sPrime: { name: "S'", unit: 'cm/s', decimals: 1, below: 9.5 },
  fac: { name: 'FAC', unit: '%', decimals: 0, below: 35 },
  rimpPulsed: { name: 'RIMP', unit: '', decimals: 2, above: 0.43 },
  rimpTissue: { name: 'RIMP (tissue Doppler)', unit: '', decimals: 2, above: 0.54 },
} as const;

/** Upper limits of RV size, mm (ASE15; echo 7.2). */
export const RV_SIZE = {
  basal: { above: 41, decimals: 0 },
  mid: { above: 35, decimals: 0 },
  wall: { above: 5, decimals: 0 },
  /** Ratio of the basal RV diameter to the basal LV diameter (PH22). */
  ratio: { above: 1, decimals: 2 },
} as const;

export type Limit = { decimals: number } & ({ below: number } | { above: number });

/** Returns true if a value, after rounding, is beyond its limit. */
export function isBeyond(limit: Limit, value: number): boolean {
  const shown = rounded(value, limit.decimals);
  return 'below' in limit ? shown < limit.below : shown > limit.above;
}

/**
 * Returns whether a measured value is beyond its limit; null if its interval includes the limit.
 */
export const isSurelyBeyond = (
  limit: Limit,
  measurement: Parameters<typeof categoryWithin>[0],
): boolean | null => categoryWithin(measurement, (value) => isBeyond(limit, value)).category;

/**
 * Returns the value with its limit (ASE15) as a reference range that is open on the other side, and
 * with its category. The category is null if the interval of the value includes the limit.
 */
export function withLimit(limit: Limit, measurement: Measurement): Measurement {
  const [low, high] = 'below' in limit ? [limit.below, null] : [null, limit.above];
  const beyond = isSurelyBeyond(limit, measurement);
  return {
    ...measurement,
    reference: { low, high, centile: null, z_score: null, chart: 'ase-2015-chambers' },
    interpretation: beyond === null ? null : beyond ? (low === null ? 'H' : 'L') : 'N',
  };
}

export type PerformanceMethod = 'pulsed' | 'tissue';

/**
 * Returns whether RIMP is abnormal, using the limit for its method. If the method is unknown and
 * the limits for the two methods lead to different answers, null is returned (echo 7.2).
 */
export function isPerformanceBeyond(
  value: number,
  method: PerformanceMethod | null,
): boolean | null {
  const beyond = {
    pulsed: isBeyond(RV_FUNCTION.rimpPulsed, value),
    tissue: isBeyond(RV_FUNCTION.rimpTissue, value),
  };
  if (method) return beyond[method];
  return beyond.pulsed === beyond.tissue ? beyond.pulsed : null;
}

/**
 * Returns the conclusion from the numbers of available and of abnormal indices (echo 7.3); null if
 * no index is available.
 */
export function rvConclusion(available: number, abnormal: number) {
  if (available === 0) return null;
  if (available === 1) return abnormal === 0 ? 'single-index-normal' : 'single-index-reduced';
  if (abnormal === 0) return 'normal';
  return abnormal < available / 2 ? 'borderline' : 'reduced';
}
