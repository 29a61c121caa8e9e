import { type SentenceTable, statementsOf } from '../../statement.ts';

/** Remarks about a grade of aortic stenosis (echo 11.1, 19). */
const STENOSIS_REMARKS = {
  'area-by-peak-velocities': 'The valve area in the grade is that by peak velocities.',
  'small-outflow':
    'AVA of at most 1.0 cm² with a DVI above 0.30: the LVOT diameter is probably too small.',
  dobutamine: 'Low-dose dobutamine echocardiography is advised.',
  'calcium-score': 'A CT calcium score of the aortic valve is advised.',
  'check-outflow': 'The LVOT diameter is to be checked.',
  'exclude-underestimation':
    'First exclude an underestimated LVOT and hypertension at the time of the scan.',
  'near-limit': 'The AVA is within its variability, 0.1 cm², of a cut-off.',
} as const;
export type StenosisRemark = keyof typeof STENOSIS_REMARKS;

/** Text on whether the stroke volume index shows high flow. */
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
    'No mitral stenosis is graded from a valve area of 4 cm² on, by convention, as the tables have no upper end.',
  'with-regurgitation':
    'Mitral stenosis was not graded by half-time, which does not hold with significant AR.',
  'by-half-time':
    'The mitral valve area by half-time does not hold with significant AR, after commissurotomy, with a stiff LV or mitral annular calcification, which were not all excluded.',
} as const;
export type MitralRemark = keyof typeof MITRAL_REMARKS;

const VALVES = { AR: 'aortic', MR: 'mitral', TR: 'tricuspid' } as const;

function notAssessed(missing: readonly (keyof typeof VALVES)[]): string {
  if (missing.length === Object.keys(VALVES).length) return 'Regurgitation not assessed.';
  const names = missing.map((one) => VALVES[one]);
  const listed = [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' and ');
  return `Regurgitation not assessed: ${listed} valve.`;
}

export const VALVES_SENTENCES = {
  'valves.aortic-stenosis': ({ grade }: { grade: string }) => `Aortic stenosis: ${grade}.`,
  'valves.stenosis-remark': ({ remark }: { remark: StenosisRemark }) => STENOSIS_REMARKS[remark],
  'valves.check-high-flow': ({ flow, limit }: { flow: HighFlow; limit: number }) =>
    `AVA above 1.0 cm²: check high flow (${HIGH_FLOW[flow](limit)}; AR, anaemia, fever, shunt).`,
  'valves.grade': ({ disease, grade }: { disease: ValveDisease; grade: string }) =>
    `${VALVE_NAMES[disease]}: ${grade}.`,
  'valves.mitral-remark': ({ remark }: { remark: MitralRemark }) => MITRAL_REMARKS[remark],
  'valves.no-trace': () => 'Aortic stenosis cannot be graded without a CW trace.',
  'valves.no-area': ({ velocityIndex }: { velocityIndex: boolean }) =>
    `Valve area not calculated; velocity-based grade only${velocityIndex ? '; DVI given' : ''}.`,
  'valves.area-rejected': () => 'No valve area took part; velocity-based grade only.',
  'valves.regurgitation-not-assessed': ({ valves }: { valves: readonly (keyof typeof VALVES)[] }) =>
    notAssessed(valves),
  'valves.prosthesis-unknown': () =>
    'Whether a valve is a prosthesis, to which native-valve criteria do not apply, is not known.',
} as const satisfies SentenceTable;

export const sayOfValves = statementsOf<typeof VALVES_SENTENCES>();
