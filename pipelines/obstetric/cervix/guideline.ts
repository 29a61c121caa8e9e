import type { CervixCategory } from '../../result/render/obstetric/cervix.ts';

/**
 * Limits of the categories in mm: short up to 25 (SMFM Consult 70, 2024; ISUOG 2022), very short up
 * to 15 (FMF), extremely short up to 10, long from 30. Each limit is inclusive.
 */
export const CERVIX_MM = { extremelyShort: 10, veryShort: 15, short: 25, long: 30 } as const;

/**
 * Cervical length, mm, at or below which SMFM Consult 70 recommends discussing vaginal
 * progesterone.
 */
export const PROGESTERONE_MM = 20;

/**
 * Age range, in whole days, in which the cervical length of an asymptomatic woman is categorised:
 * 16+0 to 24+0.
 */
export const CERVIX_CATEGORY_DAYS = { from: 16 * 7, to: 24 * 7 } as const;

/** Returns the category of a closed (functional) length in mm (obstetric 10). */
export function cervixCategory(mm: number): CervixCategory {
  if (mm <= CERVIX_MM.extremelyShort) return 'extremely-short';
  if (mm <= CERVIX_MM.veryShort) return 'very-short';
  if (mm <= CERVIX_MM.short) return 'short';
  return mm >= CERVIX_MM.long ? 'long' : 'normal';
}

/**
 * Returns whether a length in mm is short. The limit for `short` is the only one that also applies
 * to several fetuses (obstetric 10). The others are limits of singletons, so `normal` only means
 * "not short".
 */
export const sideOfShort = (mm: number): CervixCategory =>
  mm <= CERVIX_MM.short ? 'short' : 'normal';

/**
 * Deviation of the canal from a straight line, mm, above which the length is measured in two
 * straight parts.
 */
export const CURVED_MM = 5;

/**
 * Minimum depth of a funnel, mm. Membranes that protrude less into the internal os do not count as
 * a funnel.
 */
export const FUNNEL_MM = 5;

export type FunnelShape = 'Y' | 'V' | 'U';

/**
 * Limits between the funnel shapes, as the share of mouth width times depth that the funnel fills:
 * a triangle (V) fills half, a Y less than `y`, a U more than `u`.
 */
const FULLNESS = { y: 0.43, u: 0.63 } as const;

/**
 * Returns the shape of a funnel. `fullness` is its area divided by the product of mouth width and
 * depth. The letters are those of Zilianti 1995.
 */
export function funnelShape(fullness: number): FunnelShape {
  if (fullness < FULLNESS.y) return 'Y';
  return fullness > FULLNESS.u ? 'U' : 'V';
}

/** Returns the funnel depth as a percentage of the sum of funnel depth and closed length. */
export function percentFunnelling(depthMm: number, closedMm: number): number {
  return (100 * depthMm) / (depthMm + closedMm);
}
