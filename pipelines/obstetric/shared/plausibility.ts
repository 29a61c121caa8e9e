export { implausibleNote } from '../../result/hard-limits.ts';
export { isPlausible } from '../../result/obstetric/limits.ts';

/** Shorter over longer axis of an outline, below which it is rejected (obstetric 16.3). */
export const LOWEST_AXIS_RATIO = { head: 0.6, abdomen: 0.7 } as const;

/** A ratio outside of these points at a wrong measurement, not at a fetus (obstetric 0.6). */
export const SOFT_RATIOS = {
  flToAc: { low: 0.15, high: 0.28 },
  flToHc: { low: 0.1, high: 0.26 },
  tadToApad: { low: 0.75, high: 1.35 },
} as const;

/** A longer cervix warns of the lower segment taken for it, mm (obstetric 0.6 and 10). */
export const LONGEST_CERVIX_MM = 60;

/** |z| beyond which dating or measurement must be checked before size is judged. */
export const SOFT_Z = 5;

/** Share of the mean by which repeated circumferences may differ; FL in mm (obstetric 2.6). */
export const REPEATABILITY = { circumferenceShare: 0.05, femurMm: 3 } as const;
