import { type SentenceTable, statementsOf } from '../../statement.ts';
import {
  type About,
  allOf,
  namedText,
  type SuspectedStenosis,
  suspicionText,
  valueText,
} from './shared.ts';

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
  'aortic-regurgitation': 'Aortic regurgitation',
  'mitral-stenosis': 'Mitral stenosis by valve area',
  'mitral-regurgitation': 'Mitral regurgitation',
  'tricuspid-regurgitation': 'Tricuspid regurgitation',
  'pulmonary-stenosis': 'Pulmonary stenosis by peak velocity',
} as const;
/** A graded valve disease, named as in its classification. */
export type ValveDisease = keyof typeof VALVE_NAMES;
export const valveDiseaseName = (disease: ValveDisease): string => VALVE_NAMES[disease];

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
  'valves.aortic-stenosis': ({ grade }: { grade: string }) => `Aortic stenosis: ${grade}.`,
  'valves.stenosis-remark': ({ remark }: { remark: StenosisRemark }) => STENOSIS_REMARKS[remark],
  'valves.check-high-flow': ({ flow, limit }: { flow: HighFlow; limit: number }) =>
    `AVA above 1.0 cm²: check for high flow (${HIGH_FLOW[flow](limit)}; AR, anaemia, fever, shunt).`,
  'valves.grade': ({ disease, grade }: { disease: ValveDisease; grade: string }) =>
    `${VALVE_NAMES[disease]}: ${grade}.`,
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
  'valves.prosthesis-unknown': () =>
    'Whether any valve is prosthetic is unknown; native-valve criteria do not apply to prostheses.',
} as const satisfies SentenceTable;

export const sayOfValves = statementsOf<typeof VALVES_SENTENCES>();
