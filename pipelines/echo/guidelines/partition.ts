import { rounded } from '../../measure/rounding.ts';

export type Sex = 'male' | 'female';

/** `B`: stated as published, not read again independently (reference 0.1). */
export type Evidence = 'A' | 'B' | 'C';

/**
 * A published severity partition of one quantity. `mild` and `moderate` are the outermost values of
 * their bands; on which side of the normal range they lie says which direction is abnormal.
 */
export interface Partition {
  normal: readonly [number, number];
  mild: number;
  moderate: number;
}

export interface GradedQuantity {
  /** As reported and classified (reference 0.3). */
  decimals: number;
  male: Partition;
  female: Partition;
  /** Key of the chart table. */
  source: 'ase-2015-chambers' | 'ase-2005-chambers';
  evidence: Evidence;
}

export const ABNORMALITY = [
  'below normal range',
  'normal',
  'mildly abnormal',
  'moderately abnormal',
  'severely abnormal',
  'above normal range',
] as const;
export type Abnormality = (typeof ABNORMALITY)[number];

/** The band of a value, rounded first; the other side has no grades of its own. */
export function gradeIn(partition: Partition, value: number, decimals: number): Abnormality {
  const { normal, mild, moderate } = partition;
  const [low, high] = normal;
  const shown = rounded(value, decimals);
  const towardsLow = mild < low;
  if (shown >= low && shown <= high) return 'normal';
  if (towardsLow ? shown > high : shown < low) {
    return towardsLow ? 'above normal range' : 'below normal range';
  }
  if (towardsLow ? shown >= mild : shown <= mild) return 'mildly abnormal';
  return (towardsLow ? shown >= moderate : shown <= moderate)
    ? 'moderately abnormal'
    : 'severely abnormal';
}

export function gradeOf(quantity: GradedQuantity, sex: Sex, value: number): Abnormality {
  return gradeIn(quantity[sex], value, quantity.decimals);
}
