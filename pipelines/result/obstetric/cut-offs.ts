import type { ConceptKey } from '../../concepts/concepts.ts';
import {
  AFI_HIGH,
  AFI_LOW,
  DVP_HIGH,
  DVP_LOW,
  MM_PER_CM,
} from '../../obstetric/amniotic-fluid/guideline.ts';
import { SCREEN_MM, VENTRICLE_MM } from '../../obstetric/anomaly-screen/guideline.ts';
import { CEPHALIC_INDEX_RANGE } from '../../obstetric/biometry/formulas.ts';
import { CERVIX_MM, PROGESTERONE_MM } from '../../obstetric/cervix/guideline.ts';
import { ANAEMIA_MOM, LOW_CPR, RI_WITHOUT_FLOW } from '../../obstetric/doppler/guideline.ts';
import {
  DATING_CRL,
  DIAGNOSTIC,
  RATE_BANDS,
  SUSPICIOUS,
  SUSPICIOUS_MSD,
  YOLK_SAC_MM,
} from '../../obstetric/early-pregnancy/guideline.ts';
import { CARDIAC_AXIS, CARDIAC_SIZE, FETAL_RATE } from '../../obstetric/fetal-heart/guideline.ts';
import { MACROSOMIA_GRAMS } from '../../obstetric/growth/guideline.ts';
import {
  DESCENT_BANDS,
  HEAD_DIRECTION,
  STATION_ANGLES,
} from '../../obstetric/labor-progress/guideline.ts';
import { HIGH_NT } from '../../obstetric/nt/guideline.ts';
import { COVERS_OS_MM, LOW_LYING_MM } from '../../obstetric/placenta/guideline.ts';
import type { Measurement } from '../envelope.ts';

/**
 * Said where the interval of a value holds a cut-off, so that neither side of it is sure; null where
 * it holds none or where the interval is not known. All in one unit, `''` for a plain number.
 */
export function acrossCutOff(
  value: number,
  halfWidth: number | null,
  cutOffs: readonly number[],
  unit: 'mm' | 'deg' | '' = 'mm',
): string | null {
  if (halfWidth === null) return null;
  const nearest = cutOffs.toSorted((a, b) => Math.abs(a - value) - Math.abs(b - value))[0];
  return nearest !== undefined && Math.abs(value - nearest) < halfWidth
    ? `The interval of the value reaches across the cut-off of ${`${nearest} ${unit}`.trimEnd()}: measure by hand.`
    : null;
}

/** A pocket of this depth is none: anhydramnios, not a shallow one. */
const NO_FLUID = 0;

/**
 * Where a category, a band or an advice by the value itself changes, in the unit of the concept; those
 * of a heart rate of every age. What is judged by its centile has no cut-off of its own.
 */
const CUT_OFFS: Partial<Record<ConceptKey, readonly number[]>> = {
  'mean-sac-diameter': [SUSPICIOUS_MSD, DIAGNOSTIC.msd],
  'yolk-sac': [...Object.values(YOLK_SAC_MM), SUSPICIOUS.yolkSacAbove],
  crl: [...Object.values(DATING_CRL), DIAGNOSTIC.crl],
  'nuchal-translucency': [HIGH_NT],
  'fetal-heart-rate': [
    ...RATE_BANDS.flatMap(({ slowBelow, usualFrom, usualTo }) => [
      slowBelow,
      usualFrom,
      ...(usualTo === null ? [] : [usualTo]),
    ]),
    ...[FETAL_RATE.least, FETAL_RATE.most, FETAL_RATE.tachycardia],
  ],
  'cephalic-index': Object.values(CEPHALIC_INDEX_RANGE),
  efw: MACROSOMIA_GRAMS,
  'atrial-width': Object.values(VENTRICLE_MM),
  'cisterna-magna': Object.values(SCREEN_MM.cisternaMagna),
  'nuchal-fold': [SCREEN_MM.nuchalFold],
  'deepest-vertical-pocket': [
    NO_FLUID,
    ...[DVP_LOW, ...Object.values(DVP_HIGH)].map((cm) => cm * MM_PER_CM),
  ],
  'amniotic-fluid-index': [
    NO_FLUID,
    ...[AFI_LOW, ...Object.values(AFI_HIGH)].map((cm) => cm * MM_PER_CM),
  ],
  'placenta-to-os': [COVERS_OS_MM, LOW_LYING_MM],
  'cervical-length': [...Object.values(CERVIX_MM), PROGESTERONE_MM],
  'cardiothoracic-area-ratio': [CARDIAC_SIZE.small, CARDIAC_SIZE.large],
  'cardiothoracic-circumference-ratio': [CARDIAC_SIZE.largeCircumference],
  'cardiac-axis': Object.values(CARDIAC_AXIS),
  'umbilical-artery-ri': [RI_WITHOUT_FLOW],
  'middle-cerebral-artery-psv-mom': Object.values(ANAEMIA_MOM),
  'cerebroplacental-ratio': [LOW_CPR],
  'angle-of-progression': [...Object.values(DESCENT_BANDS), ...Object.values(STATION_ANGLES)],
  'head-direction': Object.values(HEAD_DIRECTION),
};

/** The cut-offs of a quantity, in its unit; none for one that is not judged by its value. */
export const cutOffsOf = (key: string): readonly number[] =>
  Object.hasOwn(CUT_OFFS, key) ? (CUT_OFFS[key as ConceptKey] ?? []) : [];

/** The same of one measurement: a nuchal translucency is judged by the limit of its CRL, too. */
export function cutOffsOfMeasurement({
  concept,
  reference,
}: Pick<Measurement, 'concept' | 'reference'>): readonly number[] {
  const own = concept.key === 'nuchal-translucency' ? reference?.high : null;
  return [...cutOffsOf(concept.key), ...(own == null ? [] : [own])];
}
