import {
  categoriesOf,
  type ScaleTable,
  type SentenceTable,
  statementsOf,
} from '../../statement.ts';
import { allOf } from '../unit-text.ts';
import {
  type About,
  allNamed,
  codeOf,
  inWords,
  MITRAL_STENOSIS_GRADES,
  type MitralStenosisGrade,
  REGURGITATION_GRADES,
  type RegurgitationGrade,
  type SuspectedStenosis,
  suspicionText,
} from './shared.ts';

/** Names of the algorithms, as used in the result. */
export const SCHEMES = {
  '2016-a': 'ASE/EACVI 2016, algorithm A',
  '2016-b': 'ASE/EACVI 2016, algorithm B',
  '2016-b-after-a': 'algorithm B',
  '2025': 'ASE 2025',
  '2025-presence': 'ASE 2025, presence of dysfunction, apart from LAP',
  '2025-fibrillation': 'ASE 2025, if the rhythm is atrial fibrillation',
} as const;
export type Scheme = keyof typeof SCHEMES;

/** Criteria in their published wording, with the value that each is about (echo 10.3 to 10.6). */
const CRITERIA = {
  'average-ratio-above-14': { words: "average E/e' > 14", of: "E/e'" },
  'septal-ratio-above-15': { words: "septal E/e' > 15", of: "E/e'" },
  'lateral-ratio-above-13': { words: "lateral E/e' > 13", of: "E/e'" },
  'septal-ratio-above-11': { words: "septal E/e' > 11", of: "E/e'" },
  'raised-ratio': { words: "raised E/e'", of: "E/e'" },
  'e-prime-below-7-or-10': { words: "septal e' < 7 or lateral e' < 10 cm/s", of: "e'" },
  'reduced-e-prime': { words: "reduced e'", of: "e'" },
  'tr-above-2.8': { words: 'TR Vmax > 2.8 m/s', of: 'TR Vmax or PASP' },
  'raised-tr-or-pasp': { words: 'raised TR Vmax or PASP', of: 'TR Vmax or PASP' },
  'tr-above-2.8-or-pasp-above-35': {
    words: 'TR Vmax > 2.8 m/s or PASP > 35 mmHg',
    of: 'TR Vmax or PASP',
  },
  'lavi-above-34': { words: 'LAVi > 34 ml/m²', of: 'LAVi' },
  'vein-ratio-to-0.67': { words: 'PV S/D <= 0.67', of: 'PV S/D' },
  'vein-ratio-below-1': { words: 'PV S/D < 1', of: 'PV S/D' },
  'lars-to-18': { words: 'LARS <= 18 %', of: 'LARS' },
  'lars-below-18': { words: 'LARS < 18 %', of: 'LARS' },
  'ivrt-to-70': { words: 'IVRT <= 70 ms', of: 'IVRT' },
  'e-to-a-to-0.8': { words: 'E/A <= 0.8', of: 'E/A' },
  'e-to-a-from-2': { words: 'E/A >= 2', of: 'E/A' },
  'e-to-a-to-0.8-or-from-2': { words: 'E/A <= 0.8 or >= 2', of: 'E/A' },
  'e-to-a-to-0.8-and-e-to-50': { words: 'E/A <= 0.8 and E <= 50 cm/s', of: 'E/A and E' },
  'e-from-100': { words: 'E >= 100 cm/s', of: 'E' },
  'dt-to-160': { words: 'DT <= 160 ms', of: 'DT' },
  'pr-end-from-2': {
    words: 'PR end-diastolic velocity >= 2 m/s',
    of: 'PR end-diastolic velocity',
  },
  'padp-from-16': { words: 'PADP >= 16 mmHg', of: 'PADP' },
} as const;
export type CriterionName = keyof typeof CRITERIA;

/** Renders a criterion. A statement that an earlier version stored has the words themselves. */
export const criterionText = (name: CriterionName): string => CRITERIA[name]?.words ?? name;

/** Returns the value that a criterion is about; the words of an earlier version are returned unchanged. */
export const valueOfCriterion = (name: string): string =>
  Object.entries(CRITERIA).find(([code, { words }]) => code === name || words === name)?.[1].of ??
  name;

/** A criterion in a decision rule; `met` is null if it was not available. */
export type Criterion = { name: CriterionName; met: boolean | null };

/** Results of the algorithms, in their published wording (echo 10.3 to 10.6). */
const RESULTS = {
  'normal-function': 'normal diastolic function',
  dysfunction: 'diastolic dysfunction',
  'no-dysfunction': 'no diastolic dysfunction',
  'grade-i': 'grade I, normal LAP',
  'grade-ii': 'grade II, elevated LAP',
  'grade-iii': 'grade III, elevated LAP',
  'normal-lap-ungraded': 'normal LAP, no diastolic dysfunction grade',
  'grade-1': 'grade 1, normal LAP',
  'normal-lap-grade-1': 'normal LAP, grade 1',
  'grade-2': 'grade 2, elevated LAP',
  'grade-3': 'grade 3, elevated LAP',
  'elevated-lap-ungraded': 'LAP elevated, grade undetermined (no E/A)',
  'normal-lap': 'normal LAP',
  'elevated-lap': 'elevated LAP',
  indeterminate: 'indeterminate',
  'insufficient-data': 'insufficient data',
} as const;
type Result = keyof typeof RESULTS;
type Open = 'indeterminate' | 'insufficient-data';
export type Result2016A = 'normal-function' | 'dysfunction' | Open;
export type Result2016B = 'grade-i' | 'grade-ii' | 'grade-iii' | Open;
export type Result2025 =
  | 'normal-lap-ungraded'
  | 'grade-1'
  | 'normal-lap-grade-1'
  | 'grade-2'
  | 'grade-3'
  | 'elevated-lap-ungraded'
  | Open;
export type Presence2025 = 'dysfunction' | 'no-dysfunction' | Open;
export type FibrillationPressure = 'normal-lap' | 'elevated-lap' | Open;

/**
 * A result. `limited` is true if criteria of its algorithm were not available, and absent in
 * results of earlier versions, which contain words.
 */
export type DiastolicGrade = { result: Result; limited?: boolean };

const LIMITED = ', limited';

/** Renders a result; `ungraded` if a second step, which would give the grade, was not possible. */
export const gradeText = ({
  result,
  limited = false,
  ungraded = false,
}: DiastolicGrade & { ungraded?: boolean }): string =>
  `${inWords(RESULTS, result)}${limited ? LIMITED : ''}${ungraded ? ', grade not given' : ''}`;

/** Returns a result as codes, also if an earlier version stored its words. */
export function gradeOf({ result, limited = false }: DiastolicGrade): DiastolicGrade | null {
  const whole = codeOf(RESULTS, result);
  if (whole) return { result: whole, limited };
  const all = Object.keys(RESULTS) as Result[];
  const code = all.find((one) => `${RESULTS[one]}${LIMITED}` === result);
  return code ? { result: code, limited: true } : null;
}

/** Signs of myocardial disease. If one is present, algorithm B of 2016 is used directly. */
const DISEASES = {
  'mass-index': 'LV mass index above its range',
  'thick-wall': 'wall of at least 15 mm',
  'score-index': 'wall motion score index raised',
  'abnormal-segment': 'abnormal wall motion of a segment',
} as const;
export type MyocardialSign = keyof typeof DISEASES;

export type DiastolicResult = DiastolicGrade & {
  scheme: Scheme;
  criteria: readonly Criterion[];
  /** Reason why algorithm B of 2016 was used directly; null if it was not. */
  because: 'reduced-ef' | readonly MyocardialSign[] | null;
  /**
   * Result of a second step of the same algorithm; `no-grade` if E or E/A, which this step needs,
   * is missing. Null if there is no second step.
   */
  next: { result: Result2016B; criteria: readonly Criterion[] } | 'no-grade' | null;
};

/** Renders criteria: "met: A, B; not met: C; not available: D" (echo 10.7). */
function criteriaText(criteria: readonly Criterion[]): string {
  const of = (words: string, wanted: boolean | null) => {
    const names = criteria.flatMap(({ name, met }) =>
      met === wanted ? [criterionText(name)] : [],
    );
    return names.length > 0 ? [`${words}: ${names.join(', ')}`] : [];
  };
  return [...of('met', true), ...of('not met', false), ...of('not available', null)].join('; ');
}

function becauseText(because: DiastolicResult['because']): string {
  if (because === null) return '';
  return because === 'reduced-ef'
    ? ' (LVEF below 50 %)'
    : ` (myocardial disease: ${because.map((sign) => DISEASES[sign]).join(', ')})`;
}

/**
 * Renders the result of an algorithm. A grade is never stated without the name of its algorithm and
 * the criteria used (echo 10.7).
 */
function resultText({ scheme, criteria, because, next, ...grade }: DiastolicResult): string {
  const first = `${SCHEMES[scheme]}${becauseText(because)}: ${gradeText(grade)} (${criteriaText(criteria)})`;
  if (next === null) return first;
  return next === 'no-grade'
    ? `${first}; algorithm B: no grade, since E or E/A is missing`
    : `${first}; algorithm B: ${gradeText(next)} (${criteriaText(next.criteria)})`;
}

const DIFFER = 'Only one of the two algorithms gives an elevated LA pressure.';

/** Conditions for the algorithms to be valid. They are printed with every grade (echo 10.2). */
const APPLIES =
  'Valid in sinus rhythm without mitral annular calcification, mitral prosthesis, repair or clip, LBBB, pacing or CRT, LVAD, heart transplant, pericardial constriction, non-cardiac pulmonary hypertension, complete AV block or pregnancy, about which this software has no information; mitral stenosis and regurgitation are known only as far as they were measured.';

/** Value by which mitral stenosis was graded. */
const STENOSIS_BY = { area: 'valve area', 'half-time': 'half-time' } as const;

/** Mitral valve diseases that make E/e' invalid. */
export type MitralDisease =
  | { kind: 'stenosis'; grade: MitralStenosisGrade; by: keyof typeof STENOSIS_BY }
  | SuspectedStenosis
  | { kind: 'regurgitation'; grade: RegurgitationGrade };

function mitralText(disease: MitralDisease): string {
  switch (disease.kind) {
    case 'stenosis':
      return `${inWords(MITRAL_STENOSIS_GRADES, disease.grade)} by ${inWords(STENOSIS_BY, disease.by)}`;
    case 'steep-gradient':
    case 'small-area':
      return suspicionText(disease);
    case 'regurgitation':
      return `MR, ${inWords(REGURGITATION_GRADES, disease.grade)}`;
  }
}

const INPUTS = {
  e: 'E',
  'e-to-a': 'E/A',
  'septal-e-prime': "septal e'",
  'lateral-e-prime': "lateral e'",
  'deceleration-time': 'deceleration time',
} as const;
export type DiastolicInput = keyof typeof INPUTS;

export const DIASTOLIC_SENTENCES = {
  'diastolic.result': (result: DiastolicResult) => `${resultText(result)}.`,
  'diastolic.disease-unknown': () =>
    'Myocardial disease is known only as far as it was measured here; if present, algorithm B of 2016 would replace algorithm A.',
  'diastolic.discordant': ({ markers }: { markers: readonly CriterionName[] }) =>
    `Discordant: ${markers.map(criterionText).join(', ')} suggests raised LAP.`,
  'diastolic.supplemental': ({ criteria }: { criteria: readonly Criterion[] }) =>
    `ASE 2025 supplemental signs of raised LAP (${criteriaText(criteria)}); if none is met, a diastolic exercise test decides.`,
  'diastolic.algorithms-differ': () => DIFFER,
  'diastolic.applies': () => APPLIES,
  'diastolic.rhythm-contested': () =>
    'One display of mitral inflow shows irregular RR intervals without an A wave, although an A wave was measured elsewhere: if the rhythm is atrial fibrillation, these results do not apply.',
  'diastolic.unexplained-atrium': (_: Record<string, never>, { about }: About) =>
    `${allNamed(about)}: a high filling pressure does not explain the severely enlarged LA; consider earlier atrial fibrillation, mitral valve disease or an athlete's heart.`,
  'diastolic.mitral-disease': ({ diseases }: { diseases: readonly MitralDisease[] }) =>
    `Diastolic function was not graded, and E/e' was not used: ${allOf(diseases.map(mitralText))}.`,
  'diastolic.scheme-not-chosen': () =>
    'No ASE/EACVI 2016 result is given: its algorithm depends on the LVEF, which is undetermined.',
  'diastolic.fibrillation': () =>
    'No grade for sinus rhythm is given: the RR intervals are irregular and no A wave is seen.',
  'diastolic.too-few-criteria': () =>
    'Diastolic function was not graded: too few criteria were measured.',
  'diastolic.not-measured': ({ inputs }: { inputs: readonly DiastolicInput[] }) =>
    `No accepted value: ${inputs.map((one) => INPUTS[one]).join(', ')}.`,
  'diastolic.no-jet': ({ pressure }: { pressure: boolean }) =>
    `No TR signal was measured; the criterion is unavailable${pressure ? ', except for the RVSP in ASE 2025' : ''}.`,
  'diastolic.outflow-stenosis': () =>
    'The TR velocity and the RVSP were not used: in pulmonary stenosis they do not show the pulmonary artery pressure.',
  'diastolic.no-atrium': () => 'LA volume index is unavailable.',
  'diastolic.ef-unknown': () => 'LVEF is unknown: it was not used to select algorithm B.',
  'diastolic.elevated': ({
    results,
    differ,
  }: {
    /** Results, those with an elevated pressure first. */
    results: readonly DiastolicResult[];
    differ: boolean;
  }) =>
    [
      'Criteria for elevated LA pressure are met.',
      ...results.map((one) => `${resultText(one)}.`),
      ...(differ ? [DIFFER] : []),
      APPLIES,
    ].join(' '),
} as const satisfies SentenceTable;

export const sayOfDiastolic = statementsOf<typeof DIASTOLIC_SENTENCES>();

/** Scales of its classifications. */
export const DIASTOLIC_SCALES = {
  diastolic: gradeText,
} as const satisfies ScaleTable;

export const categoryOfDiastolic = categoriesOf<typeof DIASTOLIC_SCALES>();
