import type { ConceptKey } from '../../concepts/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import { myocardialDisease } from '../cardiomyopathy/guideline.ts';
import { pressureBehindJet } from '../formulas/doppler.ts';
import { rightHeartPressures } from '../pulmonary-hypertension/measure.ts';
import { conclude, finding, GAPS, rangedSex } from '../shared/conclude.ts';
import type { EchoSection } from '../shared/section.ts';
import type { Values } from '../shared/values.ts';
import { WALL_MOTION } from '../wall-motion/guideline.ts';
import {
  APPLIES,
  type Applicability,
  applicabilityOf,
  ejectionOf,
  type RhythmAndFilling,
} from './applicability.ts';
import { supplementalSigns2025 } from './guideline-2025.ts';
import type { Judgement } from './judge.ts';
import { judge2016, judge2025, judgeFibrillation } from './judge.ts';
import {
  CALCULATED,
  type DiastolicInputs,
  inputsOf,
  MEASURED,
  SECTION,
  withRatios,
} from './measure.ts';

/** What this section needs beside the values. */
interface DiastolicEvidence extends RhythmAndFilling {
  heart: {
    /** Whether what follows from the change of a volume may be reported. */
    trusted: boolean;
    segments: readonly { segment: number; score: number | null }[];
  };
}

const NEEDS = [
  "E, A and e' of both walls",
  'TR Vmax',
  'LA volume index',
  'rhythm and valve disease',
] as const;

/** A score of a segment that moves normally. */
const NORMAL_SCORE = 1;

/** The apex is not scored for wall motion (ASE 2015). */
const isAbnormal = ({ segment, score }: DiastolicEvidence['heart']['segments'][number]) =>
  segment <= WALL_MOTION.scored && score !== null && score > NORMAL_SCORE;

/** Signs among what was measured and what the sections before concluded. */
function diseaseOf(evidence: DiastolicEvidence, values: Values): string[] {
  const walls = [values.number('ivsd'), values.number('lvpwd')].filter((wall) => wall !== null);
  const { trusted, segments } = evidence.heart;
  return myocardialDisease({
    sex: rangedSex(evidence),
    massIndex: values.number('lv-mass-index'),
    wall: walls.length > 0 ? Math.max(...walls) : null,
    scoreIndex: values.number('wall-motion-score-index'),
    abnormalSegment: trusted && segments.some(isAbnormal),
  });
}

/** What the algorithms say; empty where none may be used. */
function judgementsOf(
  evidence: DiastolicEvidence,
  values: Values,
  { child, mitral, fibrillating }: Applicability,
  inputs: DiastolicInputs,
  atrialPressure: number | null,
): Judgement[] {
  if (child || mitral.length > 0) return [];
  if (fibrillating) return [judgeFibrillation(inputs.ofFibrillation)];
  const end = values.number('pr-end-velocity');
  const supplemental = supplementalSigns2025({
    regurgitationEnd: end,
    diastolicPressure:
      end === null || atrialPressure === null ? null : pressureBehindJet(end, atrialPressure),
  });
  return [
    judge2016(inputs.of2016, ejectionOf(values), diseaseOf(evidence, values)),
    judge2025(inputs.of2025, supplemental),
  ];
}

/** What other sections show and the criteria rest on. */
const ELSEWHERE = [
  'tr-vmax',
  'rvsp',
  'la-volume-index',
  'la-volume-index-area-length',
] as const satisfies readonly ConceptKey[];

const DIFFER = 'The two algorithms differ: LA pressure is elevated by one of them only';

/** What was elevated, each result with its scheme, and whether the algorithms may be used at all. */
function elevatedFinding(
  judgements: readonly Judgement[],
  evidence: readonly (Measurement | null)[],
) {
  const elevated = judgements.filter((one) => one.elevated);
  if (elevated.length === 0) return null;
  const text = [
    'Criteria of elevated LA pressure are met',
    ...judgements
      .toSorted((a, b) => Number(b.elevated) - Number(a.elevated))
      .map(({ text }) => text),
    elevated.length < judgements.length ? DIFFER : null,
    APPLIES,
  ];
  return finding(SECTION, 'lap-elevated', text.filter(Boolean).join('. '), 'abnormal', evidence);
}

const listed = (missing: readonly (string | false)[]) => missing.filter(Boolean).join(', ');

/** What an algorithm asks for and was not measured; a missing criterion is no negative one. */
function missingOf(
  { of2016, of2025, ofFibrillation }: DiastolicInputs,
  { mitral, fibrillating }: Applicability,
  filling: Measurement | null,
): (string | null)[] {
  if (mitral.length > 0) return [];
  const missing = listed([
    of2016.early === null && 'E',
    !fibrillating && filling === null && 'E/A',
    of2016.septal === null && "septal e'",
    !fibrillating && of2016.lateral === null && "lateral e'",
    fibrillating && ofFibrillation.deceleration === null && 'deceleration time',
  ]);
  const jet = of2016.jet === null;
  return [
    missing ? `Not measured: ${missing}` : null,
    jet
      ? `No TR signal was measured; the criterion is unavailable${of2025.systolicPressure === null ? '' : ', but for the RVSP in ASE 2025'}.`
      : null,
    !fibrillating && of2016.atrialIndex === null ? 'LA volume index is unavailable.' : null,
  ];
}

function run(evidence: DiastolicEvidence, given: Values) {
  const applicability = applicabilityOf(evidence, given);
  const { child, mitral, fibrillating } = applicability;
  const { ratios, values } = withRatios(given, applicability);
  const pressures = rightHeartPressures(values, SECTION).values;
  const inputs = inputsOf(values, pressures.number('rvsp'));
  const judgements = judgementsOf(
    evidence,
    values,
    applicability,
    inputs,
    pressures.number('ra-pressure'),
  );
  const graded = judgements.some((one) => one.given);
  const shown = graded ? judgements : [];
  const measured = MEASURED.map((key) => values.measurement(key));
  const apart = shown.length > 1 && new Set(shown.map(({ elevated }) => elevated)).size > 1;
  const unknownEf = !child && !fibrillating && mitral.length === 0 && noEf(values);
  return conclude(diastolic, {
    measurements: [...measured, ...ratios],
    sentences: [
      ...shown.flatMap(({ text, sentences }) => [text, ...sentences]),
      apart ? DIFFER : null,
      graded ? APPLIES : null,
    ],
    gaps: [
      child ? GAPS.age : null,
      mitral.length > 0
        ? `Diastolic function was not graded, and E/e' is not used: ${mitral.join(' and ')}`
        : null,
      ...judgements.flatMap(({ gaps }) => gaps),
      judgements.length > 0 && !graded
        ? 'Diastolic function was not graded: too few criteria were measured.'
        : null,
      ...missingOf(inputs, applicability, ratios[CALCULATED.indexOf('e-to-a')] ?? null),
      unknownEf ? 'LVEF is unknown; algorithm B for a reduced LVEF was not chosen by it.' : null,
    ],
    findings: [
      elevatedFinding(shown, [
        ...measured,
        ...ratios.filter((one) => one?.quality === 'accepted'),
        ...ELSEWHERE.map((key) => pressures.measurement(key)),
      ]),
    ],
    classifications: shown.flatMap(({ classifications }) => classifications),
  });
}

function noEf(values: Values): boolean {
  const { reduced, contested } = ejectionOf(values);
  return reduced === null && !contested;
}

/** Diastolic function and LA pressure by the algorithms of 2016 and 2025 (echo 10). */
export const diastolic: EchoSection<DiastolicEvidence> = {
  id: SECTION,
  title: 'Diastolic function',
  needs: NEEDS,
  measures: [...MEASURED, ...CALCULATED],
  run,
};
