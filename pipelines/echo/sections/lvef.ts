import type { ConceptKey } from '../../result/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import { outlineGap } from '../chambers/outline-gap.ts';
import { unequalLengths, unequalVolumes } from '../chambers/volumes.ts';
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
  'lvef-networks',
  'lvef-4c',
  'lvef-2c',
  'lvef',
  'lvef-teichholz',
] as const satisfies readonly ConceptKey[];

const VOLUMES = [
  'lvedv-4c',
  'lvesv-4c',
  'lvedv-2c',
  'lvesv-2c',
  'lv-length-4c',
  'lv-length-2c',
] as const satisfies readonly ConceptKey[];

/** EF, per cent, below which LV dysfunction is told at once (reference 16). */
const SEVERE = 30;

const isOwn = ({ source }: Measurement) => source.provenance !== 'cart-sr';

/**
 * The EF that stands for the study; null without any. Of what was measured here, the mean of both
 * networks stands before the discs of the outlines, of which it is one half (service.md 2.6).
 */
export function headlineEf(values: Values) {
  const given = EF_PRECEDENCE.flatMap((key) => values.measurement(key) ?? []);
  const [first] = given;
  if (!first) return null;
  const networks = values.measurement('lvef-networks');
  return isOwn(first) && networks ? networks : first;
}

/** What the outlines of two views say against each other (reference 4.2, 4.6). */
function disagreements(values: Values): (string | null)[] {
  const number = (key: ConceptKey) => {
    const one = values.measurement(key);
    return one && isOwn(one) ? one.value : null;
  };
  const [four, two] = [number('lv-length-4c'), number('lv-length-2c')];
  const [filled, other] = [number('lvedv-4c'), number('lvedv-2c')];
  return [
    four !== null && two !== null && unequalLengths(four, two)
      ? 'Apical views of unequal length: one appears foreshortened; volumes may be underestimated.'
      : null,
    filled !== null && other !== null && unequalVolumes(filled, other)
      ? 'The end-diastolic volumes of the two apical views differ by more than 25 %.'
      : null,
  ];
}

/** The two networks see A4C alone; biplane discs that contradict them leave the EF open. */
function contradiction(values: Values): string | null {
  const [joint, discs] = [values.measurement('lvef-networks'), values.measurement('lvef-biplane')];
  if (!joint || !discs || !isOwn(discs)) return null;
  return Math.abs(joint.value - discs.value) > EF_VARIABILITY
    ? `LVEF by both networks and by biplane discs differ by more than ${EF_VARIABILITY} points: it was not graded.`
    : null;
}

const NOT_GRADED: Readonly<Partial<Record<string, string>>> = {
  'lvef-networks': 'Single plane (A4C); biplane not possible.',
  'lvef-4c': 'Single plane (A4C); biplane not possible.',
  'lvef-2c': 'Single plane (A2C); biplane not possible.',
  lvef: 'The machine does not say by which method the LVEF was measured.',
  'lvef-teichholz': 'LVEF by Teichholz is not valid with any regional wall motion abnormality.',
};

const NEEDS = [
  'A4C and A2C 2D clips of at least one beat, or LVEF in the report of the machine',
  'sex',
  'height and weight',
] as const;

const NO_EF = 'LVEF was not assessed: neither the machine nor an outlined beat gives one.';

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
  const contradicted = ef?.concept.key === 'lvef-networks' ? contradiction(values) : null;
  const grade = contradicted ? null : graded(ef, LEFT_VENTRICLE.ef, sex);
  const range =
    ef && !contradicted && !isChild(evidence) ? heartFailureRange(ef.value, null) : null;
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
      ...VOLUMES.map((key) => given.measurement(key)),
    ],
    sentences: [
      grade && `LV systolic function by LVEF: ${grade}`,
      range &&
        `LVEF is in the range used for ${range.replace(' range', '')} if clinical heart failure is present`,
      ef && `A change of less than ${EF_VARIABILITY} points is within measurement variability`,
    ],
    gaps: [
      ef ? null : (outlineGap(evidence, ['A4C', 'A2C']) ?? NO_EF),
      ...disagreements(given),
      contradicted,
      ef && !values.measurement('lvef-biplane') ? (NOT_GRADED[ef.concept.key] ?? null) : null,
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
  measures: [
    ...EF_PRECEDENCE,
    'lvedv-biplane',
    'lvesv-biplane',
    'lvedv-index',
    'lvesv-index',
    ...VOLUMES,
  ],
  run,
};
