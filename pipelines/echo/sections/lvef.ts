import type { ConceptKey } from '../../result/concepts.ts';
import { classification, conclude, finding, isChild, patientGaps, rangedSex } from '../conclude.ts';
import { fractionalChange } from '../formulas/chambers.ts';
import { rounded } from '../formulas/rounding.ts';
import { EF_VARIABILITY, heartFailureRange, LEFT_VENTRICLE } from '../guidelines/left-ventricle.ts';
import type { EchoEvidence, EchoSection } from '../section.ts';
import { calculated, graded, named, ranged, type Values, withValues } from '../values.ts';

const ID = 'lvef';

/** The first that was measured is the headline (echo reference 4.2). */
export const EF_PRECEDENCE = [
  'lvef-3d',
  'lvef-biplane',
  'lvef-4c',
  'lvef-2c',
  'lvef',
  'lvef-teichholz',
] as const satisfies readonly ConceptKey[];

/** EF, per cent, below which LV dysfunction is told at once (reference 16). */
const SEVERE = 30;

/** The EF that stands for the study; null without any. */
export function headlineEf(values: Values) {
  return EF_PRECEDENCE.map((key) => values.measurement(key)).find((one) => one !== null) ?? null;
}

const NOT_GRADED: Readonly<Partial<Record<string, string>>> = {
  'lvef-4c': 'Single plane (A4C); biplane not possible.',
  'lvef-2c': 'Single plane (A2C); biplane not possible.',
  lvef: 'The machine does not say by which method the LVEF was measured.',
  'lvef-teichholz': 'LVEF by Teichholz is not valid with any regional wall motion abnormality.',
};

const NEEDS = [
  'LVEF or volumes of apical views in the report of the machine',
  'sex',
  'height and weight',
] as const;

function run(evidence: EchoEvidence, given: Values) {
  const sex = rangedSex(evidence);
  const own = calculated(given, 'lvef-biplane', {
    section: ID,
    method: 'fraction-of-volumes',
    from: ['lvedv-biplane', 'lvesv-biplane'],
    value: fractionalChange,
  });
  const values = withValues(given, [own]);
  const index = (from: 'lvedv-biplane' | 'lvesv-biplane') =>
    calculated(given, from === 'lvedv-biplane' ? 'lvedv-index' : 'lvesv-index', {
      section: ID,
      method: 'per-surface-area',
      from: [from, 'body-surface-area'],
      value: (volume, surface) => volume / surface,
    });
  const indexed = [
    { measurement: index('lvedv-biplane'), quantity: LEFT_VENTRICLE.edvIndex },
    { measurement: index('lvesv-biplane'), quantity: LEFT_VENTRICLE.esvIndex },
  ];
  const ef = headlineEf(values);
  const grade = graded(ef, LEFT_VENTRICLE.ef, sex);
  const range = ef && !isChild(evidence) ? heartFailureRange(ef.value, null) : null;
  const severe = ef !== null && rounded(ef.value, 0) < SEVERE;
  const others = EF_PRECEDENCE.flatMap((key) => {
    const measurement = values.measurement(key);
    return measurement && measurement.id !== ef?.id ? [measurement] : [];
  });
  return conclude(lvef, {
    measurements: [
      ef && ranged(ef, LEFT_VENTRICLE.ef, sex),
      own?.quality === 'inadequate' ? own : null,
      ...others,
      ...(['lvedv-biplane', 'lvesv-biplane'] as const).map((key) => {
        const measurement = given.measurement(key);
        const quantity = key === 'lvedv-biplane' ? LEFT_VENTRICLE.edv : LEFT_VENTRICLE.esv;
        return measurement && ranged(measurement, quantity, sex);
      }),
      ...indexed.map(
        ({ measurement, quantity }) => measurement && ranged(measurement, quantity, sex),
      ),
    ],
    sentences: [
      grade && `LV systolic function by LVEF: ${grade}`,
      range &&
        `LVEF is in the range used for ${range.replace(' range', '')} if clinical heart failure is present`,
      ef && `A change of less than ${EF_VARIABILITY} points is within measurement variability`,
    ],
    gaps: [
      ef
        ? null
        : 'LVEF was not assessed: the machine reported none, and no permitted model measures it.',
      ef ? (NOT_GRADED[ef.concept.key] ?? null) : null,
      ...(ef ? patientGaps(evidence, given.measurement('lvedv-biplane') !== null) : []),
    ],
    findings: [
      ef && severe
        ? finding(
            ID,
            'severe-lv-dysfunction',
            `${named(ef)}: severely reduced LV systolic function; whether it is new is not known`,
            'critical',
            [ef],
          )
        : ef && grade?.endsWith('ly abnormal')
          ? finding(
              ID,
              'lv-dysfunction',
              `${named(ef)}: LV systolic function ${grade}`,
              'abnormal',
              [ef],
            )
          : null,
    ],
    classifications: [
      grade &&
        classification(
          ID,
          'lvef-grade',
          'LV systolic function by LVEF',
          grade,
          'ASE/EACVI 2015, sex-specific',
        ),
      range &&
        classification(
          ID,
          'heart-failure-range',
          'LVEF range, if clinical heart failure is present',
          range,
          'ESC 2021; Universal Definition of HF 2021',
        ),
      ...indexed.map(({ measurement, quantity }) => {
        const of = graded(measurement, quantity, sex);
        return of && measurement
          ? classification(
              ID,
              `${measurement.concept.key}-grade`,
              measurement.label,
              of,
              'ASE/EACVI 2015',
            )
          : null;
      }),
    ],
  });
}

/** Ejection fraction and volumes of the left ventricle (echo reference 4). */
export const lvef: EchoSection = {
  id: ID,
  title: 'Left ventricular ejection fraction',
  needs: NEEDS,
  measures: [...EF_PRECEDENCE, 'lvedv-biplane', 'lvesv-biplane', 'lvedv-index', 'lvesv-index'],
  run,
};
