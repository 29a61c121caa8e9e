import { contourStrain, type SegmentMotion, segmentMotions } from '../../measure/contour-strain.ts';
import type { WallLevel, WallSide } from '../../measure/wall-path.ts';
import { type MotionScore, motionScore, SEGMENTS } from '../guidelines/wall-motion.ts';
import type { ApicalView, ChamberClip } from './chamber-clip.ts';
import { type MeasuredClip, overBeats } from './clip-beats.ts';
import type { FrameGeometry } from './frame-geometry.ts';
import type { ApicalClips } from './left-heart-values.ts';

/** What one view says of one segment, means over its beats. */
export interface SegmentReading extends Omit<SegmentMotion, 'side' | 'level'> {
  view: ApicalView;
  score: MotionScore | null;
}

export interface WallSegmentReading {
  /** 1 to 17 (echo reference 9). */
  segment: number;
  name: string;
  /** Every view that shows it; the apex is the mean of the apical segments and has none. */
  readings: readonly SegmentReading[];
  /** Mean of the views, per cent; null where no view gives a strain that can be believed. */
  strain: number | null;
  /**
   * Null: not scored. A score over 1 stands only where two views agree on it (reference 9); one view
   * alone makes it `suspected`.
   */
  score: MotionScore | null;
  suspected: MotionScore | null;
}

type Walls = Readonly<Record<WallSide, Readonly<Record<WallLevel, number>>>>;

/** Segments by view, side of the usual display and level (reference 8.3). */
const SHOWN: Readonly<Record<ApicalView, Walls>> = {
  A4C: { left: { basal: 3, mid: 9, apical: 14 }, right: { basal: 6, mid: 12, apical: 16 } },
  A2C: { left: { basal: 4, mid: 10, apical: 15 }, right: { basal: 1, mid: 7, apical: 13 } },
  A3C: { left: { basal: 5, mid: 11, apical: 16 }, right: { basal: 2, mid: 8, apical: 13 } },
};
/** A3C's apical anteroseptal part belongs to the septum when strain goes from 18 to 17 segments. */
const ANTEROSEPTAL_APEX = 14;

const APICAL = [13, 14, 15, 16] as const;
const APEX = 17;

/** Strain of a segment that can be believed, per cent (reference 8.3). */
const BELIEVABLE = [-45, 15] as const;

const mean = (values: readonly number[]) =>
  values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null;

const figure = ({ lv, muscle }: FrameGeometry) => ({ outline: lv.outline, axis: lv.axis, muscle });

const OTHER: Readonly<Record<WallSide, WallSide>> = { left: 'right', right: 'left' };

function segmentOf({ view, mirrored }: ChamberClip, side: WallSide, level: WallLevel): number {
  return SHOWN[view][mirrored ? OTHER[side] : side][level];
}

/**
 * Whether the scores of a view can be told from an outline that is too stiff as a whole: a wall that
 * does not move is seen beside walls that do.
 */
function regional(scores: readonly (MotionScore | null)[]): boolean {
  const normal = scores.filter((score) => score === 1).length;
  return normal >= scores.filter((score) => score !== null && score > 1).length;
}

function readingsOf({ clip, beats }: MeasuredClip): { segment: number; reading: SegmentReading }[] {
  const motions = beats.flatMap(({ diastole, systole }) =>
    segmentMotions(figure(diastole), figure(systole)).map((motion) => ({
      segment: segmentOf(clip, motion.side, motion.level),
      motion,
    })),
  );
  const readings = [...Map.groupBy(motions, ({ segment }) => segment)].flatMap(([segment, own]) => {
    const strain = mean(own.map(({ motion }) => motion.strain));
    const excursion = mean(own.map(({ motion }) => motion.excursion));
    const thickening = mean(own.flatMap(({ motion }) => motion.thickening ?? []));
    if (strain === null || excursion === null) return [];
    const score = motionScore(thickening, excursion);
    return [{ segment, reading: { view: clip.view, strain, excursion, thickening, score } }];
  });
  return regional(readings.map(({ reading }) => reading.score))
    ? readings
    : readings.map(({ segment, reading }) => ({ segment, reading: { ...reading, score: null } }));
}

/** What the views say together: normal by one, abnormal only by two that agree. */
function agreed(
  readings: readonly SegmentReading[],
): Pick<WallSegmentReading, 'score' | 'suspected'> {
  const scores = readings.flatMap(({ score }) => score ?? []);
  const [first, ...more] = scores;
  if (first === undefined) return { score: null, suspected: null };
  const abnormal = scores.filter((score) => score > 1);
  if (abnormal.length === 0) return { score: 1, suspected: null };
  const least = Math.min(...abnormal) as MotionScore;
  const confirmed = abnormal.length === scores.length && more.length > 0;
  return confirmed ? { score: least, suspected: null } : { score: null, suspected: least };
}

const believable = (strain: number) => strain >= BELIEVABLE[0] && strain <= BELIEVABLE[1];

/** The 17 segments of the ventricle as far as the apical views show them. */
export function wallSegments(clips: ApicalClips): WallSegmentReading[] {
  const readings = Object.values(clips).flatMap((one) => (one ? readingsOf(one) : []));
  const strains = readings.flatMap(({ segment, reading }) => {
    const moved = reading.view === 'A3C' && segment === 13 ? ANTEROSEPTAL_APEX : segment;
    return believable(reading.strain) ? [{ segment: moved, strain: reading.strain }] : [];
  });
  const strainOf = (segments: readonly number[]) =>
    mean(strains.flatMap(({ segment, strain }) => (segments.includes(segment) ? [strain] : [])));
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

/** Longitudinal contour strain of a view, per cent, mean of its beats; null without a beat. */
export const viewStrain = (on: MeasuredClip): number | null =>
  overBeats(on, ({ diastole, systole }) => contourStrain(figure(diastole), figure(systole)));
