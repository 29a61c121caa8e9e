export type PlacentaCategory = 'praevia' | 'low-lying' | 'normal' | 'too-early';

const FROM_WEEK = 16;
/**
 * If the distance from the edge to the internal os is at most this, in mm, the placenta covers or
 * reaches the os.
 */
export const COVERS_OS_MM = 0;
/** Below this distance in mm the placenta is low-lying. */
export const LOW_LYING_MM = 20;

/**
 * Returns the category of a placenta by the signed distance in mm from its lower edge to the
 * internal os, negative for overlap (Reddy et al. 2014; RCOG Green-top Guideline 27a). It is not
 * categorised before 16 weeks.
 */
export function placentaCategory(edgeToOs: number, gaWeeks: number): PlacentaCategory {
  if (gaWeeks < FROM_WEEK) return 'too-early';
  if (edgeToOs <= COVERS_OS_MM) return 'praevia';
  return edgeToOs < LOW_LYING_MM ? 'low-lying' : 'normal';
}

export type LacunaeGrade = 0 | 1 | 2 | 3;

/** Maximum number of lacunae for the grades 0, 1 and 2 of Finberg and Williams 1992. */
const LACUNAE = { none: 0, few: 3, several: 6 } as const;

/**
 * Returns the Finberg grade by the number of lacunae on an image: 1 for one to three, 2 for four to
 * six, 3 for more. The grade also depends on their size and shape, which are not judged here.
 */
export function lacunaeGrade(count: number): LacunaeGrade {
  if (count <= LACUNAE.none) return 0;
  if (count <= LACUNAE.few) return 1;
  return count <= LACUNAE.several ? 2 : 3;
}

/** Lacunae of this grade or a higher one are abnormal. */
export const ABNORMAL_LACUNAE: LacunaeGrade = 2;

/** Weeks at which an edge that is low in mid-pregnancy is scanned again (RCOG GTG 27a, 2018). */
export const LOW_EDGE_WEEKS = [32, 36] as const;
