import type { Point } from '../geometry.ts';
import { type ApicalCut, borderOf, discWidths } from './contour.ts';
import { type HeartMoment, STRUCTURE } from './heart.ts';
import { fromImage, type ImagePlane, toImage } from './space.ts';

const middleOf = (a: Point, b: Point): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });

const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);

/** How near the mitral plane a border point belongs to the base, mm. */
const BASE_MM = 0.35;

/** Long axis from the middle of the base to the farthest point, and the widths of twenty discs. */
function measured(outline: Point[], base: readonly [Point, Point]): ApicalCut {
  const middle = middleOf(...base);
  const apex = outline.reduce((far, p) => (distance(p, middle) > distance(far, middle) ? p : far));
  const lengthMm = distance(apex, middle);
  return { outline, apex, base, lengthMm, widths: discWidths(outline, apex, middle) };
}

/** The left ventricle in an apical plane; undefined where the plane misses it. */
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

/** The left atrium in an apical plane: discs from the mitral plane to its roof. */
export function atriumCut(heart: HeartMoment, plane: ImagePlane): ApicalCut | undefined {
  const { baseZ } = heart.ventricle;
  const middle = heart.chambers.atriumMiddle;
  const outline = borderOf(heart, plane, [STRUCTURE.leftAtrium], toImage(plane, middle));
  const top = outline.filter((point) => fromImage(plane, point.x, point.y).z > baseZ - 2);
  if (top.length < 2) return undefined;
  const byPlace = [...top].sort((a, b) => a.x - b.x);
  return measured(outline, [byPlace[0] as Point, byPlace.at(-1) as Point]);
}
