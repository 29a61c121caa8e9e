import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { type Abnormality, remarkOfEcho } from '../../result/render/echo/shared.ts';
import { categoryWithin } from '../../result/section-outcome.ts';

export type Sex = 'male' | 'female';
export const SEXES: readonly Sex[] = ['male', 'female'];

/**
 * How well a limit was verified (echo 0.1). `A`: checked against an independent public source. `B`:
 * as published, not checked independently. `C`: a convention of this project.
 */
type Evidence = 'A' | 'B' | 'C';

/**
 * Published severity grades of one quantity. `mild` and `moderate` are the outer ends of their
 * bands, on the abnormal side of the normal range.
 */
interface Partition {
  normal: readonly [number, number];
  mild: number;
  moderate: number;
}

export interface GradedQuantity {
  /** Number of decimals with which the value is reported and classified (echo 0.3). */
  decimals: number;
  male: Partition;
  female: Partition;
  source: 'ase-2015-chambers' | 'ase-2005-chambers';
  evidence: Evidence;
}

/**
 * Bands to which no grade of severity belongs. When conclusions are compared, they all count as
 * "normal".
 */
export const UNGRADED_BANDS: ReadonlySet<string> = new Set<Abnormality>([
  'below-range',
  'normal',
  'above-range',
]);

/**
 * Rounds a value and returns its band. Grades of severity exist only on the side of `mild` and
 * `moderate`; on the other side, the band is just below or above the normal range.
 */
function gradeInPartition(partition: Partition, value: number, decimals: number): Abnormality {
  const { normal, mild, moderate } = partition;
  const [low, high] = normal;
  const shown = rounded(value, decimals);
  const towardsLow = mild < low;
  if (shown >= low && shown <= high) return 'normal';
  if (towardsLow ? shown > high : shown < low) {
    return towardsLow ? 'above-range' : 'below-range';
  }
  if (towardsLow ? shown >= mild : shown <= mild) return 'mild';
  return (towardsLow ? shown >= moderate : shown <= moderate) ? 'moderate' : 'severe';
}

export function gradeOf(quantity: GradedQuantity, sex: Sex, value: number): Abnormality {
  return gradeInPartition(quantity[sex], value, quantity.decimals);
}

/** Returns true if a grade is abnormal, in the direction in which the quantity is graded. */
export const isAbnormal = (grade: Abnormality | null): grade is Abnormality =>
  grade !== null && !UNGRADED_BANDS.has(grade);

/**
 * Returns the result of `of` if it is the same for every sex in the list; null if it differs, or if
 * the list is empty.
 */
export function forEverySex<T>(sexes: readonly Sex[], of: (sex: Sex) => T): T | null {
  const [first, ...others] = sexes.map(of);
  return first !== undefined && others.every((other) => other === first) ? first : null;
}

/**
 * Returns the grade of a value if it is the same for all of the sexes (`rangedSexes`). If the value
 * is abnormal for both sexes but to a different degree, returns `abnormal`. Null if it is normal
 * for only one of them.
 */
export function gradeFor(
  quantity: GradedQuantity,
  sexes: readonly Sex[],
  value: number,
): Abnormality | null {
  const grade = forEverySex(sexes, (sex) => gradeOf(quantity, sex, value));
  const isAbnormalForAll = forEverySex(sexes, (sex) => isAbnormal(gradeOf(quantity, sex, value)));
  return grade ?? (isAbnormalForAll ? 'abnormal' : null);
}

/** Returns the grade of an accepted value (`gradeFor`). */
export const graded = (
  measurement: Measurement | null,
  quantity: GradedQuantity,
  sexes: readonly Sex[],
): Abnormality | null =>
  measurement?.quality === 'accepted' ? gradeFor(quantity, sexes, measurement.value) : null;

/**
 * Returns the value with the normal range for the sex and its category (low, normal or high). If
 * the sex is unknown, a remark states the ranges of both sexes instead, and the value has a
 * category only if it is the same in both ranges.
 */
export function inRangeOf(
  measurement: Measurement,
  quantity: GradedQuantity,
  sexes: readonly Sex[],
): Measurement {
  const { male, female, source, decimals } = quantity;
  const [sex] = sexes;
  const isKnown = sex !== undefined && sexes.length === 1;
  const unverified = quantity.evidence === 'B' ? [remarkOfEcho('echo.range-unverified', {})] : [];
  const ranges = remarkOfEcho('echo.range-by-sex', { male: male.normal, female: female.normal });
  const { category } = categoryWithin(measurement, (value) =>
    forEverySex(sexes, (of) => {
      const shown = rounded(value, decimals);
      const [low, high] = quantity[of].normal;
      return shown < low ? 'L' : shown > high ? 'H' : 'N';
    }),
  );
  const [low, high] = isKnown ? quantity[sex].normal : [null, null];
  return {
    ...measurement,
    reference: isKnown ? { low, high, centile: null, z_score: null, chart: source } : null,
    // Null if the interval includes an end of the range, or if the category depends on the unknown
    // sex.
    interpretation: category,
    remarks: [...measurement.remarks, ...(isKnown ? [] : [ranges]), ...unverified],
  };
}

export type Criterion = {
  name: string;
  /** Null if the criterion is not available. This is not the same as not met. */
  met: boolean | null;
};

/**
 * Returns true if at least one condition is met, false if none of the known conditions is met, and
 * null if none is known.
 */
export function anyMet(...conditions: readonly (boolean | null)[]): boolean | null {
  const known = conditions.filter((condition) => condition !== null);
  return known.length === 0 ? null : known.some((condition) => condition);
}

/**
 * Measurement variability, in the unit of the value. If a value is this close to a cut-off, the
 * true value may be on either side (echo 19, rule 2).
 */
export const VARIABILITY = { ejectionFraction: 5, strain: 1.5, atrialVolumeIndex: 3 } as const;

/** Returns true if a displayed value is within measurement variability of one of the cut-offs. */
export const isNearCutOff = (shown: number, cutOffs: readonly number[], within: number) =>
  cutOffs.some((cutOff) => Math.abs(shown - cutOff) <= within);
