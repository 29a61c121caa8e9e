import type { Point } from '../contract/image.ts';
import type { Rectangle } from '../contract/study.ts';

/**
 * Returns twice the area of the triangle. It is positive if the three points turn clockwise on the
 * screen.
 */
function turn(a: Point, b: Point, c: Point): number {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/**
 * Returns the convex hull, clockwise on the screen (Andrew 1979). Empty for fewer than two points.
 */
export function convexHull(points: readonly Point[]): Point[] {
  const sorted = points.toSorted((a, b) => a.x - b.x || a.y - b.y);
  return [...halfHull(sorted), ...halfHull(sorted.toReversed())];
}

/**
 * Returns one half of the hull without its last corner. The points must be sorted along the hull.
 */
function halfHull(ordered: readonly Point[]): Point[] {
  const chain: Point[] = [];
  for (const point of ordered) {
    for (;;) {
      const a = chain.at(-2);
      const b = chain.at(-1);
      if (!a || !b || turn(a, b, point) > 0) break;
      chain.pop();
    }
    chain.push(point);
  }
  return chain.slice(0, -1);
}

/** Returns the corners of a rectangle of pixels, at the pixels' outer edges. */
export function rectanglePolygon({ minX, minY, maxX, maxY }: Rectangle): Point[] {
  return [
    { x: minX - 0.5, y: minY - 0.5 },
    { x: maxX + 0.5, y: minY - 0.5 },
    { x: maxX + 0.5, y: maxY + 0.5 },
    { x: minX - 0.5, y: maxY + 0.5 },
  ];
}

/**
 * Returns the first and the last column of the pixels in a row whose centres are inside a convex
 * polygon. Null if there are no such pixels.
 */
export function spanOfRow(
  polygon: readonly Point[],
  y: number,
  width: number,
): [first: number, last: number] | null {
  let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let a = polygon.at(-1);
  for (const b of polygon) {
    if (a && Math.min(a.y, b.y) <= y && Math.max(a.y, b.y) >= y && a.y !== b.y) {
      const x = a.x + ((y - a.y) / (b.y - a.y)) * (b.x - a.x);
      left = Math.min(left, x);
      right = Math.max(right, x);
    }
    a = b;
  }
  const first = Math.max(0, Math.ceil(left));
  const last = Math.min(width - 1, Math.floor(right));
  return first <= last ? [first, last] : null;
}

/**
 * Returns the intersection of a convex polygon and a rectangle (Sutherland and Hodgman 1974). It
 * may be empty.
 */
export function clipToRectangle(polygon: readonly Point[], area: Rectangle): Point[] {
  const [minX, minY, maxX, maxY] = [
    area.minX - 0.5,
    area.minY - 0.5,
    area.maxX + 0.5,
    area.maxY + 0.5,
  ];
  const sides: ((p: Point) => number)[] = [
    (p) => p.x - minX,
    (p) => maxX - p.x,
    (p) => p.y - minY,
    (p) => maxY - p.y,
  ];
  return sides.reduce<Point[]>(
    (kept, inside) => {
      return kept.flatMap((a, index) => {
        const b = kept[(index + 1) % kept.length] ?? a;
        const [da, db] = [inside(a), inside(b)];
        const crossing = {
          x: a.x + (da / (da - db)) * (b.x - a.x),
          y: a.y + (da / (da - db)) * (b.y - a.y),
        };
        const entry = da >= 0 ? [a] : [];
        return da >= 0 === db >= 0 ? entry : [...entry, crossing];
      });
    },
    [...polygon],
  );
}
