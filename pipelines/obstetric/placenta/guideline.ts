export type PlacentaCategory = 'praevia' | 'low-lying' | 'normal' | 'too-early';

const FROM_WEEK = 16;
/** Up to this distance the placenta covers or reaches the internal os, mm. */
export const COVERS_OS_MM = 0;
/** Below this distance it is low-lying, mm. */
export const LOW_LYING_MM = 20;

/**
 * By the signed distance in mm from the lower edge to the internal os, negative for overlap (Reddy
 * et al. 2014; RCOG Green-top Guideline 27a). Not before 16 weeks.
 */
export function placentaCategory(edgeToOs: number, gaWeeks: number): PlacentaCategory {
  if (gaWeeks < FROM_WEEK) return 'too-early';
  if (edgeToOs <= COVERS_OS_MM) return 'praevia';
  return edgeToOs < LOW_LYING_MM ? 'low-lying' : 'normal';
}

export type LacunaeGrade = 0 | 1 | 2 | 3;

/** Spaces up to which the grades 0, 1 and 2 of Finberg and Williams 1992 go. */
const LACUNAE = { none: 0, few: 3, several: 6 } as const;

/**
 * Finberg grade by the number of lacunae on an image: 1 for one to three, 2 for four to six, 3 for
 * more. Their size and shape, which the grade asks for, too, are not judged.
 */
export function lacunaeGrade(count: number): LacunaeGrade {
  if (count <= LACUNAE.none) return 0;
  if (count <= LACUNAE.few) return 1;
  return count <= LACUNAE.several ? 2 : 3;
}

/** From this grade on lacunae count as abnormal. */
export const ABNORMAL_LACUNAE: LacunaeGrade = 2;

/** Weeks at which an edge that is low in mid-pregnancy is looked at again (RCOG GTG 27a, 2018). */
export const LOW_EDGE_WEEKS = [32, 36] as const;
