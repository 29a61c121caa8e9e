import type { PlacentaCategory } from '../../result/render/obstetric/placenta.ts';

const FROM_WEEK = 16;
/**
 * Distance in mm between edge and internal os up to which the placenta covers or reaches the os.
 */
export const COVERS_OS_MM = 0;
/** Distance in mm below which the placenta is low-lying. */
export const LOW_LYING_MM = 20;

/** `edgeToOs` is the signed distance in mm, as in `placentaCategory`. */
export const coversOs = (edgeToOs: number) => edgeToOs <= COVERS_OS_MM;
export const isNearOs = (edgeToOs: number) => edgeToOs < LOW_LYING_MM;

/**
 * Returns the category of a placenta from the signed distance in mm between its lower edge and the
 * internal os; an overlap is negative (Reddy et al. 2014; RCOG Green-top Guideline 27a). Before 16
 * weeks it is `too-early`.
 */
export function placentaCategory(edgeToOs: number, gaWeeks: number): PlacentaCategory {
  if (gaWeeks < FROM_WEEK) return 'too-early';
  if (coversOs(edgeToOs)) return 'praevia';
  return isNearOs(edgeToOs) ? 'low-lying' : 'normal';
}

type LacunaeGrade = 0 | 1 | 2 | 3;

/** Maximum number of lacunae for grades 0, 1 and 2 of Finberg and Williams 1992. */
const LACUNAE = { none: 0, few: 3, several: 6 } as const;

/**
 * Returns the Finberg grade from the number of lacunae on an image: 1 for one to three, 2 for four
 * to six, 3 for more. The grade also depends on their size and shape, which are not assessed here.
 */
export function lacunaeGrade(count: number): LacunaeGrade {
  if (count <= LACUNAE.none) return 0;
  if (count <= LACUNAE.few) return 1;
  return count <= LACUNAE.several ? 2 : 3;
}

/** Lowest abnormal grade of lacunae. */
export const ABNORMAL_LACUNAE: LacunaeGrade = 2;

/** Weeks of the follow-up scans for an edge that is low in mid-pregnancy (RCOG GTG 27a, 2018). */
export const LOW_EDGE_WEEKS = [32, 36] as const;
