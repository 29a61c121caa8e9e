import type { ChamberAxis } from './chamber-axis.ts';
import type { Outline } from './outline.ts';
import { type SegmentSize, segmentSizes, type WallSegment, wallLength } from './wall-path.ts';

/** An outlined ventricle of one frame. */
export interface WallFigure {
  outline: Outline;
  axis: ChamberAxis;
  muscle: Outline | null;
}

/** What a segment of the wall does from end-diastole to end-systole, per cent. */
export interface SegmentMotion extends WallSegment {
  /** Change of the length of its inner border; shortening is negative. */
  strain: number;
  /** Loss of its distance from the long axis; inward motion is positive. */
  excursion: number;
  /** Gain of its thickness; null where the muscle is not outlined in both frames. */
  thickening: number | null;
}

const change = (from: number, to: number) => (100 * (to - from)) / from;

/**
 * Longitudinal strain of one view by the length of the inner outline between the hinges, per cent.
 * Contour strain: no point of the muscle is followed, as speckle tracking would do.
 */
export function contourStrain(diastole: WallFigure, systole: WallFigure): number {
  return change(
    wallLength(diastole.outline, diastole.axis),
    wallLength(systole.outline, systole.axis),
  );
}

/**
 * Motion of the six segments that a view shows. Segments are the thirds of the long axis of either
 * frame, so that the wall of the one is compared with that of the other at the same height.
 */
export function segmentMotions(diastole: WallFigure, systole: WallFigure): SegmentMotion[] {
  const sizes = ({ outline, axis, muscle }: WallFigure) => segmentSizes(outline, axis, muscle);
  const after = sizes(systole);
  const same = (one: SegmentSize) =>
    after.find(({ side, level }) => side === one.side && level === one.level);
  return sizes(diastole).flatMap((before) => {
    const later = same(before);
    if (!later || before.length === 0 || before.radius === 0) return [];
    const { side, level } = before;
    return [
      {
        side,
        level,
        strain: change(before.length, later.length),
        excursion: -change(before.radius, later.radius),
        thickening:
          before.thickness && later.thickness ? change(before.thickness, later.thickness) : null,
      },
    ];
  });
}
