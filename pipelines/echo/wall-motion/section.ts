import { rounded } from '../../measure/rounding.ts';
import { createMeasurement, NO_FRAME } from '../../result/measurement.ts';
import { type OutlineEvidence, outlineGap } from '../chambers/gaps.ts';
import { scoreIndex } from '../formulas/chambers.ts';
import { classification, conclude, finding, GAPS, isChild } from '../shared/conclude.ts';
import type { EchoSection, PatientEvidence } from '../shared/section.ts';
import { named, type Values } from '../shared/values.ts';
import { type MotionScore, regionalStatement, SCORE_NAMES, WALL_MOTION } from './guideline.ts';
import { scoresAgainstEf } from './judge.ts';

/** One segment as the views show it. */
interface WallSegment {
  /** 1 to 17 (echo 9). */
  segment: number;
  name: string;
  /** One of each view that shows the segment. */
  readings: readonly { score: MotionScore | null }[];
  /** Null where the segment was not scored. */
  score: MotionScore | null;
  /** A raised score that one view alone gives. */
  suspected: MotionScore | null;
}

/** What this section needs beside the values. */
interface WallMotionEvidence extends PatientEvidence, OutlineEvidence {
  heart: OutlineEvidence['heart'] & {
    /** Whether what follows from the change of a volume may be reported. */
    trusted: boolean;
    segments: readonly WallSegment[];
  };
}

const ID = 'wall-motion';
const NEEDS = ['A4C, A2C and A3C clips', 'a permitted model of the myocardium'] as const;

/** Score index of a ventricle in which every segment moves normally. */
const NORMAL = 1;

const SCHEME = 'ASE/EACVI 2015, 16 segments';

/** The apex is not scored for wall motion (ASE 2015). */
const scorable = ({ segment }: WallSegment) => segment <= WALL_MOTION.scored;

/** What was seen of a segment, without a grade: those are of adults (echo 19, rule 5). */
const unscored = (one: WallSegment): WallSegment => ({
  ...one,
  readings: one.readings.map((reading) => ({ ...reading, score: null })),
  score: null,
  suspected: null,
});

/** Index of the segments that were scored; null while one is only suspected, or none was seen. */
function ownIndex(segments: readonly WallSegment[], suspected: number) {
  const scores = segments.flatMap(({ score }) => score ?? []);
  if (scores.length === 0 || suspected > 0) return null;
  return createMeasurement(
    'wall-motion-score-index-outlined',
    'wall-motion-score-index',
    scoreIndex(scores),
    'wall-outlines',
    {
      section: ID,
      source: { ...NO_FRAME, provenance: 'model' },
      note: `${scores.length} of ${WALL_MOTION.scored} segments scored`,
    },
  );
}

/** What abnormal segments have in common, as a sentence. */
function regionInWords(scores: ReadonlyMap<number, number>): string | null {
  const statement = regionalStatement(scores);
  switch (statement.kind) {
    case 'none':
      return null;
    case 'global':
      return 'Global hypokinesis of the scored segments';
    case 'territory':
      return `Regional abnormality within the usual territory of the ${statement.artery}; coronary supply varies`;
    case 'regional':
      return 'Regional abnormality, not confined to one coronary territory; coronary supply varies';
  }
}

const byScore = (segments: readonly WallSegment[], of: 'score' | 'suspected') =>
  segments.flatMap((one) => {
    const score = one[of];
    return score !== null && score > NORMAL ? [`${one.name} ${SCORE_NAMES[score]}`] : [];
  });

/** A segment is normal by its motion: its outline thickens less than the wall does (`motionScore`). */
const MISSED =
  'A mildly reduced segment may be graded normal: outlines show little of its thickening';

/** What is missing where segments are seen and not graded, as a sentence; null where enough are. */
function tooFew(scored: number): string | null {
  if (scored >= WALL_MOTION.enough) return null;
  return scored > 0
    ? `Fewer than ${WALL_MOTION.enough} of ${WALL_MOTION.scored} segments could be graded.`
    : 'No segment could be graded: motion and thickening do not agree, or no second view shows the wall that is reduced.';
}

function run(evidence: WallMotionEvidence, values: Values) {
  const given = values.measurement('wall-motion-score-index');
  const { trusted } = evidence.heart;
  const child = isChild(evidence);
  const read = trusted ? evidence.heart.segments.filter(scorable) : [];
  const segments = child ? read.map(unscored) : read;
  const seen = segments.filter(({ readings }) => readings.length > 0);
  const abnormal = byScore(segments, 'score');
  const suspected = byScore(segments, 'suspected');
  const scored = segments.filter(({ score }) => score !== null).length;
  const index = given ?? ownIndex(segments, suspected.length);
  const graded = child ? null : given;
  const raised = graded !== null && rounded(graded.value, 2) > NORMAL;
  const scores = new Map(
    segments.flatMap(({ segment, score }) => (score ? [[segment, score] as const] : [])),
  );
  const region = regionInWords(scores);
  const global = regionalStatement(scores).kind === 'global';
  const contradiction = index && !child ? scoresAgainstEf(values, index) : null;
  const untrusted = trusted
    ? null
    : 'Wall motion was not graded: no permitted model was shown to follow the myocardium.';
  return conclude(wallMotion, {
    measurements: [index],
    seen: scored > 0 || suspected.length > 0,
    sentences: [
      graded &&
        (raised
          ? 'The score index of the machine is raised'
          : 'The score index of the machine is normal'),
      scored > 0
        ? `${scored} of ${WALL_MOTION.scored} segments were graded by thickening and inward motion of their outlines`
        : null,
      segments.some(({ score }) => score === NORMAL) ? MISSED : null,
      abnormal.length > 0 ? `Abnormal in two views: ${abnormal.join(', ')}` : null,
      suspected.length > 0
        ? `Suspected in one view, to be confirmed in a second: ${suspected.join(', ')}`
        : null,
      abnormal.length > 0 ? region : null,
      contradiction?.text ?? null,
    ],
    gaps: [
      child ? GAPS.age : null,
      seen.length > 0 ? null : (outlineGap(evidence) ?? untrusted),
      seen.length > 0 && !child ? tooFew(scored) : null,
    ],
    data: {
      segments: segments.map(({ segment, name, readings, score, suspected: perhaps }) => ({
        segment,
        name,
        score,
        suspected: perhaps,
        views: readings,
      })),
    },
    findings: [
      raised && graded
        ? finding(
            ID,
            'wall-motion-abnormal',
            `${named(graded)}: wall motion abnormality, segments not known`,
            'abnormal',
            [graded],
          )
        : null,
      abnormal.length > 0
        ? finding(
            ID,
            global ? 'wall-motion-global' : 'wall-motion-regional',
            `Wall motion: ${abnormal.join(', ')}. ${region ?? ''}`.trim(),
            'abnormal',
            [index],
          )
        : null,
      suspected.length > 0
        ? finding(
            ID,
            'wall-motion-suspected',
            `Wall motion possibly abnormal, seen in one view: ${suspected.join(', ')}`,
            'info',
            [],
          )
        : null,
      contradiction &&
        finding(ID, 'wmsi-lvef-discordant', contradiction.text, 'info', contradiction.between),
    ],
    classifications: segments.flatMap(({ segment, name, score }) =>
      score === null
        ? []
        : [
            classification(
              ID,
              `wall-motion-segment-${segment}`,
              `Wall motion, ${name}`,
              SCORE_NAMES[score],
              SCHEME,
            ),
          ],
    ),
  });
}

/** Wall motion by segment (echo 9): of the machine, and of the outlines. */
export const wallMotion: EchoSection<WallMotionEvidence> = {
  id: ID,
  title: 'Wall motion',
  needs: NEEDS,
  measures: ['wall-motion-score-index'],
  run,
};
