import type { EchoConcept, EchoMethod } from '../../concepts/echo.ts';
import type { Measurement } from '../../result/envelope.ts';
import {
  categoryOfValves,
  type RegurgitationGrading,
  sayOfValves,
  type ValveGrading,
  valveDiseaseName,
} from '../../result/render/echo/valves.ts';
import type { Statement } from '../../result/statement.ts';
import { continuityArea, mitralAreaByHalfTime, strokeVolume } from '../formulas.ts';
import { gradableEf, ungradedEf } from '../lvef/judge.ts';
import {
  classification,
  conclude,
  type EchoSection,
  finding,
  isChild,
  PATIENT_GAPS,
  type PatientEvidence,
  type Values,
} from '../shared/section.ts';
import { isSevereRegurgitation, PULMONARY_PEAK, pulmonaryStenosis } from './guideline.ts';
import {
  type AorticStenosis,
  aorticStenosis,
  type MitralStenosis,
  mayShortenHalfTime,
  mitralStenosis,
  type Regurgitations,
  regurgitationGap,
  regurgitations,
  strokesDiffer,
  UNREMARKABLE,
} from './judge.ts';

/** Quantities calculated by `valveFlows`. Each comes after its inputs. */
const VALVE_FLOWS = [
  'av-area',
  'av-area-vmax',
  'av-area-index',
  'av-area-vmax-index',
  'velocity-index',
  'lvot-stroke-volume',
  'lvot-stroke-index',
  'mv-area-half-time',
] as const satisfies readonly EchoConcept[];

const divided = (one = 0, other = 1) => one / other;

type Formula = readonly [EchoMethod, readonly EchoConcept[], (...inputs: number[]) => number];

/** Method, inputs and function for each quantity (echo 11.1, 11.5). */
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

function valveFlows(given: Values): Measurement[] {
  const found: Measurement[] = [];
  for (const key of VALVE_FLOWS) {
    const [method, from, value] = FORMULAS[key];
    const one = given.with(found).calculated(key, { section: ID, method, from, value });
    if (one) found.push(one);
  }
  return found;
}

const ID = 'valves';
const NEEDS = [
  'AV CW, LVOT PW and LVOT diameter',
  'colour clips with PISA or vena contracta',
] as const;

const REGURGITANT = {
  aortic: [
    'ar-half-time',
    'ar-vmax',
    'ar-vena-contracta',
    'ar-jet-width',
    'ar-orifice',
    'ar-volume',
    'ar-fraction',
  ],
  mitral: ['mr-vmax', 'mr-orifice', 'mr-volume', 'mr-fraction'],
  tricuspid: ['tr-vena-contracta'],
} as const satisfies Record<string, readonly EchoConcept[]>;

const MEASURED = [
  'av-vmax',
  'av-mean-gradient',
  'av-vti',
  'lvot-diameter',
  'lvot-vti',
  'lvot-vmax',
  ...REGURGITANT.aortic,
  ...REGURGITANT.mitral,
  'mv-area-planimetry',
  'mv-half-time',
  'mv-mean-gradient',
  'mv-vti',
  'pv-vmax',
  ...REGURGITANT.tricuspid,
] as const satisfies readonly EchoConcept[];

/** Grades for a child, in whom no regurgitation is graded (echo 0.4, 19.5). */
const NO_REGURGITATION: Regurgitations = { AR: null, MR: null, TR: null };

interface Judgement {
  grading: ValveGrading;
  scheme: string;
  isFinding: boolean;
  evidence: readonly (Measurement | null)[];
}

/**
 * Grades all valve diseases except aortic stenosis, which is graded separately because its
 * classification also lists the criteria.
 */
function judgementsOf(
  values: Values,
  { AR, MR, TR }: Regurgitations,
  ms: MitralStenosis['grade'],
): (Judgement | null)[] {
  const of = (...keys: readonly EchoConcept[]) => keys.map((key) => values.measurement(key));
  const leaking = (
    grading: RegurgitationGrading,
    scheme: string,
    keys: readonly EchoConcept[],
  ): Judgement => ({
    grading,
    scheme,
    // Quantities that contradict each other are more than one grade apart, so at least one of them
    // indicates grade III or IV.
    isFinding: isSevereRegurgitation(grading.grade) || grading.grade === 'inconsistent',
    evidence: of(...keys),
  });
  const { aortic, mitral, tricuspid } = REGURGITANT;
  return [
    AR && leaking({ disease: 'aortic-regurgitation', grade: AR }, 'ASE 2017', aortic),
    ms && {
      grading: { disease: 'mitral-stenosis', grade: ms },
      scheme: 'ACC/AHA 2020',
      isFinding: true,
      evidence: of('mv-area-planimetry', 'mv-half-time'),
    },
    MR && leaking({ disease: 'mitral-regurgitation', grade: MR }, 'ASE 2017', mitral),
    TR && leaking({ disease: 'tricuspid-regurgitation', grade: TR }, 'TVARC 2023', tricuspid),
  ];
}

function suspectedFinding(values: Values, mitral: MitralStenosis | null) {
  if (!mitral?.suspected) return null;
  const { suspected } = mitral;
  // A gradient below the limit contradicts the small area.
  const isContradicted =
    suspected.kind === 'small-area' && values.number('mv-mean-gradient') !== null;
  return finding(
    'mitral-stenosis-suspected',
    sayOfValves.conclusion('valves.mitral-suspected', { suspected }),
    isContradicted ? 'info' : 'abnormal',
    (['mv-mean-gradient', 'mv-half-time', 'mv-area-half-time'] as const).map((key) =>
      values.measurement(key),
    ),
  );
}

function pulmonaryJudgement(values: Values, child: boolean): Judgement | null {
  const peak = values.measurement('pv-vmax');
  const grade = peak && !child ? pulmonaryStenosis(peak.value) : null;
  return (
    grade && {
      grading: { disease: 'pulmonary-stenosis', grade },
      scheme: 'EAE/ASE 2009, as published, not read again independently',
      isFinding: true,
      evidence: [peak],
    }
  );
}

function stenosisFinding(values: Values, { grade, area }: AorticStenosis) {
  if (UNREMARKABLE.has(grade)) return null;
  const evidence = [values.measurement('av-vmax'), values.measurement('av-mean-gradient')];
  const statement = sayOfValves.conclusion('valves.aortic-stenosis', { grade });
  return grade === 'very-severe'
    ? finding('as-very-severe', statement, 'critical', evidence)
    : finding('aortic-stenosis', statement, 'abnormal', [...evidence, area]);
}

function contradictionFinding({ contradiction }: AorticStenosis) {
  if (!contradiction?.severity) return null;
  const { code, between, severity } = contradiction;
  const statement = sayOfValves.conclusion(code, {}, between);
  return finding('aortic-stenosis-contradiction', statement, severity);
}

/** Reports what is missing for grading the aortic valve (echo 11.8). */
function aorticGaps(values: Values, stenosis: AorticStenosis | null): (Statement | null)[] {
  const peak = values.measurement('av-vmax');
  const velocityIndex = values.measurement('velocity-index') !== null;
  return [
    peak || values.measurement('av-mean-gradient') ? null : sayOfValves.gap('valves.no-trace', {}),
    stenosis?.contradiction
      ? sayOfValves.gap(stenosis.contradiction.code, {}, stenosis.contradiction.between)
      : null,
    peak && stenosis && !stenosis.contradiction && !stenosis.area && !stenosis.rejected
      ? sayOfValves.gap('valves.no-area', { velocityIndex })
      : null,
    stenosis?.rejected ? sayOfValves.gap('valves.area-rejected', {}) : null,
    stenosis?.grade === 'low-flow-ef-unknown' ? (ungradedEf(values)?.gap ?? null) : null,
  ];
}

function run(evidence: PatientEvidence, given: Values) {
  const own = valveFlows(given);
  const values = given.with(own);
  const child = isChild(evidence);
  const aortic = child ? null : aorticStenosis(values, gradableEf(values));
  const stenosis = aortic?.grade === 'insufficient-data' ? null : aortic;
  const regurgitation = child ? NO_REGURGITATION : regurgitations(values);
  const mitral = child ? null : mitralStenosis(values, mayShortenHalfTime(values, regurgitation));
  const judged = [
    ...judgementsOf(values, regurgitation, mitral?.grade ?? null),
    pulmonaryJudgement(values, child),
  ].flatMap((one) =>
    one ? [{ ...one, statement: sayOfValves.conclusion('valves.grade', one.grading) }] : [],
  );
  const rejected = aortic?.rejected ?? null;
  const measured = MEASURED.map((key) => values.measurement(key));
  return conclude(valves, {
    measurements: [...measured, ...own.map((one) => (one.id === rejected?.id ? rejected : one))],
    conclusions: [
      stenosis && sayOfValves.conclusion('valves.aortic-stenosis', { grade: stenosis.grade }),
      ...(stenosis?.statements ?? []),
      strokesDiffer(values, regurgitation),
      ...judged.map(({ statement }) => statement),
      mitral?.suspected
        ? sayOfValves.conclusion('valves.mitral-suspected', { suspected: mitral.suspected })
        : null,
      mitral?.remark
        ? sayOfValves.conclusion('valves.mitral-remark', { remark: mitral.remark })
        : null,
    ],
    gaps: [
      child ? PATIENT_GAPS.child : null,
      ...aorticGaps(values, aortic),
      regurgitationGap(regurgitation),
      sayOfValves.gap('valves.never-graded', { peak: PULMONARY_PEAK.moderate }),
      sayOfValves.gap('valves.prosthesis-unknown', {}),
    ],
    findings: [
      stenosis && stenosisFinding(values, stenosis),
      aortic && contradictionFinding(aortic),
      suspectedFinding(values, mitral),
      ...judged.map(({ grading, statement, isFinding, evidence: of }) =>
        isFinding ? finding(grading.disease, statement, 'abnormal', of) : null,
      ),
    ],
    classifications: [
      stenosis &&
        classification(
          'aortic-stenosis',
          valveDiseaseName('aortic-stenosis'),
          categoryOfValves('valve', { disease: 'aortic-stenosis', grade: stenosis.grade }),
          'EACVI/ASE 2017; very severe ACC/AHA 2020',
          stenosis.criteria,
        ),
      ...judged.map(({ grading, scheme }) =>
        classification(
          grading.disease,
          valveDiseaseName(grading.disease),
          categoryOfValves('valve', grading),
          scheme,
        ),
      ),
    ],
  });
}

/** Reports valvular stenosis and regurgitation (echo 11). */
export const valves: EchoSection = {
  id: ID,
  title: 'Valves',
  needs: NEEDS,
  measures: [...MEASURED, ...VALVE_FLOWS],
  run,
};
