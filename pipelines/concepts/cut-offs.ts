import type { ObstetricConcept } from './obstetric.ts';

/**
 * The values at which a category, a band or an advice changes, in the unit of the concept. Rendering
 * needs them: a rounded number must stay on its side of each (obstetric 0.3). The guidelines
 * of the sections own these limits and their sources; a test compares the two. A quantity that is
 * judged by its centile has no cut-off.
 */
const CUT_OFFS: Partial<Record<ObstetricConcept, readonly number[]>> = {
  'mean-sac-diameter': [16, 25],
  'yolk-sac': [2, 6, 7],
  crl: [5, 7, 84],
  'nuchal-translucency': [3.5],
  // The limits of every gestational age.
  'fetal-heart-rate': [90, 100, 110, 120, 130, 160, 175, 180, 190],
  'cephalic-index': [70, 86],
  efw: [4000, 4500],
  'atrial-width': [10, 13, 15],
  'cisterna-magna': [2, 10],
  'nuchal-fold': [6],
  // A pocket of 0 mm is anhydramnios, not a shallow pocket.
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

/** The cut-offs of a quantity, in its unit; empty for one that is not judged by its value. */
export const cutOffsOf = (key: string): readonly number[] =>
  Object.hasOwn(CUT_OFFS, key) ? (CUT_OFFS[key as ObstetricConcept] ?? []) : [];
