import type { Ellipse, Point } from '../contract/image.ts';

/**
 * An ellipse as the map to the unit circle: |L (x - centre)| = 1 with L = [[p, q], [0, r]]. These
 * five numbers need neither an angle, which would wrap around, nor an order of the axes.
 */
interface UnitMap {
  cx: number;
  cy: number;
  p: number;
  q: number;
  r: number;
}

const ITERATIONS = 25;
/** Residuals above this multiple of the median residual are given less weight (Huber 1964). */
const ROBUST_AT = 2;

/**
 * Returns the ellipse that best fits the points, by Gauss–Newton on the first-order distance to the
 * ellipse (Sampson 1982). Distant points are given less weight. At least five points and a roughly
 * correct start, such as `ellipseFromMoments`, are needed. Null if the fit is not an ellipse.
 */
export function fitEllipse(points: readonly Point[], start: Ellipse): Ellipse | null {
  if (points.length < 5) return null;
  let map = unitMapOf(start);
  for (let i = 0; i < ITERATIONS; i++) {
    const step = gaussNewtonStep(points, map);
    if (!step) return null;
    map = {
      cx: map.cx + step[0],
      cy: map.cy + step[1],
      p: map.p + step[2],
      q: map.q + step[3],
      r: map.r + step[4],
    };
    if (!(map.p > 0 && map.r > 0)) return null;
    if (Math.hypot(step[0], step[1]) * Math.max(map.p, map.r) < 1e-7) break;
  }
  return ellipseOf(map);
}

/**
 * Returns the ellipse with these first and second moments (a filled ellipse has covariance a²/4).
 */
export function ellipseFromMoments(moments: {
  mean: Point;
  xx: number;
  xy: number;
  yy: number;
}): Ellipse {
  return ellipseOfShape(moments.mean, 4 * moments.xx, 4 * moments.xy, 4 * moments.yy);
}

/**
 * Returns the signed first-order distance from a point to the ellipse, in pixels. It is negative
 * inside.
 */
export function distanceToEllipse(ellipse: Ellipse, { x, y }: Point): number {
  return distanceFrom(ellipse)(x, y);
}

/**
 * Returns a function that calculates the signed distance to an ellipse. Use it for many points,
 * such as all pixels of a mask.
 */
export function distanceFrom(ellipse: Ellipse): (x: number, y: number) => number {
  const map = unitMapOf(ellipse);
  return (x, y) => sampson(map, x, y).distance;
}

function sampson(map: UnitMap, px: number, py: number) {
  const x = px - map.cx;
  const y = py - map.cy;
  const u = map.p * x + map.q * y;
  const v = map.r * y;
  // Math.hypot would take ten times as long, and these values neither overflow nor underflow.
  const radius = Math.max(Math.sqrt(u * u + v * v), 1e-9);
  const gradientX = (map.p * u) / radius;
  const gradientY = (map.q * u + map.r * v) / radius;
  const slope = Math.max(Math.sqrt(gradientX * gradientX + gradientY * gradientY), 1e-12);
  return { x, y, u, v, radius, gradientX, gradientY, slope, distance: (radius - 1) / slope };
}

function gaussNewtonStep(points: readonly Point[], map: UnitMap): Vector | null {
  const terms = points.map(({ x, y }) => sampson(map, x, y));
  const sizes = terms.map((term) => Math.abs(term.distance)).sort((a, b) => a - b);
  const limit = Math.max(ROBUST_AT * (sizes[sizes.length >> 1] ?? 0), 1e-6);
  const matrix: Vector[] = Array.from({ length: 5 }, () => [0, 0, 0, 0, 0]);
  const right: Vector = [0, 0, 0, 0, 0];
  for (const { x, y, u, v, radius, gradientX, gradientY, slope, distance } of terms) {
    const weight = Math.min(1, limit / Math.max(Math.abs(distance), 1e-12));
    const scale = 1 / (radius * slope);
    const row: Vector = [
      -gradientX / slope,
      -gradientY / slope,
      u * x * scale,
      u * y * scale,
      v * y * scale,
    ];
    for (let i = 0; i < 5; i++) {
      const line = matrix[i] as Vector;
      const a = weight * (row[i] ?? 0);
      right[i] = (right[i] ?? 0) - a * distance;
      for (let j = 0; j < 5; j++) line[j] = (line[j] ?? 0) + a * (row[j] ?? 0);
    }
  }
  return solve(matrix, right);
}

/** Five unknowns, or one row of their equations. */
export type Vector = [number, number, number, number, number];

/**
 * Solves linear equations by Gaussian elimination with row exchange. Null for a singular matrix.
 */
export function solve(matrix: readonly Vector[], right: Vector): Vector | null {
  const rows = matrix.map((row, i) => [...row, right[i] ?? 0]);
  for (let column = 0; column < 5; column++) {
    const pivot = rows
      .slice(column)
      .reduce((best, row) => (magnitude(row, column) > magnitude(best, column) ? row : best));
    if (magnitude(pivot, column) < 1e-14) return null;
    rows.splice(rows.indexOf(pivot), 1);
    rows.splice(column, 0, pivot);
    for (const row of rows) {
      if (row === pivot) continue;
      const factor = (row[column] ?? 0) / (pivot[column] ?? 1);
      for (let j = column; j <= 5; j++) row[j] = (row[j] ?? 0) - factor * (pivot[j] ?? 0);
    }
  }
  const [a, b, c, d, e] = rows.map((row, i) => (row[5] ?? 0) / (row[i] ?? 1));
  return [a ?? 0, b ?? 0, c ?? 0, d ?? 0, e ?? 0];
}

const magnitude = (row: readonly number[], column: number) => Math.abs(row[column] ?? 0);

function unitMapOf({ centre, a, b, angle }: Ellipse): UnitMap {
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const xx = (cos / a) ** 2 + (sin / b) ** 2;
  const xy = cos * sin * (1 / a ** 2 - 1 / b ** 2);
  const yy = (sin / a) ** 2 + (cos / b) ** 2;
  const p = Math.sqrt(xx);
  return { cx: centre.x, cy: centre.y, p, q: xy / p, r: Math.sqrt(yy - (xy / p) ** 2) };
}

function ellipseOf({ cx, cy, p, q, r }: UnitMap): Ellipse {
  const determinant = (p * r) ** 2;
  const xx = (q * q + r * r) / determinant;
  const xy = (-p * q) / determinant;
  const yy = (p * p) / determinant;
  return ellipseOfShape({ x: cx, y: cy }, xx, xy, yy);
}

/** Returns the ellipse with the shape matrix R diag(a², b²) Rᵀ; `a` is the longer semi-axis. */
function ellipseOfShape(centre: Point, xx: number, xy: number, yy: number): Ellipse {
  const middle = (xx + yy) / 2;
  const spread = Math.hypot((xx - yy) / 2, xy);
  return {
    centre,
    a: Math.sqrt(middle + spread),
    b: Math.sqrt(Math.max(middle - spread, 0)),
    angle: Math.atan2(2 * xy, xx - yy) / 2,
  };
}
