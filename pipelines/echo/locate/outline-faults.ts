import type { Point } from '../../contract/image.ts';
import { areaOf, distanceToOutline, type Outline } from '../../measure/outline.ts';
import { convexHull } from '../../measure/polygon.ts';
import type { Chamber } from './names.ts';

/** Reasons why an outline does not show a whole chamber. */
export type OutlineFault = 'dented' | 'out-of-sector' | 'too-small-beside-lv';

/** Chambers whose outlines are checked. The myocardium is checked together with the cavity. */
export type JudgedChamber = Exclude<Chamber, 'myocardium'>;

/**
 * Minimum share of its convex hull that a chamber must fill. In 92 CAMUS patients (A4C, both
 * phases, not used in training), expert outlines fill at least 0.84 for the LV and at least 0.966
 * for the LA. A network outline that lost part of an atrium in a shadow filled 0.84. There are no
 * expert outlines of the right heart. The limit is lowest for the RV, because it bends around the
 * septum.
 */
const LEAST_SOLIDITY: Readonly<Record<JudgedChamber, number>> = {
  lv: 0.88,
  la: 0.94,
  rv: 0.82,
  ra: 0.92,
};

/**
 * Maximum share of an outline that may be on the edge of the fan (echo 3, quality gates). If the
 * share is greater, the chamber is cut off and its area is too small.
 */
const EDGE_SHARE = 0.15;
/**
 * Distance from the edge of the fan within which a point counts as on the edge, as a share of the
 * square root of the fan's area.
 */
const EDGE = 0.015;

/**
 * Minimum end-systolic area of the atrium, as a share of the end-diastolic area of the LV. In 92
 * CAMUS patients, one in thirty expert outlines of the atrium is smaller, and so is an outline that
 * stops at a shadow.
 */
const LEAST_ATRIUM = 0.25;

/** Returns the share of its convex hull that an outline fills. It is 1 if there are no dents. */
export function solidity(outline: Outline): number {
  const hull = areaOf(convexHull(outline));
  return hull > 0 ? areaOf(outline) / hull : 0;
}

export function shareOnEdge(outline: Outline, fan: readonly Point[]): number {
  if (fan.length < 3 || outline.length === 0) return 0;
  const near = EDGE * Math.sqrt(areaOf(fan));
  return outline.filter((point) => distanceToOutline(fan, point) <= near).length / outline.length;
}

/**
 * Returns the first fault in a chamber's outline on one frame. Null if the outline may include the
 * whole chamber.
 *
 * @param fan convex hull of the picture, in the unit of the outline; empty if not known.
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
 * Returns true if an end-systolic atrium is too small compared with its ventricle. Both areas are
 * in the same unit.
 */
export const isTooSmallAtrium = (atrium: number, ventricle: number): boolean =>
  atrium < LEAST_ATRIUM * ventricle;
