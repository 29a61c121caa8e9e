import type { Point } from '../geometry.ts';
import { emptySample, type HeartMoment, STRUCTURE, type Structure } from './heart.ts';
import { fromImage, type ImagePlane, toImage } from './space.ts';

/** Maximum distance in mm from the inner starting point to the border. */
const REACH_MM = 130;
const STEP_MM = 1.5;

/**
 * Returns the border of a structure in an imaging plane as a polygon, in mm of the image. It is
 * found along rays from a point inside; the list is empty if the point is not inside. The border is
 * exact if straight lines from this point reach all of it.
 */
export function borderOf(
  heart: HeartMoment,
  plane: ImagePlane,
  structures: readonly Structure[],
  inside: Point,
  rays = 240,
): Point[] {
  const sample = emptySample();
  const holds = (x: number, y: number) => {
    const at = fromImage(plane, x, y);
    heart.probe(at.x, at.y, at.z, sample);
    return structures.includes(sample.structure);
  };
  if (!holds(inside.x, inside.y)) return [];
  return Array.from({ length: rays }, (_, i) => {
    const turn = (2 * Math.PI * i) / rays;
    const cos = Math.cos(turn);
    const sin = Math.sin(turn);
    let low = 0;
    let high = STEP_MM;
    while (high < REACH_MM && holds(inside.x + high * cos, inside.y + high * sin)) {
      low = high;
      high += STEP_MM;
    }
    for (let k = 0; k < 9; k++) {
      const middle = (low + high) / 2;
      if (holds(inside.x + middle * cos, inside.y + middle * sin)) low = middle;
      else high = middle;
    }
    return { x: inside.x + low * cos, y: inside.y + low * sin };
  });
}

/** Returns the area in the square of the polygon's unit (shoelace formula). */
export function areaOf(polygon: readonly Point[]): number {
  let twice = 0;
  for (const [i, a] of polygon.entries()) {
    const b = polygon[(i + 1) % polygon.length] as Point;
    twice += a.x * b.y - b.x * a.y;
  }
  return Math.abs(twice) / 2;
}

/**
 * Returns the widths of the polygon across the line from `top` to `bottom`, at the middle of each
 * disc.
 */
export function discWidths(
  polygon: readonly Point[],
  top: Point,
  bottom: Point,
  discs = 20,
): number[] {
  const lengthMm = Math.hypot(bottom.x - top.x, bottom.y - top.y);
  const ux = (bottom.x - top.x) / lengthMm;
  const uy = (bottom.y - top.y) / lengthMm;
  const turned = polygon.map(({ x, y }) => ({
    along: (x - top.x) * ux + (y - top.y) * uy,
    side: (y - top.y) * ux - (x - top.x) * uy,
  }));
  return Array.from({ length: discs }, (_, disc) => {
    const level = ((disc + 0.5) / discs) * lengthMm;
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (const [i, a] of turned.entries()) {
      const b = turned[(i + 1) % turned.length] as (typeof turned)[number];
      if (a.along > level === b.along > level) continue;
      const side = a.side + ((level - a.along) / (b.along - a.along)) * (b.side - a.side);
      low = Math.min(low, side);
      high = Math.max(high, side);
    }
    return high > low ? high - low : 0;
  });
}

/**
 * A cavity in an apical plane: its outline, its apex and the two ends of its base, in mm of the
 * image.
 */
export interface ApicalCut {
  outline: Point[];
  apex: Point;
  /** Left and right ends of the base on the screen. */
  base: readonly [Point, Point];
  lengthMm: number;
  widths: number[];
}

/** Calculates the volume in ml by summation of discs in one plane (ASE 2015). */
export function singlePlaneMl({ widths, lengthMm }: ApicalCut): number {
  const squares = widths.reduce((total, width) => total + width * width, 0);
  return ((Math.PI / 4) * squares * (lengthMm / widths.length)) / 1000;
}

/**
 * Calculates the volume in ml by summation of discs in two planes. The length is the longer of the
 * two axes (ASE 2015).
 */
export function biplaneMl(a: ApicalCut, b: ApicalCut): number {
  const total = a.widths.reduce((sum, width, i) => sum + width * (b.widths[i] ?? 0), 0);
  return ((Math.PI / 4) * total * (Math.max(a.lengthMm, b.lengthMm) / a.widths.length)) / 1000;
}

const middleOf = (a: Point, b: Point): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });

const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);

/** Distance in mm from the mitral plane within which a border point counts as the base. */
const BASE_MM = 0.35;

/**
 * Measures the long axis from the middle of the base to the farthest point, and the widths of
 * twenty discs.
 */
function measured(outline: Point[], base: readonly [Point, Point]): ApicalCut {
  const middle = middleOf(...base);
  const apex = outline.reduce((far, p) => (distance(p, middle) > distance(far, middle) ? p : far));
  const lengthMm = distance(apex, middle);
  return { outline, apex, base, lengthMm, widths: discWidths(outline, apex, middle) };
}

/** Cuts the left ventricle along an apical plane; undefined if the plane misses it. */
export function ventricleCut(
  heart: HeartMoment,
  plane: ImagePlane,
  rays?: number,
): ApicalCut | undefined {
  const { apexZ, baseZ } = heart.ventricle;
  const inside = toImage(plane, { x: 0, y: 0, z: baseZ + 0.42 * (apexZ - baseZ) });
  const outline = borderOf(heart, plane, [STRUCTURE.leftVentricle], inside, rays);
  const atBase = outline.filter((point) => {
    const { x, y, z } = fromImage(plane, point.x, point.y);
    return z - heart.ventricle.mitralPlane(x, y) < BASE_MM;
  });
  if (atBase.length < 2) return undefined;
  const byPlace = [...atBase].sort((a, b) => a.x - b.x);
  return measured(outline, [byPlace[0] as Point, byPlace.at(-1) as Point]);
}

/** Cuts the left atrium along an apical plane into discs from the mitral plane to the roof. */
export function atriumCut(heart: HeartMoment, plane: ImagePlane): ApicalCut | undefined {
  const { baseZ } = heart.ventricle;
  const middle = heart.chambers.atriumMiddle;
  const outline = borderOf(heart, plane, [STRUCTURE.leftAtrium], toImage(plane, middle));
  const top = outline.filter((point) => fromImage(plane, point.x, point.y).z > baseZ - 2);
  if (top.length < 2) return undefined;
  const byPlace = [...top].sort((a, b) => a.x - b.x);
  return measured(outline, [byPlace[0] as Point, byPlace.at(-1) as Point]);
}
