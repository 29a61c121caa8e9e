import type { ObstetricConcept } from '../../concepts/obstetric.ts';

/**
 * This file contains the hard limits, outside which a value is not used, and the cut-offs at which
 * the category of a value changes. Both are kept apart from the sections because rendering needs
 * them: a printed number must stay on the same side of each cut-off. The guidelines of the sections
 * explain them (pipelines/obstetric/<section>/guideline.ts).
 */

interface Limits {
  low: number;
  /** Infinity if there is no upper limit. */
  high: number;
}

/** Limits of a length between two points. It may be zero but not negative. */
const NO_NEGATIVE: Limits = { low: 0, high: Infinity };

/**
 * Limits of peak divided by end-diastolic velocity; the peak is the larger of the two (obstetric
 * 13.1).
 */
const PEAK_OVER_LOWEST: Limits = { low: 1, high: Infinity };

/** Limits for each concept, in its unit. A value outside them is not used (obstetric 0.6). */
const HARD_LIMITS: Partial<Record<ObstetricConcept, Limits>> = {
  bpd: { low: 8, high: 115 },
  ofd: { low: 10, high: 145 },
  hc: { low: 30, high: 410 },
  tad: { low: 8, high: 150 },
  apad: { low: 8, high: 150 },
  ac: { low: 30, high: 450 },
  fl: { low: 4, high: 90 },
  'deepest-vertical-pocket': { low: 0, high: 250 },
  'amniotic-fluid-index': { low: 0, high: 600 },
  'cervical-length': { low: 0, high: 80 },
  'placenta-to-os': { low: -80, high: 200 },
  crl: { low: 1, high: 110 },
  'mean-sac-diameter': { low: 1, high: 80 },
  'yolk-sac': { low: 0.5, high: 20 },
  'nuchal-translucency': { low: 0.3, high: 20 },
  'atrial-width': { low: 1, high: 60 },
  'transcerebellar-diameter': { low: 8, high: 75 },
  'cisterna-magna': { low: 0.5, high: 25 },
  'nuchal-fold': { low: 0.5, high: 20 },
  'fetal-heart-rate': { low: 40, high: 260 },
  'umbilical-artery-pi': { low: 0.1, high: 10 },
  'umbilical-artery-ri': { low: 0.1, high: 1.5 },
  'umbilical-artery-sd': PEAK_OVER_LOWEST,
  'middle-cerebral-artery-pi': { low: 0.1, high: 6 },
  'middle-cerebral-artery-ri': { low: 0.1, high: 1.5 },
  'middle-cerebral-artery-sd': PEAK_OVER_LOWEST,
  'middle-cerebral-artery-psv': { low: 5, high: 200 },
  'uterine-artery-pi': { low: 0.1, high: 6 },
  'uterine-artery-ri': { low: 0.1, high: 1.5 },
  'uterine-artery-sd': PEAK_OVER_LOWEST,
  'unnamed-vessel-pi': { low: 0.1, high: 6 },
  'unnamed-vessel-ri': { low: 0.1, high: 1.5 },
  'unnamed-vessel-sd': PEAK_OVER_LOWEST,
  'cardiothoracic-area-ratio': { low: 0.05, high: 0.9 },
  // The square roots of the limits of the area ratio: for two outlines of the same shape, the ratio
  // of circumferences is the square root of the ratio of areas.
  'cardiothoracic-circumference-ratio': { low: 0.22, high: 0.95 },
  'cardiac-axis': { low: -180, high: 180 },
  'angle-of-progression': { low: 50, high: 200 },
  'head-symphysis-distance': NO_NEGATIVE,
  'ga-by-crl': { low: 28, high: 301 },
  'ga-by-sac': { low: 28, high: 301 },
  efw: { low: 50, high: 6500 },
  'ga-by-hc': { low: 28, high: 301 },
  'ga-by-hc-ac-fl': { low: 28, high: 301 },
};

/** Returns the hard limits of a quantity; null if it has none. */
export const hardLimitsOf = (key: string): Limits | null =>
  Object.hasOwn(HARD_LIMITS, key) ? (HARD_LIMITS[key as ObstetricConcept] ?? null) : null;

/** Returns true if a value is within its hard limits, inclusive; false for NaN. */
export function isPlausible(key: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const limits = hardLimitsOf(key);
  return !limits || (value >= limits.low && value <= limits.high);
}

/**
 * Returns the nearest cut-off if the interval of a value includes it, because the value may then be
 * on either side. Null if the interval includes no cut-off or is unknown. All numbers have the same
 * unit.
 */
export function cutOffWithin(
  { value, uncertainty }: { value: number; uncertainty: number | null },
  cutOffs: readonly number[],
): number | null {
  if (uncertainty === null) return null;
  const [nearest] = cutOffs.toSorted((a, b) => Math.abs(a - value) - Math.abs(b - value));
  return nearest !== undefined && Math.abs(value - nearest) < uncertainty ? nearest : null;
}

/**
 * Values at which a category, band or recommendation changes, in the unit of the concept. Rendering
 * needs them, because a rounded number must stay on its side of each cut-off (obstetric 0.3). They
 * are defined, with their sources, in the guidelines of the sections; a test compares the two. A
 * quantity classified by its centile has no cut-off.
 */
const CUT_OFFS: Partial<Record<ObstetricConcept, readonly number[]>> = {
  'mean-sac-diameter': [16, 25],
  'yolk-sac': [2, 6, 7],
  crl: [5, 7, 45, 84],
  'nuchal-translucency': [3.5],
  // Contains the limits for all gestational ages.
  'fetal-heart-rate': [90, 100, 110, 120, 130, 160, 175, 180, 190],
  'cephalic-index': [70, 86],
  efw: [4000, 4500],
  'atrial-width': [10, 13, 15],
  'cisterna-magna': [2, 10],
  'nuchal-fold': [6],
  // A pocket of 0 mm is anhydramnios rather than a shallow pocket.
  'deepest-vertical-pocket': [0, 20, 80, 120, 160],
  'amniotic-fluid-index': [0, 50, 240, 300, 350],
  'placenta-to-os': [0, 20],
  'cervical-length': [10, 15, 20, 25, 30],
  'cardiothoracic-area-ratio': [0.25, 0.35],
  'cardiothoracic-circumference-ratio': [0.5],
  'cardiac-axis': [25, 65],
  'umbilical-artery-ri': [1],
  'middle-cerebral-artery-psv-mom': [1.29, 1.5, 1.55],
  'cerebroplacental-ratio': [1.08],
  'angle-of-progression': [80, 110, 120, 145, 175],
  'head-direction': [0, 30],
};

/** Returns the cut-offs of a quantity, in its unit; empty if it is not classified by its value. */
export const cutOffsOf = (key: string): readonly number[] =>
  Object.hasOwn(CUT_OFFS, key) ? (CUT_OFFS[key as ObstetricConcept] ?? []) : [];
