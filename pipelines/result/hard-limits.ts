import { CONCEPTS, type ConceptKey } from '../concepts/concepts.ts';
import { unitText } from './render/unit-text.ts';

interface Limits {
  low: number;
  /** Infinity: none is given. */
  high: number;
}

/** A length between two points may be nothing, and is never less. */
const NO_NEGATIVE: Limits = { low: 0, high: Infinity };

/** Peak over end-diastolic velocity: the peak is the larger of the two (obstetric 13.1). */
const PEAK_OVER_LOWEST: Limits = { low: 1, high: Infinity };

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
  // From the limits of the area ratio, of which it is the root for two outlines of one shape.
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

/** Whether a value lies within its hard limits, both included; never for NaN. */
export function isPlausible(key: ConceptKey, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const limits = HARD_LIMITS[key];
  return !limits || (value >= limits.low && value <= limits.high);
}

function outside({ low, high }: Limits, unit: string): string {
  const range = Number.isFinite(high) ? `outside ${low} to ${high}` : `below ${low}`;
  return `${range} ${unitText(unit)}`.trimEnd();
}

/** The sentence for a value outside its hard limits. */
export function implausibleNote(key: ConceptKey): string {
  const limits = HARD_LIMITS[key];
  const { abbreviation, unit } = CONCEPTS[key];
  const why = limits ? outside(limits, unit) : 'is no number';
  return `implausible: ${abbreviation} ${why}; not used, measure again`;
}
