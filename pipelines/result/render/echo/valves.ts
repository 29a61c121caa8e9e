import {
  categoriesOf,
  type ScaleTable,
  type SentenceTable,
  statementsOf,
} from '../../statement.ts';
import { allOf } from '../unit-text.ts';
import {
  type About,
  inWords,
  MITRAL_STENOSIS_GRADES,
  type MitralStenosisGrade,
  namedText,
  REGURGITATION_GRADES,
  type RegurgitationGrade,
  type SuspectedStenosis,
  suspicionText,
  valueText,
} from './shared.ts';

/**
 * Grades of aortic stenosis, in their published wording (AS17, VHD20; echo 11.1). The published
 * table excludes sclerosis as well, which is not assessed here.
 */
export const AORTIC_STENOSIS_GRADES = {
  'insufficient-data': 'insufficient data',
  'very-severe': 'very severe AS (high-gradient)',
  severe: 'severe AS (high-gradient)',
  'discordant-small-body':
    'discordant: AVA small, indexed AVA >0.6; moderate AS likely (small body size)',
  'discordant-flow-unknown': 'discordant low-gradient AS, flow state unknown',
  'classical-low-flow': 'classical low-flow low-gradient AS (LVEF <50%)',
  'paradoxical-low-flow': 'paradoxical low-flow low-gradient AS (LVEF >=50%)',
  'low-flow-ef-unknown': 'low-flow low-gradient AS, LVEF unknown',
  'normal-flow-low-gradient': 'normal-flow low-gradient AS, severe AS unlikely',
  'low-gradient-peak-unknown': 'mean gradient <20 mmHg; mild or no stenosis, Vmax needed',
  moderate: 'moderate AS',
  mild: 'mild AS',
  none: 'no significant stenosis',
} as const;
export type AorticStenosisGrade = keyof typeof AORTIC_STENOSIS_GRADES;

/** Grades of TR, in their published wording (TVARC; echo 11.6). */
export const TRICUSPID_GRADES = {
  mild: 'mild (1+)',
  moderate: 'moderate (2+)',
  severe: 'severe (3+)',
  massive: 'massive (4+)',
  torrential: 'torrential (5+)',
  indeterminate: 'indeterminate',
} as const;
export type TricuspidGrade = Exclude<keyof typeof TRICUSPID_GRADES, 'indeterminate'>;
/** A grade of TR, or two adjacent grades, the lower one first. */
export type TricuspidResult =
  | keyof typeof TRICUSPID_GRADES
  | readonly [lower: TricuspidGrade, higher: TricuspidGrade];

/** Grades of pulmonary stenosis (VS09; echo 11.7). */
const PULMONARY_STENOSIS_GRADES = { moderate: 'moderate PS', severe: 'severe PS' } as const;
export type PulmonaryStenosisGrade = keyof typeof PULMONARY_STENOSIS_GRADES;

/** Remarks about a grade of aortic stenosis (echo 11.1, 19). */
const STENOSIS_REMARKS = {
  'area-by-peak-velocities': 'The valve area used for grading was calculated from peak velocities.',
  'small-outflow':
    'AVA of at most 1.0 cm² with a DVI above 0.30: the LVOT diameter is probably underestimated.',
  dobutamine: 'Low-dose dobutamine echocardiography is advised.',
  'calcium-score': 'A CT calcium score of the aortic valve is advised.',
  'check-outflow': 'Check the LVOT diameter.',
  'exclude-underestimation':
    'First exclude an underestimated LVOT and hypertension at the time of the scan.',
  'near-limit': 'The AVA is within its variability (0.1 cm²) of a cut-off.',
} as const;
export type StenosisRemark = keyof typeof STENOSIS_REMARKS;

const HIGH_FLOW = {
  unknown: (limit: number) => `SVi above ${limit} ml/m²`,
  yes: (limit: number) => `SVi is above ${limit} ml/m²`,
  no: (limit: number) => `SVi is not above ${limit} ml/m²`,
} as const;
export type HighFlow = keyof typeof HIGH_FLOW;

const VALVE_NAMES = {
  'aortic-stenosis': 'Aortic stenosis',
  'aortic-regurgitation': 'Aortic regurgitation',
  'mitral-stenosis': 'Mitral stenosis by valve area',
  'mitral-regurgitation': 'Mitral regurgitation',
  'tricuspid-regurgitation': 'Tricuspid regurgitation',
  'pulmonary-stenosis': 'Pulmonary stenosis by peak velocity',
} as const;
/** Returns the name of a graded valve disease, as in its classification. */
export const valveDiseaseName = (disease: keyof typeof VALVE_NAMES): string => VALVE_NAMES[disease];

const GRADES = {
  'aortic-stenosis': AORTIC_STENOSIS_GRADES,
  'aortic-regurgitation': REGURGITATION_GRADES,
  'mitral-stenosis': MITRAL_STENOSIS_GRADES,
  'mitral-regurgitation': REGURGITATION_GRADES,
  'tricuspid-regurgitation': TRICUSPID_GRADES,
  'pulmonary-stenosis': PULMONARY_STENOSIS_GRADES,
} as const satisfies Record<keyof typeof VALVE_NAMES, Readonly<Record<string, string>>>;

/** Grade of AR, MR or TR. */
export type RegurgitationGrading =
  | { disease: 'aortic-regurgitation' | 'mitral-regurgitation'; grade: RegurgitationGrade }
  | { disease: 'tricuspid-regurgitation'; grade: TricuspidResult };
/** A valve disease with its grade. */
export type ValveGrading =
  | { disease: 'aortic-stenosis'; grade: AorticStenosisGrade }
  | { disease: 'mitral-stenosis'; grade: MitralStenosisGrade }
  | { disease: 'pulmonary-stenosis'; grade: PulmonaryStenosisGrade }
  | RegurgitationGrading;

/** Renders a grade; two grades as a range: "moderate (2+) - severe (3+)". */
export function valveGradeText({ disease, grade }: ValveGrading): string {
  const grades = typeof grade === 'string' ? [grade] : grade;
  return grades.map((one) => inWords(GRADES[disease], one)).join(' - ');
}

/** Remarks about a grade of mitral stenosis, and reasons for not grading it. */
const MITRAL_REMARKS = {
  normal:
    'By convention, a valve area of 4 cm² or more is not graded as mitral stenosis, as the tables have no upper limit.',
  'with-regurgitation':
    'Mitral stenosis was not graded by half-time, which is not valid with AR that is or may be significant.',
  'by-half-time':
    'Mitral valve area by half-time is not valid with significant AR, after commissurotomy, or with a stiff LV or mitral annular calcification; not all of these were excluded.',
} as const;
export type MitralRemark = keyof typeof MITRAL_REMARKS;

const whyUngraded = (suspected: SuspectedStenosis): string =>
  suspected.kind === 'steep-gradient'
    ? 'there is no accepted valve area'
    : `no mean gradient of ${suspected.gradient} mmHg or more confirms it`;

const VALVES = { AR: 'aortic', MR: 'mitral', TR: 'tricuspid' } as const;
/** The valves whose regurgitation was not assessed. */
export type OpenValves = { valves: readonly (keyof typeof VALVES)[] };

/** Renders the valves after a colon; empty if all valves are listed. */
export function openValves({ valves }: OpenValves): string {
  if (valves.length === Object.keys(VALVES).length) return '';
  const names = allOf(valves.map((one) => VALVES[one]));
  return `: ${names} ${valves.length === 1 ? 'valve' : 'valves'}`;
}

export const VALVES_SENTENCES = {
  'valves.aortic-stenosis': ({ grade }: { grade: AorticStenosisGrade }) =>
    `Aortic stenosis: ${inWords(AORTIC_STENOSIS_GRADES, grade)}.`,
  'valves.stenosis-remark': ({ remark }: { remark: StenosisRemark }) => STENOSIS_REMARKS[remark],
  'valves.check-high-flow': ({ flow, limit }: { flow: HighFlow; limit: number }) =>
    `AVA above 1.0 cm²: check for high flow (${HIGH_FLOW[flow](limit)}; AR, anaemia, fever, shunt).`,
  'valves.grade': (grading: ValveGrading) =>
    `${VALVE_NAMES[grading.disease]}: ${valveGradeText(grading)}.`,
  'valves.mitral-remark': ({ remark }: { remark: MitralRemark }) => MITRAL_REMARKS[remark],
  'valves.mitral-suspected': ({ suspected }: { suspected: SuspectedStenosis }) =>
    `Mitral stenosis is suspected but was not graded: ${suspicionText(suspected)}, but ${whyUngraded(suspected)}.`,
  'valves.strokes-differ': (
    {
      larger,
      ventricle,
      mayLeak,
    }: { larger: 'outflow' | 'ventricle'; ventricle: number; mayLeak: boolean },
    { about: [outflow] }: About,
  ) => {
    if (!outflow) return '';
    const [ofOutflow, ofVentricle] = [outflow.value, ventricle].map((one) =>
      valueText('lvot-stroke-volume', one),
    );
    const both = `The stroke volume is ${ofOutflow} by the LVOT and ${ofVentricle} by the biplane volumes`;
    if (larger === 'outflow') {
      return `${both}: the LV volumes are underestimated, or the LVOT diameter is overestimated.`;
    }
    const leak = mayLeak ? ', unless MR or AR that was not assessed explains the difference' : '';
    return `${both}: check the LVOT diameter and the volumes${leak}.`;
  },
  'valves.no-trace': () => 'Aortic stenosis cannot be graded without a CW trace.',
  'valves.gradient-contradicts': (_: Record<string, never>, { about }: About) =>
    `Aortic stenosis was not graded: no jet can have both ${about.map(namedText).join(' and ')}.`,
  'valves.area-contradicts': (_: Record<string, never>, { about: [peak, area] }: About) =>
    peak && area
      ? `Aortic stenosis was not graded: ${namedText(peak)} does not suggest stenosis, but ${namedText(area)} is in the severe range. Check the LVOT diameter and the Doppler traces.`
      : '',
  'valves.no-area': ({ velocityIndex }: { velocityIndex: boolean }) =>
    `Valve area not calculated; velocity-based grade only${velocityIndex ? '; DVI given' : ''}.`,
  'valves.area-rejected': () => 'No valve area was used; velocity-based grade only.',
  'valves.regurgitation-not-assessed': (of: OpenValves) =>
    `Regurgitation not assessed${openValves(of)}.`,
  'valves.never-graded': ({ peak }: { peak: number }) =>
    `Not graded here: pulmonary regurgitation, tricuspid stenosis, and pulmonary stenosis with a peak velocity below ${peak} m/s.`,
  'valves.prosthesis-unknown': () =>
    'Whether any valve is prosthetic is unknown; native-valve criteria do not apply to prostheses.',
} as const satisfies SentenceTable;

export const sayOfValves = statementsOf<typeof VALVES_SENTENCES>();

/** Scales of its classifications. */
export const VALVES_SCALES = {
  valve: valveGradeText,
} as const satisfies ScaleTable;

export const categoryOfValves = categoriesOf<typeof VALVES_SCALES>();
