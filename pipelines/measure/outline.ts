import type { PixelScale, Point } from '../contract/image.ts';
import { largestOf, type Region, regionsOf } from './regions.ts';

/** Square millimetres per square centimetre, the unit of reported areas. */
export const SQUARE_CENTIMETRE = 100;

/** A closed curve. The first point is not repeated at the end. */
export type Outline = readonly Point[];

/**
 * Number of points on an outline. On a chamber they are a few pixels apart, and there are few
 * enough of them for an SR.
 */
const POINTS = 96;
const OVERSAMPLING = 4;
/**
 * Length over which an outline is smoothed, as a share of the outline's length. Smoothing removes
 * the steps of an enlarged mask but preserves its shape.
 */
const SMOOTHING = 0.006;
/** Minimum size of a region in pixels. Smaller regions are noise in the mask. */
const SMALLEST_PIXELS = 30;

/** Steps along pixel edges: east, south, west, north. */
const STEPS = [
  { x: 1, y: 0 },
  { x: 0, y: 1 },
  { x: -1, y: 0 },
  { x: 0, y: -1 },
] as const;

/** Returns the path around a region along its pixel edges, with the inside on the right. */
function edgePath(inside: (x: number, y: number) => boolean, start: Point): Point[] {
  const path: Point[] = [];
  let x = start.x;
  let y = start.y;
  let heading = 0;
  do {
    const step = STEPS[heading] ?? STEPS[0];
    path.push({ x: x - 0.5, y: y - 0.5 });
    x += step.x;
    y += step.y;
    // Of the four pixels around the corner, the two ahead determine the direction.
    const side = STEPS[(heading + 1) % 4] ?? STEPS[1];
    const onRight = inside(step.x + side.x > 0 ? x : x - 1, step.y + side.y > 0 ? y : y - 1);
    if (!onRight) heading = (heading + 1) % 4;
    else if (inside(step.x - side.x > 0 ? x : x - 1, step.y - side.y > 0 ? y : y - 1)) {
      heading = (heading + 3) % 4;
    }
  } while (x !== start.x || y !== start.y || heading !== 0);
  return path;
}

const mix = (a: Point, b: Point, share: number): Point => ({
  x: a.x + share * (b.x - a.x),
  y: a.y + share * (b.y - a.y),
});

/** Returns evenly spaced points along a closed path. */
function resampled(path: readonly Point[], count: number): Point[] {
  const points = [...path, path[0] ?? { x: 0, y: 0 }];
  const along = new Float64Array(Math.max(1, points.length));
  for (let i = 1; i < points.length; i++) {
    const a = points[i - 1] as Point;
    const b = points[i] as Point;
    along[i] = (along[i - 1] ?? 0) + Math.hypot(b.x - a.x, b.y - a.y);
  }
  const total = along.at(-1) ?? 0;
  const step = total / count;
  const out: Point[] = [];
  let at = 1;
  for (let n = 0; n < count; n++) {
    const wanted = n * step;
    while (at < points.length - 1 && (along[at] ?? 0) < wanted) at += 1;
    const before = along[at - 1] ?? 0;
    const after = along[at] ?? 0;
    const share = after > before ? (wanted - before) / (after - before) : 0;
    out.push(mix(points[at - 1] as Point, points[at] as Point, Math.min(share, 1)));
  }
  return out;
}

/** Returns every `every`-th point of a closed path, smoothed over its neighbours on the path. */
function smoothedClosed(points: readonly Point[], sigma: number, every: number): Point[] {
  const reach = Math.ceil(3 * sigma);
  const weights = Array.from({ length: 2 * reach + 1 }, (_, i) =>
    Math.exp(-((i - reach) ** 2) / (2 * sigma * sigma)),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return Array.from({ length: Math.ceil(points.length / every) }, (_, n) => {
    const centre = n * every;
    let x = 0;
    let y = 0;
    for (let i = 0; i < weights.length; i++) {
      const weight = weights[i] ?? 0;
      const point = points[(centre + i - reach + points.length) % points.length] as Point;
      x += weight * point.x;
      y += weight * point.y;
    }
    return { x: x / total, y: y / total };
  });
}

/**
 * Returns the outer border of the largest region in a mask (1 inside), ignoring holes, in
 * pixel-centre coordinates. Null if every region is too small.
 */
export function outlineOf(mask: Uint8Array, width: number): Outline | null {
  const largest = largestOf(regionsOf(mask, width));
  return largest && outlineOfRegion(largest, width);
}

/**
 * Returns the outer border of one region in an image of `width` columns. Null if the region is too
 * small.
 */
export function outlineOfRegion(region: Region, width: number): Outline | null {
  if (region.size < SMALLEST_PIXELS) return null;
  const first = region.runs[0] ?? 0;
  const top = first - (first % width);
  const last = region.runs.at(-1) ?? 0;
  // Only the rows of the region, because each frame of a clip has several regions.
  const own = new Uint8Array(last - top);
  for (let run = 0; run < region.runs.length; run += 2) {
    own.fill(1, (region.runs[run] ?? 0) - top, (region.runs[run + 1] ?? 0) - top);
  }
  const inside = (x: number, y: number) => x >= 0 && x < width && own[y * width + x - top] === 1;
  const path = edgePath(inside, { x: first % width, y: Math.floor(first / width) });
  const dense = resampled(path, POINTS * OVERSAMPLING);
  return smoothedClosed(dense, SMOOTHING * dense.length, OVERSAMPLING);
}

/** Converts points from pixels to millimetres. With a scale of 1, they remain in pixels. */
export function inMillimetres(points: readonly Point[], scale: PixelScale): Point[] {
  return points.map(({ x, y }) => ({ x: x * scale.x, y: y * scale.y }));
}

/** Returns the enclosed area, in the square of the points' unit. */
export function areaOf(outline: Outline): number {
  let twice = 0;
  for (const [i, a] of outline.entries()) {
    const b = outline[(i + 1) % outline.length] ?? a;
    twice += a.x * b.y - b.x * a.y;
  }
  return Math.abs(twice) / 2;
}

/** Returns the length of an open path, in the points' unit. */
export function lengthOf(path: readonly Point[]): number {
  return path.slice(1).reduce((sum, point, i) => sum + distance(path[i] ?? point, point), 0);
}

export const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);
export const middle = (a: Point, b: Point): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });

/**
 * Returns the positions at which a line crosses an outline, in ascending order. They are signed
 * distances from `at` along the unit vector `direction`.
 */
export function crossings(outline: Outline, at: Point, direction: Point): number[] {
  const side = ({ x, y }: Point) => (x - at.x) * direction.y - (y - at.y) * direction.x;
  const along = ({ x, y }: Point) => (x - at.x) * direction.x + (y - at.y) * direction.y;
  const cuts: number[] = [];
  let a = outline[0];
  let sa = a ? side(a) : 0;
  // A loop without arrays for each edge, because outlines are cut along many lines in each frame.
  for (let i = 1; a && i <= outline.length; i++) {
    const b: Point = outline[i % outline.length] ?? a;
    const sb = side(b);
    if (sa < 0 !== sb < 0) cuts.push(along(a) + (sa / (sa - sb)) * (along(b) - along(a)));
    a = b;
    sa = sb;
  }
  return cuts.sort((one, other) => one - other);
}

/** Returns the length of the part of a line that is inside an outline. */
export function chordLength(outline: Outline, at: Point, direction: Point): number {
  const cuts = crossings(outline, at, direction);
  let length = 0;
  for (let i = 0; i + 1 < cuts.length; i += 2) length += (cuts[i + 1] ?? 0) - (cuts[i] ?? 0);
  return length;
}

/** Returns true if a point is inside an outline (even-odd rule). */
export function contains(outline: Outline, point: Point): boolean {
  return crossings(outline, point, { x: 1, y: 0 }).filter((cut) => cut > 0).length % 2 === 1;
}

/**
 * Returns the distance from a point to the nearest edge of an outline. It is called for every point
 * of every outline of a clip, so it allocates no memory and calculates only one square root.
 */
export function distanceToOutline(outline: Outline, point: Point): number {
  let nearest = Number.POSITIVE_INFINITY;
  let a = outline.at(-1) ?? point;
  for (const b of outline) {
    const dx = b.x - a.x;
    const dy = b.y - a.y;
    const square = dx * dx + dy * dy;
    const along = square > 0 ? ((point.x - a.x) * dx + (point.y - a.y) * dy) / square : 0;
    const share = Math.min(1, Math.max(0, along));
    const x = a.x + share * dx - point.x;
    const y = a.y + share * dy - point.y;
    const apart = x * x + y * y;
    if (apart < nearest) nearest = apart;
    a = b;
  }
  return Math.sqrt(nearest);
}
