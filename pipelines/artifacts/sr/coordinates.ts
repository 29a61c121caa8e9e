import type { Caliper } from '../../result/envelope.ts';
import type { Graphic } from './content-item.ts';

type Pair = readonly [number, number];

/** Axes that cross further from their middles, or less squarely, are written as a polygon. */
const CENTRE_TOLERANCE_PX = 0.01;
const SQUARE_TOLERANCE = 1e-4;

/** Vertices of an outline that cannot be an ELLIPSE; interop allows up to 200. */
const OUTLINE_VERTICES = 120;

/** Pixel centres to corner origin (PS3.3 C.18.6.1.1: 0\0 is the corner of the first pixel), as FL. */
const toImage = (value: number): number => Math.fround(value + 0.5);

const between = (a: Pair, b: Pair): Pair => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
const halfOf = (a: Pair, b: Pair): Pair => [(b[0] - a[0]) / 2, (b[1] - a[1]) / 2];

/** Points that a caliper has at least: an outline of two encloses nothing. */
const LEAST_POINTS = { polyline: 2, polygon: 3 } as const;

/** A trace as it is, an outline as a POLYLINE that ends where it began. */
function traceGraphic(type: 'polyline' | 'polygon', points: readonly Pair[]): Graphic {
  const least = LEAST_POINTS[type];
  if (points.length < least) throw new RangeError(`a ${type} has at least ${least} points`);
  const vertices = type === 'polygon' ? [...points, points[0] ?? []] : points;
  return { shape: 'POLYLINE', data: vertices.flat().map(toImage) };
}

/**
 * The graphic of a caliper, in corner-origin image coordinates: a line is an open POLYLINE of two
 * points, an ellipse an ELLIPSE with axes exactly at right angles (PS3.3 C.18.6.1.2). Where the
 * axes are not at right angles in pixels (spacing that differs by axis), they are conjugate
 * diameters of the same ellipse, which is then written as a closed POLYLINE.
 * @throws RangeError when the caliper has not the points its type asks for.
 */
export function graphicOf(caliper: Caliper): Graphic {
  if (caliper.type === 'polyline' || caliper.type === 'polygon') {
    return traceGraphic(caliper.type, caliper.points);
  }
  const [a, b, c, d] = caliper.points;
  if (caliper.type === 'line') {
    if (caliper.points.length !== 2 || !a || !b) throw new RangeError('a line has two points');
    return { shape: 'POLYLINE', data: [a, b].flat().map(toImage) };
  }
  if (caliper.points.length !== 4 || !a || !b || !c || !d) {
    throw new RangeError('an ellipse has four points');
  }
  return ellipseGraphic(a, b, c, d);
}

function ellipseGraphic(a: Pair, b: Pair, c: Pair, d: Pair): Graphic {
  const centre = between(a, b);
  const other = between(c, d);
  const u = halfOf(a, b);
  const v = halfOf(c, d);
  const lengths = [Math.hypot(...u), Math.hypot(...v)] as const;
  const offset = Math.hypot(centre[0] - other[0], centre[1] - other[1]);
  const cosine = (u[0] * v[0] + u[1] * v[1]) / (lengths[0] * lengths[1]);
  if (offset > CENTRE_TOLERANCE_PX || !(Math.abs(cosine) <= SQUARE_TOLERANCE)) {
    return outline(between(centre, other), u, v);
  }
  const [major, minor] = lengths[0] >= lengths[1] ? [u, lengths[1]] : [v, lengths[0]];
  const length = Math.max(...lengths);
  const across: Pair = [(-major[1] / length) * minor, (major[0] / length) * minor];
  const ends = [
    [centre[0] - major[0], centre[1] - major[1]],
    [centre[0] + major[0], centre[1] + major[1]],
    [centre[0] - across[0], centre[1] - across[1]],
    [centre[0] + across[0], centre[1] + across[1]],
  ];
  return { shape: 'ELLIPSE', data: ends.flat().map(toImage) };
}

function outline(centre: Pair, u: Pair, v: Pair): Graphic {
  const vertices = Array.from({ length: OUTLINE_VERTICES }, (_, index) => {
    const t = (2 * Math.PI * index) / OUTLINE_VERTICES;
    return [
      toImage(centre[0] + u[0] * Math.cos(t) + v[0] * Math.sin(t)),
      toImage(centre[1] + u[1] * Math.cos(t) + v[1] * Math.sin(t)),
    ];
  });
  return { shape: 'POLYLINE', data: [...vertices, vertices[0] ?? []].flat() };
}

/** Whether a graphic lies on an image of this size, its outermost edges included. */
export function liesOn(graphic: Graphic, columns: number, rows: number): boolean {
  return graphic.data.every((value, index) => value >= 0 && value <= (index % 2 ? rows : columns));
}
