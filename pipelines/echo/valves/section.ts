import type { ConceptKey, MethodKey } from '../../concepts/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import { continuityArea, mitralAreaByHalfTime, strokeVolume } from '../formulas/doppler.ts';
import { gradableEf, ungradedEf } from '../lvef/measure.ts';
import { classification, conclude, finding, GAPS, isChild } from '../shared/conclude.ts';
import type { EchoSection, PatientEvidence } from '../shared/section.ts';
import { calculated, type Values, withValues } from '../shared/values.ts';
import { pulmonaryStenosis, type StenosisGrade } from './guideline.ts';
import {
  type AorticStenosis,
  aorticStenosis,
  isSignificant,
  mitralStenosis,
  type Regurgitations,
  regurgitationGap,
  regurgitations,
} from './judge.ts';

/** What `valveFlows` calculates. */
export const VALVE_FLOWS = [
  'av-area',
  'av-area-vmax',
  'av-area-index',
  'av-area-vmax-index',
  'velocity-index',
  'lvot-stroke-volume',
  'lvot-stroke-index',
  'mv-area-half-time',
] as const satisfies readonly ConceptKey[];

const divided = (one = 0, other = 1) => one / other;

type Formula = readonly [MethodKey, readonly ConceptKey[], (...inputs: number[]) => number];

/** In the order in which the section shows them (echo 11.1, 11.5). */
const FORMULAS: Readonly<Record<(typeof VALVE_FLOWS)[number], Formula>> = {
  'av-area': ['continuity-equation', ['lvot-diameter', 'lvot-vti', 'av-vti'], continuityArea],
  'av-area-vmax': [
    'continuity-equation',
    ['lvot-diameter', 'lvot-vmax', 'av-vmax'],
    continuityArea,
  ],
  'av-area-index': ['per-surface-area', ['av-area', 'body-surface-area'], divided],
  'av-area-vmax-index': ['per-surface-area', ['av-area-vmax', 'body-surface-area'], divided],
  'velocity-index': ['ratio-of-values', ['lvot-vti', 'av-vti'], divided],
  'lvot-stroke-volume': ['outflow-area-times-vti', ['lvot-diameter', 'lvot-vti'], strokeVolume],
  'lvot-stroke-index': ['per-surface-area', ['lvot-stroke-volume', 'body-surface-area'], divided],
  'mv-area-half-time': ['half-time-constant', ['mv-half-time'], mitralAreaByHalfTime],
};

/** Continuity equation, stroke volume and their indices, each from what was measured. */
export function valveFlows(given: Values, section: string): Measurement[] {
  const found: Measurement[] = [];
  for (const key of VALVE_FLOWS) {
    const [method, from, value] = FORMULAS[key];
    const one = calculated(withValues(given, found), key, { section, method, from, value });
    if (one) found.push(one);
  }
  return found;
}

const ID = 'valves';
const NEEDS = [
  'AV CW, LVOT PW and LVOT diameter',
  'colour clips with PISA or vena contracta',
] as const;

const MEASURED = [
  'av-vmax',
  'av-mean-gradient',
  'av-vti',
  'lvot-diameter',
  'lvot-vti',
  'lvot-vmax',
  'ar-half-time',
  'ar-vmax',
  'ar-vena-contracta',
  'ar-jet-width',
  'ar-orifice',
  'ar-volume',
  'ar-fraction',
  'mr-vmax',
  'mr-orifice',
  'mr-volume',
  'mr-fraction',
  'mv-area-planimetry',
  'mv-half-time',
  'mv-mean-gradient',
  'mv-vti',
  'pv-vmax',
  'tr-vena-contracta',
] as const satisfies readonly ConceptKey[];

const UNREMARKABLE: ReadonlySet<StenosisGrade> = new Set([
  'insufficient data',
  'no stenosis or sclerosis',
  'mean gradient <20 mmHg; mild or no stenosis, Vmax needed',
]);

const VERY_SEVERE: StenosisGrade = 'very severe AS (high-gradient)';
const EF_UNKNOWN: StenosisGrade = 'low-flow low-gradient AS, LVEF unknown';

/** A grade of a child is none (echo 0.4, 19.5). */
const NO_REGURGITATION: Regurgitations = { AR: null, MR: null, TR: null };

interface Judgement {
  id: string;
  /** "Aortic regurgitation". */
  name: string;
  grade: string | null;
  scheme: string;
  alarming: boolean;
  evidence: readonly (Measurement | null)[];
}

const isSevere = (grade: string | null) =>
  grade !== null && /severe|massive|torrential/i.test(grade);

/** Every valve but the stenosis of the aortic one, which has criteria. */
function judgementsOf(values: Values, regurgitation: Regurgitations, ms: string | null) {
  const of = (...keys: readonly ConceptKey[]) => keys.map((key) => values.measurement(key));
  const from = (prefix: string) => of(...MEASURED.filter((key) => key.startsWith(prefix)));
  const leaking = (
    id: string,
    name: string,
    grade: string | null,
    scheme: string,
    prefix: string,
  ): Judgement => ({
    id,
    name,
    grade,
    scheme,
    alarming: isSevere(grade),
    evidence: from(prefix),
  });
  const { AR, MR, TR } = regurgitation;
  return {
    AR: leaking('aortic-regurgitation', 'Aortic regurgitation', AR, 'ASE 2017', 'ar-'),
    MS: {
      id: 'mitral-stenosis',
      name: 'Mitral stenosis by valve area',
      grade: ms,
      scheme: 'ACC/AHA 2020',
      alarming: ms !== null,
      evidence: of('mv-area-planimetry', 'mv-half-time'),
    } satisfies Judgement,
    MR: leaking('mitral-regurgitation', 'Mitral regurgitation', MR, 'ASE 2017', 'mr-'),
    TR: leaking('tricuspid-regurgitation', 'Tricuspid regurgitation', TR, 'TVARC 2023', 'tr-'),
  };
}

/** Moderate and severe stenosis of the pulmonary valve by its peak velocity. */
function pulmonaryJudgement(values: Values, child: boolean): Judgement {
  const peak = values.measurement('pv-vmax');
  const grade = peak && !child ? pulmonaryStenosis(peak.value) : null;
  return {
    id: 'pulmonary-stenosis',
    name: 'Pulmonary stenosis by peak velocity',
    grade,
    scheme: 'EAE/ASE 2009, as published, not read again independently',
    alarming: grade !== null,
    evidence: [peak],
  };
}

function stenosisFinding(values: Values, { grade, words, area }: AorticStenosis) {
  if (UNREMARKABLE.has(grade)) return null;
  const evidence = [values.measurement('av-vmax'), values.measurement('av-mean-gradient')];
  const text = `Aortic stenosis: ${words}`;
  return grade === VERY_SEVERE
    ? finding(ID, 'as-very-severe', text, 'critical', evidence)
    : finding(ID, 'aortic-stenosis', text, 'abnormal', [...evidence, area]);
}

/** What the grade of the aortic valve lacks (echo 11.8). */
function aorticGaps(values: Values, stenosis: AorticStenosis | null): (string | null)[] {
  const peak = values.measurement('av-vmax');
  const withoutArea = values.measurement('velocity-index')
    ? 'Valve area not calculated; velocity-based grade only; DVI given.'
    : 'Valve area not calculated; velocity-based grade only.';
  return [
    peak || values.measurement('av-mean-gradient')
      ? null
      : 'Aortic stenosis cannot be graded without a CW trace.',
    peak && stenosis && !stenosis.area && !stenosis.rejected ? withoutArea : null,
    stenosis?.rejected ? 'No valve area took part; velocity-based grade only.' : null,
    stenosis?.grade === EF_UNKNOWN ? (ungradedEf(values)?.text ?? null) : null,
  ];
}

function run(evidence: PatientEvidence, given: Values) {
  const own = valveFlows(given, ID);
  const values = withValues(given, own);
  const child = isChild(evidence);
  const aortic = child ? null : aorticStenosis(values, gradableEf(values));
  const stenosis = aortic?.grade === 'insufficient data' ? null : aortic;
  const regurgitation = child ? NO_REGURGITATION : regurgitations(values);
  const mitral = child ? null : mitralStenosis(values, isSignificant(regurgitation.AR));
  const { AR, MS, MR, TR } = judgementsOf(values, regurgitation, mitral?.grade ?? null);
  const judged = [AR, MS, MR, TR, pulmonaryJudgement(values, child)];
  const rejected = aortic?.rejected ?? null;
  const measured = MEASURED.map((key) => values.measurement(key));
  return conclude(valves, {
    measurements: [...measured, ...own.map((one) => (one.id === rejected?.id ? rejected : one))],
    sentences: [
      stenosis && `Aortic stenosis: ${stenosis.words}`,
      ...(stenosis?.statements ?? []),
      ...judged.map(({ name, grade }) => grade && `${name}: ${grade}`),
      mitral?.statement ?? null,
    ],
    gaps: [
      child ? GAPS.age : null,
      ...aorticGaps(values, aortic),
      regurgitationGap(regurgitation),
      'Whether a valve is a prosthesis, to which native-valve criteria do not apply, is not known.',
    ],
    findings: [
      stenosis && stenosisFinding(values, stenosis),
      ...judged.map(({ id, name, grade, alarming, evidence: of }) =>
        alarming ? finding(ID, id, `${name}: ${grade}`, 'abnormal', of) : null,
      ),
    ],
    classifications: [
      stenosis &&
        classification(
          ID,
          'aortic-stenosis',
          'Aortic stenosis',
          stenosis.words,
          'EACVI/ASE 2017; very severe ACC/AHA 2020',
          stenosis.criteria,
        ),
      ...judged.map(({ id, name, grade, scheme }) =>
        grade ? classification(ID, id, name, grade, scheme) : null,
      ),
    ],
  });
}

/** Stenosis and regurgitation of the valves (echo 11). */
export const valves: EchoSection = {
  id: ID,
  title: 'Valves',
  needs: NEEDS,
  measures: [...MEASURED, ...VALVE_FLOWS],
  run,
};
