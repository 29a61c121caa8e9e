import { rounded } from '../../measure/rounding.ts';

/** More negative than `normal` is normal, less negative than `abnormal` abnormal (ST25). */
export const GLS_LIMITS = { normal: -18, abnormal: -16 } as const;

export type StrainBand = 'normal' | 'borderline' | 'abnormal';

/** Band of GLS, per cent with its sign (ST25; echo 8.2). */
export function strainBand(gls: number): StrainBand {
  const shown = rounded(gls, 1);
  if (shown < GLS_LIMITS.normal) return 'normal';
  return shown <= GLS_LIMITS.abnormal ? 'borderline' : 'abnormal';
}

/** RELAPS from which relative apical sparing is suggested (PHE12). */
export const APICAL_SPARING = 1;
