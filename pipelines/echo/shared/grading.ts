import { rounded } from '../../measure/rounding.ts';

export type Sex = 'male' | 'female';

/** `B`: stated as published, not read again independently (echo 0.1). */
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
  /** As reported and classified (echo 0.3). */
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
export function gradeInPartition(
  partition: Partition,
  value: number,
  decimals: number,
): Abnormality {
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
  return gradeInPartition(quantity[sex], value, quantity.decimals);
}

/** A criterion of a decision rule. */
export interface Criterion {
  name: string;
  /** Null: not available, which is no negative criterion. */
  met: boolean | null;
}

/** True where one is; null where none is known. */
export function anyMet(...conditions: readonly (boolean | null)[]): boolean | null {
  const known = conditions.filter((condition) => condition !== null);
  return known.length === 0 ? null : known.some((condition) => condition);
}

/** "met: A, B; not met: C; not available: D": no grade without what it was made of (echo 10.7). */
export function criteriaInWords(criteria: readonly Criterion[]): string {
  const of = (words: string, wanted: boolean | null) => {
    const names = criteria.flatMap(({ name, met }) => (met === wanted ? [name] : []));
    return names.length > 0 ? [`${words}: ${names.join(', ')}`] : [];
  };
  return [...of('met', true), ...of('not met', false), ...of('not available', null)].join('; ');
}

/**
 * Points within which a value at a cut-off may as well belong to its other side (echo 19, rule 2).
 */
export const VARIABILITY = { ejectionFraction: 5, strain: 1.5, atrialVolumeIndex: 3 } as const;

/** Whether a value, as shown, lies within measurement variability of one of the cut-offs. */
export const isNearCutOff = (shown: number, cutOffs: readonly number[], within: number) =>
  cutOffs.some((cutOff) => Math.abs(shown - cutOff) <= within);
