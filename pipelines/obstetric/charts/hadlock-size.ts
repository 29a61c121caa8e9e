import type { BiometryCm } from './biometry-dating.ts';

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

/** Mean in cm; null outside of 12 to 40 weeks. */
export function hadlock1984Size(measure: keyof BiometryCm, gaWeeks: number): number | null {
  return gaWeeks >= 12 && gaWeeks <= 40 ? MEAN_SIZE[measure](gaWeeks) : null;
}
