import { rounded } from '../../measure/rounding.ts';
import type { Criterion, Result2016A, Result2016B } from '../../result/render/echo/diastolic.ts';
import { anyMet } from '../shared/grading.ts';

/**
 * This file grades diastolic function according to ASE/EACVI 2016 (echo 10.3, 10.4). Its criteria
 * are not those of guideline-2025.ts: the same limits are mostly exclusive in 2016 ("above 14") and
 * inclusive in 2025 ("14 or above").
 */

/** e' in cm/s, TR in m/s, LAVi in ml/m2; null if not available. */
export interface Diastolic2016 {
  averageRatio: number | null;
  septalRatio: number | null;
  lateralRatio: number | null;
  septal: number | null;
  lateral: number | null;
  jet: number | null;
  atrialIndex: number | null;
}

const LIMITS = {
  averageRatio: 14,
  septalRatio: 15,
  lateralRatio: 13,
  septal: 7,
  lateral: 10,
  jet: 2.8,
  atrialIndex: 34,
} as const;

const above = (value: number | null, limit: number, decimals: number) =>
  value === null ? null : rounded(value, decimals) > limit;
const atLeast = (value: number | null, limit: number, decimals: number) =>
  value === null ? null : rounded(value, decimals) >= limit;
const below = (value: number | null, limit: number, decimals: number) =>
  value === null ? null : rounded(value, decimals) < limit;

function pressureCriteria({ averageRatio, jet, atrialIndex }: Diastolic2016): Criterion[] {
  return [
    { name: 'average-ratio-above-14', met: above(averageRatio, LIMITS.averageRatio, 1) },
    { name: 'tr-above-2.8', met: above(jet, LIMITS.jet, 1) },
    { name: 'lavi-above-34', met: above(atrialIndex, LIMITS.atrialIndex, 0) },
  ];
}

/**
 * Returns criterion 1, the average E/e'. If the ratio is known for only one wall, the limit for
 * that wall is used.
 */
function ratioCriterion(inputs: Diastolic2016): Criterion {
  const { averageRatio, septalRatio, lateralRatio } = inputs;
  if (averageRatio === null && septalRatio !== null) {
    return { name: 'septal-ratio-above-15', met: above(septalRatio, LIMITS.septalRatio, 1) };
  }
  if (averageRatio === null && lateralRatio !== null) {
    return { name: 'lateral-ratio-above-13', met: above(lateralRatio, LIMITS.lateralRatio, 1) };
  }
  return { name: 'average-ratio-above-14', met: above(averageRatio, LIMITS.averageRatio, 1) };
}

/** Returns the four criteria of algorithm A. */
export function criteria2016A(inputs: Diastolic2016): Criterion[] {
  const [, jet, atrium] = pressureCriteria(inputs);
  const velocity = anyMet(
    below(inputs.septal, LIMITS.septal, 1),
    below(inputs.lateral, LIMITS.lateral, 1),
  );
  return [
    ratioCriterion(inputs),
    { name: 'e-prime-below-7-or-10', met: velocity },
    ...(jet ? [jet] : []),
    ...(atrium ? [atrium] : []),
  ];
}

/** Applies algorithm A, which is for a preserved EF without myocardial disease. */
export function algorithm2016A(inputs: Diastolic2016): Result2016A {
  const available = criteria2016A(inputs).filter(({ met }) => met !== null);
  const positive = available.filter(({ met }) => met === true).length;
  if (available.length < 2) return 'insufficient-data';
  if (positive * 2 < available.length) return 'normal-function';
  return positive * 2 === available.length ? 'indeterminate' : 'dysfunction';
}

/**
 * Number of criteria in algorithm A. If fewer are available, the result is marked as limited
 * ("available" in D16; echo 10.3).
 */
export const CRITERIA_2016A = 4;

export interface Filling2016 extends Diastolic2016 {
  /** `ratio` is E/A. `early` is E in cm/s. */
  ratio: number | null;
  early: number | null;
  /** S/D ratio of a pulmonary vein. */
  veinRatio: number | null;
  reducedEf: boolean;
}

/**
 * Returns true if the pulmonary vein decides the result: the EF is reduced and, of two available
 * criteria, exactly one is met (step 3e).
 */
function asksVein({ reducedEf }: Filling2016, counted: readonly Criterion[]): boolean {
  const of = (wanted: boolean) => counted.filter(({ met }) => met === wanted).length;
  return reducedEf && of(true) === 1 && of(false) === 1;
}

/** Returns the criteria of steps 1 and 2. E is needed only if E/A is at most 0.8. */
function fillingCriteria({ ratio, early }: Filling2016): readonly [Criterion, Criterion] {
  const isLow = ratio === null ? null : rounded(ratio, 2) <= 0.8;
  const isSlow = early === null ? null : rounded(early, 0) <= 50;
  return [
    { name: 'e-to-a-from-2', met: atLeast(ratio, 2, 2) },
    { name: 'e-to-a-to-0.8-and-e-to-50', met: isLow && isSlow },
  ];
}

/**
 * Applies algorithm B, which is used if the EF is reduced, if there is myocardial disease, or after
 * a positive algorithm A.
 */
export function algorithm2016B(inputs: Filling2016): Result2016B {
  const [restrictive, impaired] = fillingCriteria(inputs);
  if (restrictive.met === true) return 'grade-iii';
  if (impaired.met === null) return 'insufficient-data';
  if (impaired.met) return 'grade-i';
  const counted = pressureCriteria(inputs);
  const positive = counted.filter(({ met }) => met === true).length;
  const negative = counted.filter(({ met }) => met === false).length;
  if (positive + negative < 2) return 'indeterminate';
  if (positive >= 2) return 'grade-ii';
  if (negative >= 2) return 'grade-i';
  const blunted = below(inputs.veinRatio, 1, 2) === true;
  return asksVein(inputs, counted) && blunted ? 'grade-ii' : 'indeterminate';
}

/** Returns the criteria used by algorithm B, in the order of its steps. */
export function criteria2016B(inputs: Filling2016): Criterion[] {
  const [restrictive, impaired] = fillingCriteria(inputs);
  if (restrictive.met === true) return [restrictive];
  if (impaired.met !== false) return [restrictive, impaired];
  const counted = pressureCriteria(inputs);
  return [
    restrictive,
    impaired,
    ...counted,
    ...(asksVein(inputs, counted)
      ? [{ name: 'vein-ratio-below-1' as const, met: below(inputs.veinRatio, 1, 2) }]
      : []),
  ];
}
