import { type SentenceTable, statementsOf } from '../../statement.ts';
import {
  type About,
  allNamed,
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

/** For each criterion in its published wording, the value that it is about (echo 10.3 to 10.6). */
export const CRITERIA = {
  "average E/e' > 14": "E/e'",
  "septal E/e' > 15": "E/e'",
  "lateral E/e' > 13": "E/e'",
  "septal E/e' > 11": "E/e'",
  "raised E/e'": "E/e'",
  "septal e' < 7 or lateral e' < 10 cm/s": "e'",
  "reduced e'": "e'",
  'TR Vmax > 2.8 m/s': 'TR Vmax or PASP',
  'raised TR Vmax or PASP': 'TR Vmax or PASP',
  'TR Vmax > 2.8 m/s or PASP > 35 mmHg': 'TR Vmax or PASP',
  'LAVi > 34 ml/m²': 'LAVi',
  'PV S/D <= 0.67': 'PV S/D',
  'PV S/D < 1': 'PV S/D',
  'LARS <= 18 %': 'LARS',
  'LARS < 18 %': 'LARS',
  'IVRT <= 70 ms': 'IVRT',
  'E/A <= 0.8': 'E/A',
  'E/A >= 2': 'E/A',
  'E/A <= 0.8 or >= 2': 'E/A',
  'E/A <= 0.8 and E <= 50 cm/s': 'E/A and E',
  'E >= 100 cm/s': 'E',
  'DT <= 160 ms': 'DT',
  'PR end-diastolic velocity >= 2 m/s': 'PR end-diastolic velocity',
  'PADP >= 16 mmHg': 'PADP',
} as const;
export type CriterionName = keyof typeof CRITERIA;

/** A criterion in a decision rule; `met` is null if it was not available. */
export type Criterion = { name: CriterionName; met: boolean | null };

/** Results of the algorithms, in their published wording. */
export type Result2016A =
  | 'normal diastolic function'
  | 'indeterminate'
  | 'diastolic dysfunction'
  | 'insufficient data';
export type Result2016B =
  | 'grade I, normal LAP'
  | 'grade II, elevated LAP'
  | 'grade III, elevated LAP'
  | 'indeterminate'
  | 'insufficient data';
export type Result2025 =
  | 'normal LAP, no diastolic dysfunction grade'
  | 'grade 1, normal LAP'
  | 'normal LAP, grade 1'
  | 'grade 2, elevated LAP'
  | 'grade 3, elevated LAP'
  | 'LAP elevated, grade undetermined (no E/A)'
  | 'indeterminate'
  | 'insufficient data';
export type Presence2025 =
  | 'diastolic dysfunction'
  | 'no diastolic dysfunction'
  | 'indeterminate'
  | 'insufficient data';
export type FibrillationPressure =
  | 'normal LAP'
  | 'elevated LAP'
  | 'indeterminate'
  | 'insufficient data';

type Complete = Result2016A | Result2016B | Result2025 | Presence2025 | FibrillationPressure;
/** A result; `limited` if criteria of its algorithm were not available. */
export type DiastolicGrade = Complete | `${Complete}, limited`;

/** Signs of myocardial disease. If one is present, algorithm B of 2016 is used directly. */
const DISEASES = {
  'mass-index': 'LV mass index above its range',
  'thick-wall': 'wall of at least 15 mm',
  'score-index': 'wall motion score index raised',
  'abnormal-segment': 'abnormal wall motion of a segment',
} as const;
export type MyocardialSign = keyof typeof DISEASES;

export type DiastolicResult = {
  scheme: Scheme;
  result: DiastolicGrade;
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
    const names = criteria.flatMap(({ name, met }) => (met === wanted ? [name] : []));
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
function resultText({ scheme, result, criteria, because, next }: DiastolicResult): string {
  const first = `${SCHEMES[scheme]}${becauseText(because)}: ${result} (${criteriaText(criteria)})`;
  if (next === null) return first;
  return next === 'no-grade'
    ? `${first}; algorithm B: no grade, since E or E/A is missing`
    : `${first}; algorithm B: ${next.result} (${criteriaText(next.criteria)})`;
}

const DIFFER = 'Only one of the two algorithms gives an elevated LA pressure.';

/** Conditions for the algorithms to be valid. They are printed with every grade (echo 10.2). */
const APPLIES =
  'Valid in sinus rhythm without mitral annular calcification, mitral prosthesis, repair or clip, LBBB, pacing or CRT, LVAD, heart transplant, pericardial constriction, non-cardiac pulmonary hypertension, complete AV block or pregnancy, about which this software has no information; mitral stenosis and regurgitation are known only as far as they were measured.';

/** Mitral valve diseases that make E/e' invalid. */
export type MitralDisease =
  | { kind: 'stenosis'; grade: MitralStenosisGrade; by: 'valve area' | 'half-time' }
  | SuspectedStenosis
  | { kind: 'regurgitation'; grade: RegurgitationGrade };

function mitralText(disease: MitralDisease): string {
  switch (disease.kind) {
    case 'stenosis':
      return `${inWords(MITRAL_STENOSIS_GRADES, disease.grade)} by ${disease.by}`;
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
    `Discordant: ${markers.join(', ')} suggests raised LAP.`,
  'diastolic.supplemental': ({ criteria }: { criteria: readonly Criterion[] }) =>
    `ASE 2025 supplemental signs of raised LAP (${criteriaText(criteria)}); if none is met, a diastolic exercise test decides.`,
  'diastolic.algorithms-differ': () => DIFFER,
  'diastolic.applies': () => APPLIES,
  'diastolic.rhythm-contested': () =>
    'One display of mitral inflow shows irregular RR intervals without an A wave, although an A wave was measured elsewhere: if the rhythm is atrial fibrillation, these results do not apply.',
  'diastolic.unexplained-atrium': (_: Record<string, never>, { about }: About) =>
    `${allNamed(about)}: a high filling pressure does not explain the severely enlarged LA; consider earlier atrial fibrillation, mitral valve disease or an athlete's heart.`,
  'diastolic.mitral-disease': ({ diseases }: { diseases: readonly MitralDisease[] }) =>
    `Diastolic function was not graded, and E/e' was not used: ${diseases.map(mitralText).join(' and ')}.`,
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
