import { CONCEPTS, type ConceptKey } from '../result/concepts.ts';

interface Limits {
  low: number;
  high: number;
}

/** Outside of these a value is not used (obstetric reference 0.6); unit of the concept. */
const HARD_LIMITS: Partial<Record<ConceptKey, Limits>> = {
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
  'middle-cerebral-artery-pi': { low: 0.1, high: 6 },
  'middle-cerebral-artery-ri': { low: 0.1, high: 1.5 },
  'middle-cerebral-artery-psv': { low: 5, high: 200 },
  'uterine-artery-pi': { low: 0.1, high: 6 },
  'uterine-artery-ri': { low: 0.1, high: 1.5 },
  'unnamed-vessel-pi': { low: 0.1, high: 6 },
  'unnamed-vessel-ri': { low: 0.1, high: 1.5 },
  'cardiothoracic-area-ratio': { low: 0.05, high: 0.9 },
  'cardiac-axis': { low: -180, high: 180 },
  'ga-by-crl': { low: 28, high: 301 },
  efw: { low: 50, high: 6500 },
  'ga-by-hc': { low: 28, high: 301 },
  'ga-by-hc-ac-fl': { low: 28, high: 301 },
};

/** Whether a value lies within its hard limits, both included; never for NaN. */
export function isPlausible(key: ConceptKey, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const limits = HARD_LIMITS[key];
  return !limits || (value >= limits.low && value <= limits.high);
}

/** The sentence for a value outside its hard limits. */
export function implausibleNote(key: ConceptKey): string {
  const limits = HARD_LIMITS[key];
  const { abbreviation, unit } = CONCEPTS[key];
  return limits
    ? `implausible: ${abbreviation} outside ${limits.low} to ${limits.high} ${unit}; not used, measure again`
    : `implausible: ${abbreviation} is no number; not used, measure again`;
}

/** Shorter over longer axis of an outline, below which it is rejected (obstetric reference 16.3). */
export const LOWEST_AXIS_RATIO = { head: 0.6, abdomen: 0.7 } as const;

/** A ratio outside of these points at a wrong measurement, not at a fetus (reference 0.6). */
export const SOFT_RATIOS = {
  flToAc: { low: 0.15, high: 0.28 },
  flToHc: { low: 0.1, high: 0.26 },
  tadToApad: { low: 0.75, high: 1.35 },
} as const;

/** A longer cervix warns of the lower segment taken for it, mm (reference 0.6 and 10). */
export const LONGEST_CERVIX_MM = 60;

/** |z| beyond which dating or measurement must be checked before size is judged. */
export const SOFT_Z = 5;

/** Share of the mean by which repeated circumferences may differ; FL in mm (reference 2.6). */
export const REPEATABILITY = { circumferenceShare: 0.05, femurMm: 3 } as const;
