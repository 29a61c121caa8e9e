import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { sayOfWallMotion } from '../../result/render/echo/wall-motion.ts';
import type { Statement } from '../../result/statement.ts';
import { type ApicalView, type OutlineEvidence, outlineGap } from '../chambers/gaps.ts';
import { gradableEf } from '../lvef/judge.ts';
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
import { type MotionScore, regionalStatement, SCORE_NAMES, WALL_MOTION } from './guideline.ts';

interface WallSegment {
  /** From 1 to 17 (echo 9). */
  segment: number;
  name: string;
  readings: readonly { score: MotionScore | null }[];
  score: MotionScore | null;
  /** A score above 1 that not enough views confirm; otherwise null. */
  suspected: MotionScore | null;
}

interface WallMotionEvidence extends PatientEvidence, OutlineEvidence {
  heart: OutlineEvidence['heart'] & {
    /** True if values derived from a change in volume may be reported. */
    trusted: boolean;
    segments: readonly WallSegment[];
    /**
     * Mean score of the segments. Null if a raised score is only suspected, or if no segment was
     * scored.
     */
    scoreIndex: Measurement | null;
    /** Views that were not graded, because a value measured on their outlines was withheld. */
    withheldViews: readonly ApicalView[];
  };
}

const ID = 'wall-motion';
const NEEDS = ['A4C, A2C and A3C clips', 'a permitted model of the myocardium'] as const;

const NORMAL = 1;

/** Segments of SEG02. The seventeenth, the apex, is listed without a score (ASE 2015). */
const MODEL = '17 segments';
const SCHEME = 'ASE/EACVI 2015, 17 segments, apex not scored';

/** The apical cap is not scored for wall motion (ASE 2015). */
const scorable = ({ segment }: WallSegment) => segment <= WALL_MOTION.scored;

/** Returns a segment without its scores, because they apply to adults (echo 19, rule 5). */
const unscored = (one: WallSegment): WallSegment => ({
  ...one,
  readings: one.readings.map((reading) => ({ ...reading, score: null })),
  score: null,
  suspected: null,
});

const byScore = (segments: readonly WallSegment[], of: 'score' | 'suspected') =>
  segments.flatMap((one) => {
    const score = one[of];
    return score !== null && score > NORMAL ? [{ name: one.name, score: SCORE_NAMES[score] }] : [];
  });

function tooFew(scored: number): Statement | null {
  const { enough, scored: of } = WALL_MOTION;
  if (scored >= enough) return null;
  return scored > 0
    ? sayOfWallMotion.gap('wall-motion.few-segments', { enough, of })
    : sayOfWallMotion.gap('wall-motion.no-segment', {});
}

/** LVEF, per cent, below which it is implausible that every wall moves normally. */
const REDUCED_EF = 45;

/**
 * Returns the LVEF if it is below 45 % although the score index is 1.00 (every segment normal).
 * Null if the two agree, or if there is no LVEF that can be graded (echo 19, rule 4).
 */
function discordantEf(values: Values, index: Measurement): Measurement | null {
  const ef = gradableEf(values);
  if (!ef || rounded(ef.value, 0) >= REDUCED_EF) return null;
  return rounded(index.value, 2) === 1 ? ef : null;
}

type Scored = ReturnType<typeof byScore>;

function segmentFindings(
  abnormal: Scored,
  suspected: Scored,
  region: ReturnType<typeof regionalStatement>,
  index: Measurement | null,
) {
  const id = region.kind === 'global' ? 'wall-motion-global' : 'wall-motion-regional';
  return [
    abnormal.length > 0
      ? finding(
          id,
          sayOfWallMotion.conclusion('wall-motion.found', { segments: abnormal, region }),
          'abnormal',
          [index],
        )
      : null,
    suspected.length > 0
      ? finding(
          'wall-motion-suspected',
          sayOfWallMotion.conclusion('wall-motion.possible', { segments: suspected }),
          'info',
          [],
        )
      : null,
  ];
}

function segmentConclusions(
  segments: readonly WallSegment[],
  abnormal: Scored,
  suspected: Scored,
  region: ReturnType<typeof regionalStatement>,
): (Statement | null)[] {
  const scored = segments.filter(({ score }) => score !== null).length;
  return [
    scored > 0
      ? sayOfWallMotion.conclusion('wall-motion.graded', { scored, of: WALL_MOTION.scored })
      : null,
    segments.some(({ score }) => score === NORMAL)
      ? sayOfWallMotion.limitation('wall-motion.may-miss', {})
      : null,
    abnormal.length > 0
      ? sayOfWallMotion.conclusion('wall-motion.abnormal', { segments: abnormal })
      : null,
    suspected.length > 0
      ? sayOfWallMotion.conclusion('wall-motion.suspected', { segments: suspected })
      : null,
    abnormal.length > 0 && region.kind !== 'none'
      ? sayOfWallMotion.conclusion('wall-motion.region', { region })
      : null,
  ];
}

const listed = (segments: readonly WallSegment[]) =>
  segments.map(({ segment, name, readings, score, suspected }) => ({
    segment,
    name,
    score,
    suspected,
    views: readings,
  }));

function run(evidence: WallMotionEvidence, values: Values) {
  const given = values.measurement('wall-motion-score-index');
  const { trusted, withheldViews } = evidence.heart;
  const child = isChild(evidence);
  const read = trusted ? evidence.heart.segments : [];
  const all = child ? read.map(unscored) : read;
  const segments = all.filter(scorable);
  const seen = segments.some(({ readings }) => readings.length > 0);
  const [abnormal, suspected] = [byScore(segments, 'score'), byScore(segments, 'suspected')];
  const scored = segments.filter(({ score }) => score !== null).length;
  const index = given ?? (child ? null : evidence.heart.scoreIndex);
  const graded = child ? null : given;
  const raised = graded !== null && rounded(graded.value, 2) > NORMAL;
  const region = regionalStatement(
    new Map(segments.flatMap(({ segment, score }) => (score ? [[segment, score] as const] : []))),
  );
  const ef = index && !child ? discordantEf(values, index) : null;
  const discordance =
    index && ef && sayOfWallMotion.conclusion('wall-motion.discordant-with-ef', {}, [index, ef]);
  const untrusted = trusted ? null : sayOfWallMotion.gap('wall-motion.untrusted', {});
  return conclude(wallMotion, {
    measurements: [index],
    seen: scored > 0 || suspected.length > 0,
    conclusions: [
      graded && sayOfWallMotion.conclusion('wall-motion.machine', { raised }, [graded]),
      ...segmentConclusions(segments, abnormal, suspected, region),
      discordance,
    ],
    gaps: [
      child ? PATIENT_GAPS.child : null,
      seen ? null : (outlineGap(evidence) ?? untrusted),
      withheldViews.length > 0 && trusted
        ? sayOfWallMotion.gap('wall-motion.outlines-withheld', { views: withheldViews })
        : null,
      seen && !child ? tooFew(scored) : null,
    ],
    data: { model: MODEL, segments: listed(all) },
    findings: [
      raised && graded
        ? finding(
            'wall-motion-abnormal',
            sayOfWallMotion.conclusion('wall-motion.raised-index', {}, [graded]),
            'abnormal',
          )
        : null,
      ...segmentFindings(abnormal, suspected, region, index),
      discordance && finding('wmsi-lvef-discordant', discordance, 'info'),
    ],
    classifications: segments.flatMap(({ segment, name, score }) => {
      const [id, title] = [`wall-motion-segment-${segment}`, `Wall motion, ${name}`];
      return score === null ? [] : [classification(id, title, SCORE_NAMES[score], SCHEME)];
    }),
  });
}

/** Reports wall motion by segment, from the machine's report and from the outlines (echo 9). */
export const wallMotion: EchoSection<WallMotionEvidence> = {
  id: ID,
  title: 'Wall motion',
  needs: NEEDS,
  measures: ['wall-motion-score-index'],
  run,
};
