import { meanOfBeats, meanOrNull } from '../../measure/statistics.ts';
import type { WallLevel, WallSide } from '../../measure/wall.ts';
import { type SegmentMotion, segmentMotions } from '../../measure/wall.ts';
import type { Measurement } from '../../result/envelope.ts';
import { NO_FRAME, typedNumber } from '../../result/measured.ts';
import { createMeasurement } from '../../result/measurement.ts';
import { remarkOfEcho } from '../../result/render/echo/shared.ts';
import type { ApicalClips, MeasuredClip } from '../chambers/beats.ts';
import type { ApicalView } from '../chambers/gaps.ts';
import { type ChamberClip, ventricleFigure } from '../chambers/geometry.ts';
import { scoreIndex } from '../formulas.ts';
import type { ParasternalClip } from '../parasternal/clip.ts';
import { type ShortAxisView, shortAxisMotions } from '../parasternal/short-axis-segments.ts';
import { isAbsent, type MotionScore, motionScore, SEGMENTS, WALL_MOTION } from './guideline.ts';

interface SegmentReading extends Omit<SegmentMotion, 'side' | 'level' | 'strain'> {
  view: ApicalView | ShortAxisView;
  /**
   * Longitudinal strain, per cent, smoothed over the view. Null in a short axis, where it cannot be
   * measured, and if it is not plausible.
   */
  strain: number | null;
  score: MotionScore | null;
}

interface Placed {
  segment: number;
  reading: SegmentReading;
}

export interface WallSegmentReading {
  /** From 1 to 17 (echo 9). */
  segment: number;
  name: string;
  /**
   * One reading for each view that shows the segment. The apical cap has no readings; its strain is
   * the mean of the apical segments.
   */
  readings: readonly SegmentReading[];
  /**
   * Mean smoothed strain over the views, per cent; null if the strain is not plausible in any view.
   */
  strain: number | null;
  /**
   * Null if not scored. A score above 1 needs at least two views, all of which are abnormal
   * (echo 9). Without such agreement, a score for absent motion or thickening is stored as
   * `suspected` instead.
   */
  score: MotionScore | null;
  suspected: MotionScore | null;
}

type ShownWalls = Readonly<Record<WallSide, Readonly<Record<WallLevel, number>>>>;

/** Numbers of the segments in each view (echo 8.3), for a display that is not mirrored. */
const SHOWN: Readonly<Record<ApicalView, ShownWalls>> = {
  A4C: { left: { basal: 3, mid: 9, apical: 14 }, right: { basal: 6, mid: 12, apical: 16 } },
  A2C: { left: { basal: 4, mid: 10, apical: 15 }, right: { basal: 1, mid: 7, apical: 13 } },
  A3C: { left: { basal: 5, mid: 11, apical: 16 }, right: { basal: 2, mid: 8, apical: 13 } },
};
/**
 * The apical septum. The apical anteroseptal part of A3C is assigned to it when 18 strain segments
 * are reduced to 17.
 */
const ANTEROSEPTAL_APEX = 14;

const APICAL = [13, 14, 15, 16] as const;
const APEX = 17;

/** Returns true if the strain of a segment, per cent, is plausible (echo 8.3). */
const isPlausibleStrain = (strain: number) => strain >= -45 && strain <= 15;

/**
 * Share of a segment's difference from the mean strain of its view that is kept. On the A4C
 * outlines of 32 CAMUS patients not used in training, a segment differs from the same segment on
 * the expert's outlines by 8.6 points (root mean square), but the segments of one heart differ from
 * their mean by only 7.1 points. If a third of the difference is kept, the strain is closest to
 * that on the expert's outlines: the error is 7.3 points (docs/echo.md).
 */
export const KEPT_DIFFERENCE = 1 / 3;

/**
 * Difference between beats, in percentage points, that noise can cause in the motion or thickening
 * of a segment that does not move.
 */
const SEGMENT_NOISE = 15;

function agreedMean(values: readonly number[]): number | null {
  const over = meanOfBeats(values, SEGMENT_NOISE);
  return over && !over.contradicting ? over.value : null;
}

const OTHER: Readonly<Record<WallSide, WallSide>> = { left: 'right', right: 'left' };

function segmentOf({ view, mirrored }: ChamberClip, side: WallSide, level: WallLevel): number {
  return SHOWN[view][mirrored ? OTHER[side] : side][level];
}

/**
 * Returns true if at least half of the scored walls in the view move normally. If fewer do, the
 * abnormal scores may be caused by an outline that is too stiff as a whole.
 */
function regional(readings: readonly Placed[]): boolean {
  const scores = readings.map(({ reading }) => reading.score);
  const normal = scores.filter((score) => score === 1).length;
  return normal >= scores.filter((score) => score !== null && score > 1).length;
}

interface Motion extends Pick<SegmentMotion, 'excursion' | 'thickening'> {
  segment: number;
  strain: number | null;
}

function readingsOf(view: SegmentReading['view'], motions: readonly Motion[]): Placed[] {
  return [...Map.groupBy(motions, ({ segment }) => segment)].flatMap(([segment, own]) => {
    const strain = agreedMean(own.flatMap((one) => one.strain ?? []));
    const excursion = agreedMean(own.map((one) => one.excursion));
    const thickening = agreedMean(own.flatMap((one) => one.thickening ?? []));
    if (excursion === null) return [];
    const score = motionScore(thickening, excursion);
    return [{ segment, reading: { view, strain, excursion, thickening, score } }];
  });
}

/**
 * Replaces the strain of each segment by one closer to the mean of the view, because contour strain
 * of a single segment is mostly noise. Implausible strains are removed first.
 */
function smoothed(view: readonly Placed[]): Placed[] {
  const plausible = (strain: number | null) =>
    strain !== null && isPlausibleStrain(strain) ? strain : null;
  const overall = meanOrNull(view.flatMap(({ reading }) => plausible(reading.strain) ?? []));
  return view.map(({ segment, reading }) => {
    const own = plausible(reading.strain);
    const strain =
      own === null || overall === null ? null : overall + KEPT_DIFFERENCE * (own - overall);
    return { segment, reading: { ...reading, strain } };
  });
}

function apicalReadings({ clip, beats }: MeasuredClip): Placed[] {
  const motions = beats.flatMap(({ diastole, systole }) =>
    segmentMotions(ventricleFigure(diastole), ventricleFigure(systole)).map(
      ({ side, level, ...motion }) => ({
        ...motion,
        segment: segmentOf(clip, side, level),
      }),
    ),
  );
  return smoothed(readingsOf(clip.view, motions));
}

/**
 * Returns one list of readings per short-axis level, from the first clip of the level, which is the
 * best one.
 */
function shortAxisReadings(clips: readonly ParasternalClip[]): Placed[][] {
  const measured = clips.flatMap((clip) => {
    const motions = shortAxisMotions(clip).map((motion) => ({ ...motion, strain: null }));
    const [first] = motions;
    return first ? [{ view: first.view, motions }] : [];
  });
  const levels = Map.groupBy(measured, ({ view }) => view);
  return [...levels].map(([view, [best]]) => readingsOf(view, best?.motions ?? []));
}

const unscored = ({ segment, reading }: Placed): Placed => ({
  segment,
  reading: { ...reading, score: null },
});

/**
 * Combines the views of a segment. One view is enough for a normal score. An abnormal score needs
 * at least two scored views, all of which are abnormal; the lowest of their scores is used. Without
 * such agreement, the lowest abnormal score is only suspected, and only if a view with thickness
 * shows absent motion or thickening. A view without thickness can confirm another view but is not
 * enough alone.
 */
function agreed(
  readings: readonly SegmentReading[],
): Pick<WallSegmentReading, 'score' | 'suspected'> {
  const none = { score: null, suspected: null };
  const scored = readings.filter(({ score }) => score !== null);
  if (scored.every(({ thickening }) => thickening === null)) return none;
  const abnormal = scored.flatMap(({ score }) => (score !== null && score > 1 ? [score] : []));
  if (abnormal.length === 0) return { score: 1, suspected: null };
  const least = Math.min(...abnormal) as MotionScore;
  if (abnormal.length === scored.length && scored.length > 1) return { ...none, score: least };
  const clear = scored.some(
    ({ score, thickening, excursion }) =>
      score !== null && score > 1 && thickening !== null && isAbsent(thickening, excursion),
  );
  return clear ? { ...none, suspected: least } : none;
}

interface Walls {
  apical: ApicalClips;
  shortAxes: readonly ParasternalClip[];
  /**
   * True if the LVEF combined from both networks is reduced. Only then is a view scored in which
   * more walls move abnormally than normally.
   */
  reduced: boolean;
}

/** Returns the 17 segments of the ventricle, with readings from the apical and short-axis views. */
export function wallSegments({ apical, shortAxes, reduced }: Walls): WallSegmentReading[] {
  const clips = Object.values(apical).filter((one) => one !== null);
  const seen = [...clips.map(apicalReadings), ...shortAxisReadings(shortAxes)];
  const readings = seen.flatMap((view) => (reduced || regional(view) ? view : view.map(unscored)));
  const strains = readings.flatMap(({ segment, reading: { view, strain } }) => {
    const moved = view === 'A3C' && segment === 13 ? ANTEROSEPTAL_APEX : segment;
    return strain !== null ? [{ segment: moved, strain }] : [];
  });
  const strainOf = (segments: readonly number[]) =>
    meanOrNull(
      strains.flatMap(({ segment, strain }) => (segments.includes(segment) ? [strain] : [])),
    );
  return SEGMENTS.map(({ number, name }) => {
    if (number === APEX) {
      return {
        segment: number,
        name,
        readings: [],
        strain: strainOf(APICAL),
        score: null,
        suspected: null,
      };
    }
    const own = readings.flatMap(({ segment, reading }) => (segment === number ? [reading] : []));
    return { segment: number, name, readings: own, strain: strainOf([number]), ...agreed(own) };
  });
}

/**
 * Returns the mean score of the segments (ASE 2015). If a raised score is only suspected, or if no
 * segment was scored: the index that a person typed; null if nobody typed one.
 */
export function scoreIndexOf(segments: readonly WallSegmentReading[]): Measurement | null {
  // The apical cap is not scored for wall motion.
  const own = segments.filter(({ segment }) => segment <= WALL_MOTION.scored);
  const scores = own.flatMap(({ score }) => score ?? []);
  const isSuspected = own.some(({ suspected }) => suspected !== null && suspected > 1);
  const key = 'wall-motion-score-index';
  const isKnown = scores.length > 0 && !isSuspected;
  const value = isKnown ? scoreIndex(scores) : typedNumber(key, 'wall-outlines');
  if (value === null) return null;
  return createMeasurement('wall-motion-score-index-outlined', key, value, 'wall-outlines', {
    section: 'wall-motion',
    source: { ...NO_FRAME, provenance: 'model' },
    remarks: [
      remarkOfEcho('wall-motion.scored', { scored: scores.length, of: WALL_MOTION.scored }),
    ],
  });
}
