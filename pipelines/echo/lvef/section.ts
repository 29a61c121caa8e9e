import type { ConceptKey } from '../../concepts/concepts.ts';
import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isOfMachine } from '../../result/measurement.ts';
import {
  irregularRhythm,
  type OutlineEvidence,
  outlineGap,
  type RhythmEvidence,
  unequalRhythm,
} from '../chambers/gaps.ts';
import { fractionalChange } from '../formulas/chambers.ts';
import { LEFT_VENTRICLE } from '../lv-size/guideline.ts';
import {
  classification,
  conclude,
  finding,
  inAdultRange,
  isChild,
  patientGaps,
  rangedSex,
} from '../shared/conclude.ts';
import type { Sex } from '../shared/grading.ts';
import { isNearCutOff, VARIABILITY } from '../shared/grading.ts';
import type { EchoSection, PatientEvidence } from '../shared/section.ts';
import { calculated, graded, named, type Values, withValues } from '../shared/values.ts';
import {
  EF_VARIABILITY,
  heartFailureRange,
  SEVERE_EF,
  unequalLengths,
  unequalVolumes,
} from './guideline.ts';
import {
  EF_PRECEDENCE,
  headlineEf,
  isSevere,
  severeOfMachine,
  type UngradedEf,
  ungradedEf,
} from './measure.ts';

/** What this section needs beside the values. */
interface LvefEvidence extends PatientEvidence, OutlineEvidence {
  heart: OutlineEvidence['heart'] & RhythmEvidence;
}

const ID = 'lvef';

const VOLUMES = [
  'lvedv-4c',
  'lvesv-4c',
  'lvedv-2c',
  'lvesv-2c',
  'lv-length-4c',
  'lv-length-2c',
] as const satisfies readonly ConceptKey[];

/** What the outlines of two views say against each other (echo 4.2, 4.6). */
function disagreements(values: Values): (string | null)[] {
  const number = (key: ConceptKey) => {
    const one = values.measurement(key);
    return one && !isOfMachine(one) ? one.value : null;
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

/** What limits an EF that is not by biplane discs, by its concept or by the method of the machine. */
const LIMITS: Readonly<Partial<Record<string, string>>> = {
  'lvef-networks': 'Single plane (A4C); biplane not possible.',
  'lvef-4c': 'Single plane (A4C); biplane not possible.',
  'lvef-2c': 'Single plane (A2C); biplane not possible.',
  'cart-sr': 'The machine does not say by which method the LVEF was measured.',
  'cart-area-length-biplane': 'LVEF by area-length in two planes, not by biplane discs.',
  'cart-area-length': 'LVEF by area-length in a single plane; biplane not possible.',
  'cart-cube': 'LVEF by the cube of the diameters is not valid with any regional abnormality.',
  'cart-stated': 'LVEF by another method of the machine than biplane discs.',
  'lvef-teichholz': 'LVEF by Teichholz is not valid with any regional wall motion abnormality.',
};

const limitOf = ({ concept, method }: Measurement) =>
  LIMITS[concept.key === 'lvef' ? method : concept.key] ?? null;

/** Whether the grade may as well be its neighbour (echo 19, rule 2). */
function isAtLimit({ value }: Measurement, sex: Sex): boolean {
  const { normal, mild, moderate } = LEFT_VENTRICLE.ef[sex];
  const limits = [...normal, mild, moderate];
  return isNearCutOff(rounded(value, 0), limits, VARIABILITY.ejectionFraction);
}

const NEW = 'whether it is new is not known';

/** LV dysfunction that is told at once (echo 16), by the EF that stands or by one of two. */
function criticalFinding(
  values: Values,
  ef: Measurement | null,
  ungraded: UngradedEf | null,
  shown: readonly (Measurement | null)[],
) {
  if (!ef) return null;
  const ids = new Set(shown.map((one) => one?.id));
  const told = (text: string, evidence: readonly Measurement[]) =>
    finding(
      ID,
      'severe-lv-dysfunction',
      `${text}; ${NEW}`,
      'critical',
      // A value of the images beside one of the machine stands in the note of that one alone.
      evidence.filter(({ id }) => ids.has(id)),
    );
  if (ungraded) {
    if (!ungraded.severe) return null;
    return ungraded.between.length > 1
      ? told(
          `The methods disagree: one of two methods gives LVEF below ${SEVERE_EF} %`,
          ungraded.between,
        )
      : told(`${named(ef)}: below ${SEVERE_EF} % by a method that is not valid here`, [ef]);
  }
  if (isSevere(ef.value)) return told(`${named(ef)}: severely reduced LV systolic function`, [ef]);
  const other = severeOfMachine(values);
  return (
    other &&
    told(`${named(other)} of the machine: one of two methods gives LVEF below ${SEVERE_EF} %`, [
      ef,
      other,
    ])
  );
}

const NEEDS = [
  'A4C and A2C 2D clips of at least one beat, or LVEF in the report of the machine',
  'sex',
  'height and weight',
] as const;

const NO_EF = 'LVEF was not assessed: neither the machine nor an outlined beat gives one.';

function run(evidence: LvefEvidence, given: Values) {
  const sex = rangedSex(evidence);
  const own = calculated(given, 'lvef-biplane', {
    section: ID,
    method: 'fraction-of-volumes',
    from: ['lvedv-biplane', 'lvesv-biplane'],
    value: fractionalChange,
    ofOneSource: 'EDV and ESV',
  });
  const diameter = given.measurement('lvidd');
  const values = withValues(given, [
    own,
    diameter && inAdultRange(evidence, diameter, LEFT_VENTRICLE.diastolicDiameter),
  ]);
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
  const child = isChild(evidence);
  const rhythm = irregularRhythm(evidence.heart);
  const ungraded = ungradedEf(values);
  const gradable = ungraded ? null : ef;
  const grade = graded(gradable, LEFT_VENTRICLE.ef, sex);
  const range = gradable && !child ? heartFailureRange(gradable.value, null) : null;
  const unindexed =
    given.measurement('lvedv-biplane') !== null &&
    indexed.every(({ measurement }) => measurement === null);
  const others = EF_PRECEDENCE.flatMap((key) => {
    const measurement = values.measurement(key);
    return measurement && measurement.id !== ef?.id ? [measurement] : [];
  });
  const measurements = [
    ungraded ? ef : inAdultRange(evidence, ef, LEFT_VENTRICLE.ef),
    own?.quality === 'inadequate' ? own : null,
    ...others,
    ...(['lvedv-biplane', 'lvesv-biplane'] as const).map((key) => {
      const measurement = given.measurement(key);
      const quantity = key === 'lvedv-biplane' ? LEFT_VENTRICLE.edv : LEFT_VENTRICLE.esv;
      return inAdultRange(evidence, measurement, quantity);
    }),
    ...indexed.map(({ measurement, quantity }) => inAdultRange(evidence, measurement, quantity)),
    ...VOLUMES.map((key) => given.measurement(key)),
  ];
  const critical = child ? null : criticalFinding(values, ef, ungraded, measurements);
  return conclude(lvef, {
    measurements,
    sentences: [
      grade && `LV systolic function by LVEF: ${grade}`,
      range &&
        `LVEF is in the range used for ${range.replace(' range', '')} if clinical heart failure is present`,
      ef && `A change of less than ${EF_VARIABILITY} points is within measurement variability`,
      rhythm && !rhythm.few ? rhythm.text : null,
      ef && grade && sex && isAtLimit(ef, sex)
        ? `The LVEF lies within ${VARIABILITY.ejectionFraction} points of a limit of its grade, which is within measurement variability`
        : null,
    ],
    gaps: [
      ef ? null : (outlineGap(evidence, ['A4C', 'A2C']) ?? NO_EF),
      ...disagreements(given),
      rhythm?.few ? `${rhythm.text}.` : null,
      unequalRhythm(evidence.heart),
      ungraded?.text ?? null,
      ef && !ungraded && !values.measurement('lvef-biplane') ? limitOf(ef) : null,
      ...(ef ? patientGaps(evidence, unindexed) : []),
    ],
    findings: [
      critical
        ? critical
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

/** Ejection fraction and volumes of the left ventricle (echo 4). */
export const lvef: EchoSection<LvefEvidence> = {
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
