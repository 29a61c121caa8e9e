import { rounded } from '../../measure/rounding.ts';
import type { GradedQuantity } from '../shared/grading.ts';

/** Ranges and severity grades of the LVEF, % (echo 4.4). */
export const EJECTION_FRACTION: GradedQuantity = {
  male: { normal: [52, 72], mild: 41, moderate: 30 },
  female: { normal: [54, 74], mild: 41, moderate: 30 },
  decimals: 0,
  source: 'ase-2015-chambers',
  evidence: 'A',
};

/**
 * Returns the EF range that applies if the patient has clinical heart failure (HF21; echo 4.5). EFs
 * are in per cent.
 */
export function heartFailureRange(ef: number, prior: number | null) {
  const [now, before] = [rounded(ef, 0), prior === null ? null : rounded(prior, 0)];
  if (before !== null && before <= 40 && now > 40 && now - before >= 10) return 'improved';
  if (now <= 40) return 'reduced';
  return now < 50 ? 'mildly-reduced' : 'preserved';
}

/**
 * If the lengths in two views differ by more than this share of the longer one, the view with the
 * shorter length is foreshortened (echo 4.2).
 */
const LENGTH_DIFFERENCE = 0.1;

const differBy = (one: number, other: number, share: number): boolean => {
  const larger = Math.max(one, other);
  return (larger - Math.min(one, other)) / larger > share + 1e-9;
};

/** Returns true if the long axes in two views differ too much to be those of the same ventricle. */
export const unequalLengths = (one: number, other: number) =>
  differBy(one, other, LENGTH_DIFFERENCE);

/**
 * If the end-diastolic volumes of two views differ by more than this share of the larger one, a
 * remark is added (echo 4.6).
 */
const VOLUME_DIFFERENCE = 0.25;

export const unequalVolumes = (one: number, other: number) =>
  differBy(one, other, VOLUME_DIFFERENCE);
