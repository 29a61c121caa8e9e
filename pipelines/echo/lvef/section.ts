import type { EchoConcept } from '../../concepts/echo.ts';
import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { sayOfLvSize } from '../../result/render/echo/lv-size.ts';
import {
  categoryOfLvef,
  type HeartFailureRange,
  isEfLimit,
  sayOfLvef,
} from '../../result/render/echo/lvef.ts';
import { type Abnormality, categoryOfEcho, sayOfEcho } from '../../result/render/echo/shared.ts';
import type { Statement } from '../../result/statement.ts';
import {
  irregularRhythm,
  isUnequalRhythm,
  type OutlineEvidence,
  outlineGap,
  type RhythmEvidence,
} from '../chambers/gaps.ts';
import { fractionalChange, teichholzEjection } from '../formulas.ts';
import { LEFT_VENTRICLE } from '../lv-size/guideline.ts';
import {
  type GradedQuantity,
  graded,
  isAbnormal,
  isNearCutOff,
  type Sex,
  VARIABILITY,
} from '../shared/grading.ts';
import {
  belongsToMachine,
  classification,
  conclude,
  type EchoSection,
  finding,
  inAdultRange,
  isChild,
  type PatientEvidence,
  patientGaps,
  perSurface,
  rangedSexes,
  type Values,
} from '../shared/section.ts';
import {
  EJECTION_FRACTION,
  heartFailureRange,
  unequalLengths,
  unequalVolumes,
} from './guideline.ts';
import {
  EF_PRECEDENCE,
  EF_VARIABILITY,
  headlineEf,
  isSevere,
  SEVERE_EF,
  severeOfMachine,
  type UngradedEf,
  ungradedEf,
} from './judge.ts';

interface LvefEvidence extends PatientEvidence, OutlineEvidence {
  heart: OutlineEvidence['heart'] & RhythmEvidence;
}

const ID = 'lvef';

const PLANE_VALUES = [
  'lvedv-4c',
  'lvesv-4c',
  'lvedv-2c',
  'lvesv-2c',
  'lv-length-4c',
  'lv-length-2c',
] as const satisfies readonly EchoConcept[];

/** Reports disagreements between the outlines of two views (echo 4.2, 4.6). */
function disagreements(values: Values): (Statement | null)[] {
  const number = (key: EchoConcept) => {
    const one = values.measurement(key);
    return one && !belongsToMachine(one) ? one.value : null;
  };
  const [four, two] = [number('lv-length-4c'), number('lv-length-2c')];
  const [filled, other] = [number('lvedv-4c'), number('lvedv-2c')];
  return [
    four !== null && two !== null && unequalLengths(four, two)
      ? sayOfLvef.gap('lvef.foreshortened', {})
      : null,
    filled !== null && other !== null && unequalVolumes(filled, other)
      ? sayOfLvef.gap('lvef.volumes-differ', {})
      : null,
  ];
}

function limitOf({ concept, method }: Measurement): Statement | null {
  const by = concept.key === 'lvef' ? method : concept.key;
  return isEfLimit(by) ? sayOfLvef.gap('lvef.limited-method', { method: by }) : null;
}

/**
 * Returns true if the value is so close to a limit that, within the variability of measurement, it
 * may have the neighbouring grade (echo 19, rule 2).
 */
function isAtLimit({ value }: Measurement, sexes: readonly Sex[]): boolean {
  const limits = sexes.flatMap((sex) => {
    const { normal, mild, moderate } = EJECTION_FRACTION[sex];
    return [...normal, mild, moderate];
  });
  return isNearCutOff(rounded(value, 0), limits, VARIABILITY.ejectionFraction);
}

/**
 * Returns the finding of severe LV dysfunction, which is critical (echo 16). It is based on the
 * headline EF, on one of several contradicting EFs, or on a machine value.
 */
function criticalFinding(
  values: Values,
  ef: Measurement | null,
  ungraded: UngradedEf | null,
  shown: readonly (Measurement | null)[],
) {
  if (!ef) return null;
  const ids = new Set(shown.map((one) => one?.id));
  // A finding may refer only to values that the section lists. A value from the images is not
  // listed if a machine value takes its place, so it is left out here.
  const critical = (statement: Statement, evidence: readonly Measurement[]) => {
    const found = evidence.filter(({ id }) => ids.has(id));
    return finding('severe-lv-dysfunction', statement, 'critical', found);
  };
  const limit = SEVERE_EF;
  if (ungraded) {
    const { severe, between } = ungraded;
    if (severe === 'none') return null;
    const by = severe === 'all' ? 'lvef.severe-by-each-method' : 'lvef.severe-by-one-method';
    return between.length > 1
      ? critical(sayOfLvef.conclusion(by, { limit }), between)
      : critical(sayOfLvef.conclusion('lvef.severe-by-invalid-method', { limit }, [ef]), [ef]);
  }
  if (isSevere(ef.value)) return critical(sayOfLvef.conclusion('lvef.severe', {}, [ef]), [ef]);
  const other = severeOfMachine(values);
  return (
    other &&
    critical(
      sayOfLvef.conclusion('lvef.severe-of-machine', {
        key: other.concept.key as EchoConcept,
        value: other.value,
        limit,
      }),
      [ef, other],
    )
  );
}

function methodsDisagree(
  ef: Measurement,
  grade: Abnormality,
  others: readonly Measurement[],
  sexes: readonly Sex[],
): Statement | null {
  const apart = others.flatMap((one) => {
    const own = graded(one, EJECTION_FRACTION, sexes);
    return own && own !== grade ? [{ one, own }] : [];
  });
  if (apart.length === 0) return null;
  const grades = apart.map(({ own }) => own);
  const about = [ef, ...apart.map(({ one }) => one)];
  return sayOfLvef.conclusion('lvef.methods-disagree', { grades }, about);
}

const NEEDS = [
  'A4C and A2C 2D clips of at least one beat, or LVEF in the report of the machine',
  'sex',
  'height and weight',
] as const;

function indexedVolumes(given: Values): Indexed[] {
  const filled = given.calculated('lvedv-index', perSurface(ID, 'lvedv-biplane'));
  const emptied = given.calculated('lvesv-index', perSurface(ID, 'lvesv-biplane'));
  return [
    { measurement: filled, quantity: LEFT_VENTRICLE.edvIndex },
    { measurement: emptied, quantity: LEFT_VENTRICLE.esvIndex },
  ];
}

/**
 * Returns those of the machine's LVEFs that are by Teichholz or from a single plane; empty if there
 * are none. An LVEF is calculated again if a person corrected one of its diameters or volumes.
 */
function machineEfs(given: Values): Measurement[] {
  const volumes = { method: 'fraction-of-volumes', value: fractionalChange } as const;
  const calculations = {
    'lvef-teichholz': {
      method: 'teichholz',
      from: ['lvidd', 'lvids'],
      value: teichholzEjection,
      ofOneSource: 'diameters',
    },
    'lvef-4c': { ...volumes, from: ['lvedv-4c', 'lvesv-4c'], ofOneSource: 'volumes' },
    'lvef-2c': { ...volumes, from: ['lvedv-2c', 'lvesv-2c'], ofOneSource: 'volumes' },
  } as const;
  return (['lvef-teichholz', 'lvef-4c', 'lvef-2c'] as const).flatMap((key) => {
    const ef = given.measurement(key);
    if (!ef || !belongsToMachine(ef)) return [];
    return given.calculated(key, { section: ID, ...calculations[key] }) ?? [];
  });
}

function listedVolumes(
  evidence: LvefEvidence,
  given: Values,
  indexed: readonly Indexed[],
): (Measurement | null)[] {
  const biplane = [
    { measurement: given.measurement('lvedv-biplane'), quantity: LEFT_VENTRICLE.edv },
    { measurement: given.measurement('lvesv-biplane'), quantity: LEFT_VENTRICLE.esv },
  ];
  return [
    ...[...biplane, ...indexed].map(({ measurement, quantity }) =>
      inAdultRange(evidence, measurement, quantity),
    ),
    ...PLANE_VALUES.map((key) => given.measurement(key)),
  ];
}

function run(evidence: LvefEvidence, given: Values) {
  const sexes = rangedSexes(evidence);
  const own = given.calculated('lvef-biplane', {
    section: ID,
    method: 'fraction-of-volumes',
    from: ['lvedv-biplane', 'lvesv-biplane'],
    value: fractionalChange,
    ofOneSource: 'volumes',
  });
  const diameter = given.measurement('lvidd');
  const ofMachine = machineEfs(given);
  const values = given.with([
    own,
    ...ofMachine,
    diameter && inAdultRange(evidence, diameter, LEFT_VENTRICLE.diastolicDiameter),
  ]);
  const indexed = indexedVolumes(given);
  const ef = headlineEf(values);
  const child = isChild(evidence);
  const rhythm = irregularRhythm(evidence.heart);
  const ungraded = ungradedEf(values);
  const gradable = ungraded ? null : ef;
  const grade = graded(gradable, EJECTION_FRACTION, sexes);
  const range = gradable && !child ? heartFailureRange(gradable.value, null) : null;
  const unindexed =
    given.measurement('lvedv-biplane') !== null &&
    indexed.every(({ measurement }) => measurement === null);
  const others = EF_PRECEDENCE.flatMap((key) => {
    const measurement = values.measurement(key);
    return measurement && measurement.id !== ef?.id ? [measurement] : [];
  });
  const measurements = [
    ungraded ? ef : inAdultRange(evidence, ef, EJECTION_FRACTION),
    ...[...(own ? [own] : []), ...ofMachine].filter(({ quality }) => quality === 'inadequate'),
    ...others,
    // The LVEF of another clip is listed only if it contradicts that of the measured clip.
    ...(ungraded?.between ?? []).filter(({ standing }) => standing === 'repeat'),
    ...listedVolumes(evidence, given, indexed),
  ];
  const critical = child ? null : criticalFinding(values, ef, ungraded, measurements);
  const sizes = gradedSizes(indexed, sexes);
  return conclude(lvef, {
    measurements,
    conclusions: [
      grade && ef && sayOfLvef.conclusion('lvef.grade', { grade }, [ef]),
      ef && grade ? methodsDisagree(ef, grade, others, sexes) : null,
      range && sayOfLvef.conclusion('lvef.heart-failure-range', { range }),
      ef && sayOfLvef.conclusion('lvef.variability', { points: EF_VARIABILITY }, [ef]),
      rhythm && !rhythm.few ? sayOfEcho.conclusion('rhythm.irregular', rhythm) : null,
      ef && grade && isAtLimit(ef, sexes)
        ? sayOfLvef.conclusion('lvef.at-limit', { points: VARIABILITY.ejectionFraction })
        : null,
    ],
    gaps: [
      ef ? null : (outlineGap(evidence, ['A4C', 'A2C']) ?? sayOfLvef.gap('lvef.not-assessed', {})),
      ...disagreements(given),
      rhythm?.few ? sayOfEcho.gap('rhythm.irregular', rhythm) : null,
      isUnequalRhythm(evidence.heart) ? sayOfEcho.gap('rhythm.unequal', {}) : null,
      ungraded?.gap ?? null,
      ef && !ungraded && !values.measurement('lvef-biplane') ? limitOf(ef) : null,
      ...(ef ? patientGaps(evidence, unindexed) : []),
    ],
    findings: [
      critical ??
        (ef && isAbnormal(grade)
          ? finding(
              'lv-dysfunction',
              sayOfLvef.conclusion('lvef.dysfunction', { grade }, [ef]),
              'abnormal',
            )
          : null),
      volumesFinding(sizes),
    ],
    classifications: classificationsOf(grade, range, sizes),
  });
}

interface Indexed {
  measurement: Measurement | null;
  quantity: GradedQuantity;
}

interface GradedSize {
  measurement: Measurement;
  grade: Abnormality;
}

const gradedSizes = (indexed: readonly Indexed[], sexes: readonly Sex[]): GradedSize[] =>
  indexed.flatMap(({ measurement, quantity }) => {
    const grade = graded(measurement, quantity, sexes);
    return grade && measurement ? [{ measurement, grade }] : [];
  });

function volumesFinding(sizes: readonly GradedSize[]) {
  const large = sizes.filter(({ grade }) => isAbnormal(grade));
  if (large.length === 0) return null;
  const measurements = large.map(({ measurement }) => measurement);
  const grades = large.map(({ grade }) => grade);
  const statement = sayOfLvSize.conclusion('lv-size.abnormal', { grades }, measurements);
  return finding('lv-volumes-abnormal', statement, 'abnormal');
}

function classificationsOf(
  grade: Abnormality | null,
  range: HeartFailureRange | null,
  sizes: readonly GradedSize[],
) {
  return [
    grade &&
      classification(
        'lvef-grade',
        'LV systolic function by LVEF',
        categoryOfEcho('abnormality', grade),
        'ASE/EACVI 2015, sex-specific',
      ),
    range &&
      classification(
        'heart-failure-range',
        'LVEF range, if clinical heart failure is present',
        categoryOfLvef('heart-failure-range', range),
        'ESC 2021; Universal Definition of HF 2021',
      ),
    ...sizes.map(({ measurement, grade: own }) =>
      classification(
        `${measurement.concept.key}-grade`,
        measurement.label,
        categoryOfEcho('abnormality', own),
        'ASE/EACVI 2015',
      ),
    ),
  ];
}

/** Reports the ejection fraction and volumes of the left ventricle (echo 4). */
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
    ...PLANE_VALUES,
  ],
  run,
};
