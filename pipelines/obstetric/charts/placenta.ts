export type PlacentaCategory = 'praevia' | 'low-lying' | 'normal' | 'too-early';

const FROM_WEEK = 16;
const LOW_LYING_MM = 20;

/**
 * By the signed distance in mm from the lower edge to the internal os, negative for overlap (Reddy
 * et al. 2014; RCOG Green-top Guideline 27a). Not before 16 weeks.
 */
export function placentaCategory(edgeToOs: number, gaWeeks: number): PlacentaCategory {
  if (gaWeeks < FROM_WEEK) return 'too-early';
  if (edgeToOs <= 0) return 'praevia';
  return edgeToOs < LOW_LYING_MM ? 'low-lying' : 'normal';
}
