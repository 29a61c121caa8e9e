import type { Point } from '../../contract/image.ts';
import { areaOf, distanceToOutline, type Outline } from '../../measure/outline.ts';
import { convexHull } from '../../measure/picture.ts';
import type { Chamber } from './names.ts';

/** Why the outline of a chamber is not that of a whole chamber. */
export type OutlineFault = 'dented' | 'out-of-sector' | 'too-small-beside-lv';

/** The chambers whose outline is judged; the muscle is judged with the cavity that it surrounds. */
export type JudgedChamber = Exclude<Chamber, 'myocardium'>;

/**
 * Least share of its convex hull that a chamber fills. Of 92 patients of CAMUS (A4C, not used in
 * training; both phases) the outlines of experts fill 0.84 and more for the LV and 0.966 and more for
 * the LA, and an outline of the network that lost part of an atrium in a shadow filled 0.84. The
 * right heart has no outlines of experts here: the RV is bent around the septum.
 */
const LEAST_SOLIDITY: Readonly<Record<JudgedChamber, number>> = {
  lv: 0.88,
  la: 0.94,
  rv: 0.82,
  ra: 0.92,
};

/**
 * Greatest share of an outline on the edge of the fan (echo 3, quality gates): beyond it the picture
 * cuts the chamber off, and its area is too small.
 */
const EDGE_SHARE = 0.15;
/** Distance from the edge that counts as on it, as a share of the diameter of the fan. */
const EDGE = 0.015;

/**
 * Least area of the atrium at end-systole, as a share of the end-diastolic area of the LV. In 92
 * patients of CAMUS one atrium in thirty is smaller by the outlines of experts; an outline that stops
 * at a shadow is, too.
 */
const LEAST_ATRIUM = 0.25;

/** The share of its convex hull that an outline fills: 1 without any dent. */
export function solidity(outline: Outline): number {
  const hull = areaOf(convexHull(outline));
  return hull > 0 ? areaOf(outline) / hull : 0;
}

/** The share of an outline that is on the edge of the fan. */
export function shareOnEdge(outline: Outline, fan: readonly Point[]): number {
  if (fan.length < 3 || outline.length === 0) return 0;
  const near = EDGE * Math.sqrt(areaOf(fan));
  return outline.filter((point) => distanceToOutline(fan, point) <= near).length / outline.length;
}

/**
 * The first fault of the outline of a chamber in one frame; null where it may be a whole chamber.
 * @param fan the convex hull of the picture, in the unit of the outline; empty where it is not known.
 */
export function outlineFault(
  chamber: JudgedChamber,
  outline: Outline,
  fan: readonly Point[],
): OutlineFault | null {
  if (solidity(outline) < LEAST_SOLIDITY[chamber]) return 'dented';
  return shareOnEdge(outline, fan) > EDGE_SHARE ? 'out-of-sector' : null;
}

/**
 * Whether an atrium at end-systole is smaller beside its ventricle than atria are; areas in one unit.
 */
export const isTooSmallAtrium = (atrium: number, ventricle: number): boolean =>
  atrium < LEAST_ATRIUM * ventricle;
