export type CervixCategory = 'long' | 'normal' | 'short' | 'very-short' | 'extremely-short';

/**
 * Upper bounds in mm, each included: short at 25 (SMFM Consult 70, 2024; ISUOG 2022), very short at
 * 15 (FMF), extremely short at 10; from 30 on long.
 */
export const CERVIX_MM = { extremelyShort: 10, veryShort: 15, short: 25, long: 30 } as const;

/** At and below this length SMFM Consult 70 recommends to discuss vaginal progesterone, mm. */
export const PROGESTERONE_MM = 20;

/** Whole days between which the length of an asymptomatic woman is categorised: 16+0 to 24+0. */
export const CERVIX_CATEGORY_DAYS = { from: 16 * 7, to: 24 * 7 } as const;

/** By the closed (functional) length in mm (obstetric 10). */
export function cervixCategory(mm: number): CervixCategory {
  if (mm <= CERVIX_MM.extremelyShort) return 'extremely-short';
  if (mm <= CERVIX_MM.veryShort) return 'very-short';
  if (mm <= CERVIX_MM.short) return 'short';
  return mm >= CERVIX_MM.long ? 'long' : 'normal';
}

/** From this deviation of the canal on it is measured in two straight parts, mm. */
export const CURVED_MM = 5;

/** Membranes that protrude less into the internal os are no funnel, mm. */
export const FUNNEL_MM = 5;

export type FunnelShape = 'Y' | 'V' | 'U';

/** A triangle fills half of mouth times depth; these part it from the narrower and rounder shapes. */
const FULLNESS = { y: 0.43, u: 0.63 } as const;

/** Shape of a funnel by the share of mouth times depth that it fills (letters of Zilianti 1995). */
export function funnelShape(fullness: number): FunnelShape {
  if (fullness < FULLNESS.y) return 'Y';
  return fullness > FULLNESS.u ? 'U' : 'V';
}

/** Funnel depth as a share of depth and closed length, in per cent. */
export function percentFunnelling(depthMm: number, closedMm: number): number {
  return (100 * depthMm) / (depthMm + closedMm);
}
