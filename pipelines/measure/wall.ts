import type { Point } from '../contract/image.ts';
import { type ChamberAxis, directionsOf } from './chamber.ts';
import { crossings, distance, lengthOf, type Outline } from './outline.ts';
import { meanOrNull } from './statistics.ts';

const WALL_SIDES = ['left', 'right'] as const;
export type WallSide = (typeof WALL_SIDES)[number];

/** In order from the valve to the apex. */
const WALL_LEVELS = ['basal', 'mid', 'apical'] as const;
export type WallLevel = (typeof WALL_LEVELS)[number];

interface WallSegment {
  side: WallSide;
  level: WallLevel;
}

const nearest = (outline: Outline, to: Point) =>
  outline.reduce(
    (best, point, i) => (distance(point, to) < distance(outline[best] as Point, to) ? i : best),
    0,
  );

/** Returns the path along the outline between two of its points that does not cross the valve. */
function between(outline: Outline, from: number, to: number, avoid: number): Point[] {
  const n = outline.length;
  const walk = (step: 1 | -1) => {
    const path: number[] = [from];
    for (let i = from; i !== to; ) {
      i = (i + step + n) % n;
      path.push(i);
    }
    return path;
  };
  const forwards = walk(1);
  const chosen = forwards.slice(1, -1).includes(avoid) ? walk(-1) : forwards;
  return chosen.map((i) => outline[i] as Point);
}

/** Returns both walls of a ventricle from hinge to apex, without the valve plane. */
function wallPaths(outline: Outline, axis: ChamberAxis): Record<WallSide, Point[]> {
  const apex = nearest(outline, axis.apex);
  const hinge = (side: WallSide) => nearest(outline, axis.hinges[side]);
  return {
    left: between(outline, hinge('left'), apex, hinge('right')),
    right: between(outline, hinge('right'), apex, hinge('left')),
  };
}

function wallLength(outline: Outline, axis: ChamberAxis): number {
  const { left, right } = wallPaths(outline, axis);
  return lengthOf(left) + lengthOf(right);
}

/**
 * Returns the level of a point on the wall: basal, mid or apical, by the third of the long axis at
 * the point's height.
 */
function levelOf(point: Point, axis: ChamberAxis): WallLevel {
  const { along } = directionsOf(axis);
  const share =
    ((point.x - axis.base.x) * along.x + (point.y - axis.base.y) * along.y) / axis.length;
  return share < 1 / 3 ? 'basal' : share < 2 / 3 ? 'mid' : 'apical';
}

/** Size of a wall segment on one frame, in the points' unit. */
interface SegmentSize extends WallSegment {
  length: number;
  /** Mean distance from the long axis. */
  radius: number;
  /** Mean thickness of the muscle; null if no muscle is outlined there. */
  thickness: number | null;
}

/**
 * Maximum distance outwards from the cavity at which to search for muscle, as a share of the long
 * axis. Other structures are further away.
 */
const THICKEST = 0.35;

/**
 * Returns the thickness of the muscle outwards from a point on the inner border. Null if there is
 * no muscle.
 */
function thicknessAt(
  point: Point,
  outwards: Point,
  muscle: Outline,
  farthest: number,
): number | null {
  const cuts = crossings(muscle, point, outwards);
  const slack = 0.15 * farthest;
  const outer = cuts.filter((cut) => cut > slack && cut <= farthest)[0];
  const inner = cuts.filter((cut) => Math.abs(cut) <= slack).at(-1);
  return outer === undefined || inner === undefined ? null : outer - inner;
}

function segmentSizes(outline: Outline, axis: ChamberAxis, muscle: Outline | null): SegmentSize[] {
  const paths = wallPaths(outline, axis);
  const { across } = directionsOf(axis);
  const farthest = THICKEST * axis.length;
  return WALL_SIDES.flatMap((side) =>
    WALL_LEVELS.map((level): SegmentSize => {
      const path = paths[side];
      const own = path.filter((point) => levelOf(point, axis) === level);
      const steps = path.slice(1).flatMap((point, i) => {
        const from = path[i] ?? point;
        const centre = { x: (from.x + point.x) / 2, y: (from.y + point.y) / 2 };
        return levelOf(centre, axis) === level ? [{ from, point, centre }] : [];
      });
      const thicknesses = muscle
        ? steps.flatMap(({ from, point, centre }) => {
            const [dx, dy] = [point.x - from.x, point.y - from.y];
            const norm = Math.hypot(dx, dy) || 1;
            // Seen in the direction of the apex, the muscle is to the left of the left wall's inner
            // border.
            const sign = side === 'left' ? 1 : -1;
            const outwards = { x: (sign * dy) / norm, y: (-sign * dx) / norm };
            return thicknessAt(centre, outwards, muscle, farthest) ?? [];
          })
        : [];
      const radii = own.map(({ x, y }) =>
        Math.abs((x - axis.base.x) * across.x + (y - axis.base.y) * across.y),
      );
      // If more than half of a segment's border has no muscle, its thickness is unknown.
      const seen = thicknesses.length >= steps.length / 2;
      return {
        side,
        level,
        length: steps.reduce((sum, { from, point }) => sum + distance(from, point), 0),
        radius: meanOrNull(radii) ?? 0,
        thickness: seen ? meanOrNull(thicknesses) : null,
      };
    }),
  );
}

interface WallFigure {
  outline: Outline;
  axis: ChamberAxis;
  muscle: Outline | null;
}

/** Change in a wall segment from end-diastole to end-systole, in per cent. */
export interface SegmentMotion extends WallSegment {
  /** Change in the length of the segment's inner border. Shortening is negative. */
  strain: number;
  /** Decrease in the segment's distance from the long axis. Inward motion is positive. */
  excursion: number;
  /** Increase in the segment's thickness; null if the muscle was not outlined on both frames. */
  thickening: number | null;
}

const change = (from: number, to: number) => (100 * (to - from)) / from;

/**
 * Returns the longitudinal strain in one view, per cent, from the length of the inner outline
 * between the hinges. This is contour strain: unlike speckle tracking, it does not follow points in
 * the muscle.
 */
export function contourStrain(diastole: WallFigure, systole: WallFigure): number {
  return change(
    wallLength(diastole.outline, diastole.axis),
    wallLength(systole.outline, systole.axis),
  );
}

/**
 * Returns the motion of the six segments in a view. The segments are thirds of the long axis on
 * each frame, so the wall is compared at the same relative height.
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
