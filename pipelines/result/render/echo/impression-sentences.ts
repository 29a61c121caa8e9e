import type { Measurement } from '../../envelope.ts';
import type { SentenceTable } from '../../statement.ts';
import { allOf, anyOf } from '../unit-text.ts';
import { type DiastolicGrade, gradeOf, gradeText, valueOfCriterion } from './diastolic.ts';
import { type RvConclusion, rvConclusionOf } from './rv-function.ts';
import {
  type Abnormality,
  type About,
  abnormalityOf,
  abnormalityText,
  allNamed,
  type EfReadings,
  type Geometry,
  geometryText,
  gradesText,
  intervalOnly,
  intervalText,
  namedText,
  readingText,
  valueText,
  withIntervals,
} from './shared.ts';
import {
  type OpenValves,
  openValves,
  type ValveGrading,
  valveDiseaseName,
  valveGradeText,
} from './valves.ts';
import type { Scored } from './wall-motion.ts';

/** Text for each grade of the LVEF (ASE15). */
const EF_GRADE = {
  normal: 'normal',
  mild: 'mildly reduced',
  moderate: 'moderately reduced',
  severe: 'severely reduced',
  abnormal: 'reduced',
  'above-range': 'above the normal range',
  'below-range': 'below the normal range',
} as const satisfies Record<Abnormality, string>;
const efText = (grade: Abnormality) => EF_GRADE[abnormalityOf(grade) ?? grade];

/** Result of one diastolic function algorithm, and its criteria that are met. */
export type Graded = DiastolicGrade & { by: string; year: number; met: readonly string[] };

/** Results that state neither a grade of dysfunction nor an elevated pressure. */
const NORMAL_FILLING: ReadonlySet<DiastolicGrade['result'] | undefined> = new Set([
  'normal-function',
  'normal-lap-ungraded',
] as const);
export const isNormalFilling = (grade: DiastolicGrade): boolean =>
  NORMAL_FILLING.has(gradeOf(grade)?.result);

/**
 * Wording for results without a grade. `function` is used if nothing contradicts normal function,
 * `pressure` if only the LAP is certainly normal, and `pressure-only` if ASE 2025 finds dysfunction
 * in spite of a normal LAP.
 */
const FILLING = {
  function: 'normal diastolic function',
  pressure: 'normal LAP',
  'pressure-only': 'diastolic dysfunction with normal LAP',
} as const;

/** Text for atrial size, by grade of the atrial volume. */
const SIZE_GRADE = {
  normal: 'of normal size',
  mild: 'mildly enlarged',
  moderate: 'moderately enlarged',
  severe: 'severely enlarged',
  abnormal: 'enlarged',
  'below-range': 'small',
  'above-range': 'enlarged',
} as const satisfies Record<Abnormality, string>;
const sizeText = (grade: Abnormality) => SIZE_GRADE[abnormalityOf(grade) ?? grade];

/** Wording for how the LVEF was measured, by concept or by the machine's method. */
const EF_METHOD: Readonly<Record<string, string>> = {
  'lvef-3d': '3D',
  'lvef-biplane': 'biplane discs',
  'lvef-networks': 'A4C, two networks',
  'lvef-4c': 'A4C discs',
  'lvef-2c': 'A2C discs',
  'lvef-teichholz': 'Teichholz',
  'cart-area-length-biplane': 'biplane area-length',
  'cart-area-length': 'single-plane area-length',
  'cart-discs': 'discs in one unnamed plane',
  'cart-cube': 'cube method',
  'cart-stated': 'other machine method',
};
const methodOf = ({ concept, method }: Measurement) =>
  EF_METHOD[concept.key] ?? EF_METHOD[method] ?? 'method not stated';

const LV_SIZE = { N: 'of normal size', H: 'dilated', L: 'small', A: 'of abnormal size' } as const;
type LvSize = keyof typeof LV_SIZE;

/** Renders values in brackets, "(TAPSE 21 mm, FAC 45 %)"; empty without values. */
const inBrackets = (values: readonly Measurement[]) =>
  values.length > 0 ? ` (${allNamed(values)})` : '';

const whose = ({ origin }: Measurement) => (origin === 'machine' ? ', ultrasound machine' : '');

/** Probabilities of pulmonary hypertension. At an end of an interval there may be none of them. */
const PROBABILITIES: ReadonlySet<string | null> = new Set(['low', 'intermediate', 'high']);

const RV_FUNCTION = {
  normal: 'normal RV systolic function',
  reduced: 'reduced RV systolic function',
  borderline: 'borderline RV systolic function with discordant indices',
  'single-index-normal': 'RV systolic function normal by a single index',
  'single-index-reduced': 'RV dysfunction possible by a single index',
} as const satisfies Record<RvConclusion, string>;

/**
 * Maximum number of segments listed by name in a line. If there are more, only their number is
 * stated.
 */
const NAMED_SEGMENTS = 4;

type Region = { kind: string; artery?: string };

function regionText({ kind, artery }: Region): string {
  if (kind === 'global') return 'global hypokinesis';
  const where = artery ? `, within the usual territory of the ${artery}` : '';
  return `regional wall motion abnormality${where}`;
}

/** Clauses that only the impression states; `impression.ts` chooses them. */
export const ECHO_IMPRESSION = {
  /**
   * `about` contains the measurements that agree with the stated size, followed by those that
   * contradict it.
   */
  'impression.lv-size': (
    { size, agreeing }: { size: LvSize; agreeing: number },
    { about }: About,
  ) => {
    const against = about
      .slice(agreeing)
      .map((one) => `, but ${LV_SIZE[one.interpretation ?? 'A']} by ${namedText(one)}`)
      .join('');
    return `LV ${LV_SIZE[size]}${inBrackets(about.slice(0, agreeing))}${against}`;
  },
  'impression.lv-size-ungraded': ({ sexUnknown }: { sexUnknown: boolean }, { about }: About) =>
    `LV size not graded${sexUnknown ? ", as the patient's sex is unknown" : ''}${inBrackets(about)}`,
  'impression.lv-geometry': ({ geometry }: { geometry: Geometry }, { about }: About) =>
    `${geometryText(geometry)}${inBrackets(about)}`,
  'impression.lv-walls': (_: Record<string, never>, { about }: About) =>
    `thickened ${about.length > 1 ? 'walls' : 'wall'}${inBrackets(about)}`,
  /** The first `stated` values in `about` are already given in an earlier clause of the line. */
  'impression.grades-open': ({ stated }: { stated: number }, { about }: About) => {
    const all = allOf([
      ...about.slice(0, stated).map(intervalOnly),
      ...about.slice(stated).map((one) => withIntervals([one])),
    ]);
    return about.length > 1
      ? `the grades of ${all} are uncertain, as cut-offs lie within their intervals`
      : `the grade of ${all} is uncertain, as a cut-off lies within its interval`;
  },
  /**
   * `grades` contains the grade or, if the interval includes a cut-off, the grades on both sides;
   * it is empty if there is no grade. `limit` is the distance to the nearest limit of the grade in
   * points; null if the value is not close to a limit. `apart` contains the LVEFs that contradict
   * the value; null if there are none.
   */
  'impression.lvef': (
    {
      grades,
      limit,
      urgent,
      apart,
    }: {
      grades: readonly Abnormality[];
      limit: number | null;
      urgent: boolean;
      apart: EfReadings | null;
    },
    { about: [ef] }: About,
  ) => {
    if (!ef) return '';
    const near = limit === null ? '' : `, within ${limit} points of a grade limit`;
    const since = urgent ? '; whether this is new is unknown' : '';
    const against = apart
      ? `, as ${allOf(apart.readings.map(readingText))} ${apart.readings.length > 1 ? 'are' : 'is'} more than ${apart.points} points apart from it`
      : '';
    const category = grades.length > 0 ? gradesText(grades, efText) : `not graded${against}`;
    const shown = grades.length > 1 ? intervalText(ef) : valueText('lvef', ef.value);
    return `LVEF ${shown} (${methodOf(ef)}${whose(ef)}), ${category}${near}${since}`;
  },
  'impression.strain': ({ band }: { band: string }, { about }: About) =>
    `${band} longitudinal strain${inBrackets(about)}`,
  'impression.lvef-open': () => 'LVEF not reported, as its values were withheld',
  /** `about` contains the LVEF that is used, followed by the LVEF by other methods. */
  'impression.lvef-methods': (
    { grades }: { grades: readonly Abnormality[] },
    { about: [, ...others] }: About,
  ) => {
    const each = others.map((one, i) => {
      const grade = grades[i];
      return grade ? `${namedText(one)} (${efText(grade)})` : namedText(one);
    });
    return `the methods disagree on the category: ${each.join(', ')} not used`;
  },
  'impression.wall-motion-normal': ({ scored, of }: { scored: number; of: number }) =>
    `no wall motion abnormality in ${scored} of ${of} segments (a mild one may be missed)`,
  'impression.wall-motion': ({
    segments,
    region,
  }: {
    segments: readonly Scored[];
    region: Region;
  }) => {
    const named = segments.map(({ name, score }) => `${name} ${score}`).join(', ');
    const list = segments.length > NAMED_SEGMENTS ? `${segments.length} segments` : named;
    return `${regionText(region)} (${list})`;
  },
  'impression.score-index': ({ raised }: { raised: boolean }, { about: [index] }: About) =>
    `${index ? namedText(index) : ''} from the machine, ${raised ? 'raised' : 'normal'}`,
  'impression.diastolic': ({ results }: { results: readonly Graded[] }, { about }: About) => {
    const each = results.map(({ by, year, ...grade }) => `${gradeText(grade)} (${by} ${year})`);
    return `diastolic function: ${[...each, ...about.map(namedText)].join(', ')}`;
  },
  /** `met` contains the criteria that are met, which do not change the normal result. */
  'impression.diastolic-normal': (
    {
      state,
      results,
      met,
    }: { state: keyof typeof FILLING; results: readonly Graded[]; met: readonly string[] },
    { about }: About,
  ) => {
    const each = results.map(({ by, year, ...grade }) => {
      const isLimited = isNormalFilling(grade) && gradeOf(grade)?.limited;
      return `${by} ${year}${isLimited ? ' with some criteria missing' : ''}`;
    });
    const beyond = [...new Set(met.map(valueOfCriterion))];
    const although =
      beyond.length > 0
        ? `, although ${allOf(beyond)} ${beyond.length > 1 ? 'are' : 'is'} beyond the limit`
        : '';
    return `${FILLING[state]} by ${allOf(each)}${inBrackets(about)}${although}`;
  },
  'impression.diastolic-open': ({ by, year }: { by: string; year: number }, { about }: About) =>
    `undecided by ${by} ${year}, as a cut-off lies within the interval of ${withIntervals(about)}`,
  'impression.diastolic-ungraded': (_: Record<string, never>, { about }: About) =>
    `diastolic function not graded${inBrackets(about)}`,
  'impression.diastolic-present': ({ by, year }: { by: string; year: number }, { about }: About) =>
    `diastolic dysfunction (${by} ${year}), LA pressure and grade undecided${inBrackets(about)}`,
  /**
   * `grades` contains the grade or, if the interval includes a cut-off, the grades on both sides of
   * it.
   */
  'impression.atrium': ({ grades }: { grades: readonly Abnormality[] }, { about }: About) => {
    const values = grades.length > 1 ? ` (${withIntervals(about)})` : inBrackets(about);
    return `LA ${gradesText(grades, sizeText)}${values}`;
  },
  /** `about` contains the diameter, followed by the volume index. */
  'impression.atrium-diameter': (
    { grade, byDiameter }: { grade: Abnormality; byDiameter: Abnormality },
    { about: [diameter, index] }: About,
  ) =>
    diameter && index
      ? `LA ${sizeText(grade)} by ${namedText(index)}, used in preference to ${namedText(diameter)} (${abnormalityText(byDiameter)})`
      : '',
  'impression.valve': (grading: ValveGrading, { about }: About) => {
    const { disease } = grading;
    const name = disease === 'aortic-stenosis' ? 'Aortic valve' : valveDiseaseName(disease);
    return `${name}: ${valveGradeText(grading)}${inBrackets(about)}`;
  },
  'impression.regurgitation-open': (of: OpenValves) =>
    `regurgitation not assessed${openValves(of)}`,
  /** `about` contains the indices that agree with the conclusion, followed by the others. */
  'impression.rv-function': (
    { conclusion, agreeing }: { conclusion: RvConclusion; agreeing: number },
    { about }: About,
  ) => {
    const others = about.slice(agreeing);
    const against = others.length > 0 ? `, but not by ${allNamed(others)}` : '';
    return `${RV_FUNCTION[rvConclusionOf(conclusion) ?? conclusion]}${inBrackets(about.slice(0, agreeing))}${against}`;
  },
  'impression.pulmonary': (
    { probability, limited }: { probability: string; limited: boolean },
    { about }: About,
  ) =>
    `${probability} probability of pulmonary hypertension${limited ? ' by TRV alone' : ''}${inBrackets(about)}`,
  'impression.pulmonary-open': (
    { probabilities }: { probabilities: readonly (string | null)[] },
    { about }: About,
  ) => {
    const values = withIntervals(about);
    const isStated =
      probabilities.length === 2 && probabilities.every((one) => PROBABILITIES.has(one));
    return isStated
      ? `${anyOf(probabilities.filter((one) => one !== null))} probability of pulmonary hypertension (${values})`
      : `uncertain probability of pulmonary hypertension (${values})`;
  },
  'impression.pressure': (_: Record<string, never>, { about }: About) => allNamed(about),
  'impression.no-fluid': ({ views }: { views: readonly string[] }) =>
    `no pericardial fluid outlined in ${anyOf([...new Set(views)])}, which does not exclude an effusion`,
  'impression.no-effusion': (_: Record<string, never>, { about }: About) =>
    `no pericardial effusion${inBrackets(about)}`,
} as const satisfies SentenceTable;
