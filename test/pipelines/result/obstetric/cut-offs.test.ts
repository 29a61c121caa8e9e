import { expect, it } from 'vitest';
import type { ConceptKey } from '../../../../pipelines/concepts/concepts.ts';
import {
  AFI_HIGH,
  AFI_LOW,
  DVP_HIGH,
  DVP_LOW,
  MM_PER_CM,
} from '../../../../pipelines/obstetric/amniotic-fluid/guideline.ts';
import {
  SCREEN_MM,
  VENTRICLE_MM,
} from '../../../../pipelines/obstetric/anomaly-screen/guideline.ts';
import { CEPHALIC_INDEX_RANGE } from '../../../../pipelines/obstetric/biometry/formulas.ts';
import { CERVIX_MM, PROGESTERONE_MM } from '../../../../pipelines/obstetric/cervix/guideline.ts';
import {
  ANAEMIA_MOM,
  LOW_CPR,
  RI_WITHOUT_FLOW,
} from '../../../../pipelines/obstetric/doppler/guideline.ts';
import {
  DATING_CRL,
  DIAGNOSTIC,
  SUSPICIOUS,
  SUSPICIOUS_MSD,
  YOLK_SAC_MM,
} from '../../../../pipelines/obstetric/early-pregnancy/guideline.ts';
import {
  CARDIAC_AXIS,
  CARDIAC_SIZE,
  FETAL_RATE,
  RATE_BANDS,
} from '../../../../pipelines/obstetric/fetal-heart/guideline.ts';
import { MACROSOMIA_GRAMS } from '../../../../pipelines/obstetric/growth/guideline.ts';
import {
  DESCENT_BANDS,
  HEAD_DIRECTION,
  STATION_ANGLES,
} from '../../../../pipelines/obstetric/labor-progress/guideline.ts';
import { HIGH_NT, NT_WINDOW } from '../../../../pipelines/obstetric/nt/guideline.ts';
import { COVERS_OS_MM, LOW_LYING_MM } from '../../../../pipelines/obstetric/placenta/guideline.ts';
import { cutOffsOf } from '../../../../pipelines/result/obstetric/limits.ts';

const NO_FLUID = 0;

/** The limits as defined in each section's guideline. */
const LIMITS: Partial<Record<ConceptKey, readonly number[]>> = {
  'mean-sac-diameter': [SUSPICIOUS_MSD, DIAGNOSTIC.msd],
  'yolk-sac': [...Object.values(YOLK_SAC_MM), SUSPICIOUS.yolkSacAbove],
  crl: [...Object.values(DATING_CRL), DIAGNOSTIC.crl, ...Object.values(NT_WINDOW)],
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

const ascending = (limits: readonly number[]) => [...new Set(limits)].sort((a, b) => a - b);

it.each(Object.entries(LIMITS))(
  'the cut-offs of %s are the limits of its guideline',
  (key, limits) => {
    expect(ascending(cutOffsOf(key))).toEqual(ascending(limits));
  },
);

it('a quantity without a guideline limit has no cut-off', () => {
  expect(cutOffsOf('bpd')).toEqual([]);
});
