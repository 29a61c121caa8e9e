import type { Point } from '../contract/image.ts';
import {
  chordLength,
  crossings,
  distance,
  distanceToOutline,
  lengthOf,
  middle,
  type Outline,
} from './outline.ts';

/**
 * The long axis of a chamber. Lengths are in the unit of the points. `left` and `right` apply if
 * the apex is at the top.
 */
export interface ChamberAxis {
  /** Hinge points of the valve, where the walls begin. */
  hinges: { left: Point; right: Point };
  /** Middle of the valve plane. */
  base: Point;
  /** Point of the outline farthest from the base (ASE 2015): the apex, or the roof of an atrium. */
  apex: Point;
  length: number;
}

/**
 * Maximum distance between points of two outlines that count as touching, as a share of the
 * outline's length.
 */
const TOUCH = 0.02;
/**
 * A gap of at most this many points between touching points is treated as a flaw in the mask.
 */
const GAP = 3;
/** Minimum and maximum share of the outline that the valve plane can occupy. */
const BASE_SHARE = [0.06, 0.45] as const;

interface Run {
  start: number;
  count: number;
}

/**
 * Returns the longest run of `true` around a closed outline, bridging small gaps. Null if no flag
 * is set, or if all are.
 */
function longestRun(flags: readonly boolean[]): Run | null {
  const n = flags.length;
  const closed = flags.map(
    (flag, i) =>
      flag ||
      Array.from({ length: GAP }, (_, k) => k + 1).some(
        (k) =>
          flags[(i - k + n) % n] === true &&
          Array.from({ length: GAP + 1 - k }, (_, m) => m + 1).some(
            (m) => flags[(i + m) % n] === true,
          ),
      ),
  );
  if (closed.every(Boolean) || !closed.some(Boolean)) return null;
  let best: Run | null = null;
  for (let start = 0; start < n; start++) {
    if (!closed[start] || closed[(start - 1 + n) % n]) continue;
    let count = 0;
    while (closed[(start + count) % n]) count += 1;
    if (!best || count > best.count) best = { start, count };
  }
  return best;
}

const isBase = (run: Run | null, n: number): run is Run =>
  run !== null && run.count / n >= BASE_SHARE[0] && run.count / n <= BASE_SHARE[1];

/**
 * Returns the part of the outline at the valve: the part that is not covered by the wall. If its
 * size is implausible, the part that touches the chamber on the other side of the valve is
 * returned. Null if neither has a plausible size.
 */
function baseRun(outline: Outline, across: Outline | null, wall: Outline | null): Run | null {
  const touch = TOUCH * lengthOf([...outline, outline[0] ?? { x: 0, y: 0 }]);
  const near = (other: Outline) => outline.map((point) => distanceToOutline(other, point) <= touch);
  const uncovered = wall && longestRun(near(wall).map((covered) => !covered));
  if (isBase(uncovered, outline.length)) return uncovered;
  const touching = across && longestRun(near(across));
  return isBase(touching, outline.length) ? touching : null;
}

/**
 * Returns the long axis of a chamber, from the middle of the valve plane to the farthest point of
 * the outline (echo 3). The points must have equal scales on both axes (millimetres, or square
 * pixels).
 *
 * @param across the chamber on the other side of the valve.
 *
 * @param wall the muscle around the chamber, which ends at the valve.
 *
 * @returns null if no valve plane was found.
 */
export function chamberAxis(
  outline: Outline,
  { across, wall }: { across: Outline | null; wall: Outline | null },
): ChamberAxis | null {
  const run = baseRun(outline, across, wall);
  if (!run) return null;
  const n = outline.length;
  const first = outline[run.start] as Point;
  const last = outline[(run.start + run.count - 1) % n] as Point;
  const base = middle(first, last);
  const apex = outline.reduce((best, point) =>
    distance(point, base) > distance(best, base) ? point : best,
  );
  const turn = (apex.x - base.x) * (first.y - base.y) - (apex.y - base.y) * (first.x - base.x);
  const hinges = turn < 0 ? { left: first, right: last } : { left: last, right: first };
  return { hinges, base, apex, length: distance(base, apex) };
}

/**
 * Returns two unit vectors. `along` points from base to apex. `across` is perpendicular to it and
 * points to the right if the apex is at the top.
 */
export function directionsOf({ base, apex, length }: ChamberAxis): { along: Point; across: Point } {
  const along = { x: (apex.x - base.x) / length, y: (apex.y - base.y) / length };
  return { along, across: { x: -along.y, y: along.x } };
}

/** Returns the point at a share of the axis: 0 is the base, 1 is the apex. */
export function onAxis({ base, apex }: ChamberAxis, share: number): Point {
  return { x: base.x + share * (apex.x - base.x), y: base.y + share * (apex.y - base.y) };
}

/**
 * Returns the points on both walls at a share of the axis, as signed distances from the axis. Null
 * if the perpendicular does not cross the outline there.
 */
export function wallsAt(
  outline: Outline,
  axis: ChamberAxis,
  share: number,
): { left: number; right: number } | null {
  const cuts = crossings(outline, onAxis(axis, share), directionsOf(axis).across);
  const [left, right] = [cuts[0], cuts.at(-1)];
  return left === undefined || right === undefined || cuts.length < 2 ? null : { left, right };
}

/** Number of discs in the method of discs (echo 4.2). */
const DISCS = 20;

/**
 * Returns the diameters of the discs, base first, in the unit of the points. Each is perpendicular
 * to the long axis, at the middle of its disc.
 */
export function discDiameters(outline: Outline, axis: ChamberAxis): number[] {
  const { across } = directionsOf(axis);
  return Array.from({ length: DISCS }, (_, i) =>
    chordLength(outline, onAxis(axis, (i + 0.5) / DISCS), across),
  );
}
