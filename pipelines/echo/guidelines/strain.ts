import { rounded } from '../formulas/rounding.ts';

/** More negative than `normal` is normal, less negative than `abnormal` abnormal (ST25). */
export const GLS_LIMITS = { normal: -18, abnormal: -16 } as const;

export type StrainBand = 'normal' | 'borderline' | 'abnormal';

/** Band of GLS, per cent with its sign (ST25; reference 8.2). */
export function strainBand(gls: number): StrainBand {
  const shown = rounded(gls, 1);
  if (shown < GLS_LIMITS.normal) return 'normal';
  return shown <= GLS_LIMITS.abnormal ? 'borderline' : 'abnormal';
}

/** GLS outside of these, per cent, is an error of tracking (reference 8.3). */
export const PLAUSIBLE_GLS = [-30, -5] as const;

/** Relative fall, per cent, above which subclinical cardiotoxicity is considered (CO22). */
export const CARDIOTOXIC_FALL = 15;

/** RELAPS from which relative apical sparing is suggested (PHE12). */
export const APICAL_SPARING = 1;
