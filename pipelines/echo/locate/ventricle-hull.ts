import type { Point } from '../../contract/image.ts';
import { largestOf, regionsOf } from '../../measure/regions.ts';
import { type Grid, mostLikely } from './label-map.ts';

/**
 * A ventricle has neither dents nor holes on an apical view: within the convex hull of cavity and
 * myocardium, ground and right heart lose their share, so that the better of the left heart's classes
 * stands (simulation reference 2, `hull`). `left` are the classes of the left heart, cavity and
 * myocardium first. Changes `shares`, probabilities on the grid, channel after channel.
 */
export function completeVentricle(
  shares: Float32Array,
  grid: Grid,
  left: readonly [cavity: number, wall: number, ...others: number[]],
): void {
  const size = grid.width * grid.height;
  const labels = mostLikely(shares, size, grid.classes);
  const [cavity, wall] = left;
  const mask = labels.map((label) => (label === cavity || label === wall ? 1 : 0));
  const ventricle = largestOf(regionsOf(mask, grid.width));
  // Corners lie at the ends of runs alone.
  const ends = ventricle?.runs.flatMap(({ start, end }) => [start, end - 1]) ?? [];
  const hull = convexHull(ends.map((pixel) => pointOf(pixel, grid.width)));
  for (const pixel of inside(hull, grid)) {
    for (let c = 0; c < grid.classes; c++) {
      if (!left.includes(c)) shares[c * size + pixel] = 0;
    }
  }
}

const pointOf = (pixel: number, width: number): Point => ({
  x: pixel % width,
  y: Math.floor(pixel / width),
});

/** Corners of the convex hull, once around (Andrew 1979). */
export function convexHull(points: readonly Point[]): Point[] {
  const sorted = points.toSorted((a, b) => a.x - b.x || a.y - b.y);
  const half = (ordered: readonly Point[]) => {
    const chain: Point[] = [];
    for (const point of ordered) {
      while (chain.length > 1 && turn(chain.at(-2), chain.at(-1), point) <= 0) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return sorted.length < 3 ? [...sorted] : [...half(sorted), ...half(sorted.toReversed())];
}

function turn(a: Point | undefined, b: Point | undefined, c: Point): number {
  if (!a || !b) return 1;
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/** Pixels of the grid within a convex polygon, row by row. */
function inside(hull: readonly Point[], { width, height }: Grid): number[] {
  const pixels: number[] = [];
  if (hull.length < 3) return pixels;
  for (let y = 0; y < height; y++) {
    const cuts = hull.flatMap((a, i) => {
      const b = hull[(i + 1) % hull.length] ?? a;
      if (Math.min(a.y, b.y) > y || Math.max(a.y, b.y) < y) return [];
      return a.y === b.y ? [a.x, b.x] : [a.x + ((b.x - a.x) * (y - a.y)) / (b.y - a.y)];
    });
    if (cuts.length === 0) continue;
    const to = Math.min(width - 1, Math.floor(Math.max(...cuts)));
    for (let x = Math.max(0, Math.ceil(Math.min(...cuts))); x <= to; x++)
      pixels.push(y * width + x);
  }
  return pixels;
}
