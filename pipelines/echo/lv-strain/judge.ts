import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { LEFT_VENTRICLE } from '../lv-size/guideline.ts';
import { gradableEf } from '../lvef/measure.ts';
import { type PatientEvidence, rangedSex, type Values } from '../shared/section.ts';

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

/** Lower limit of a normal LVEF; where the sex is unknown that of both sexes. */
function normalFrom(evidence: PatientEvidence): number {
  const { male, female } = LEFT_VENTRICLE.ef;
  const sex = rangedSex(evidence);
  return sex ? LEFT_VENTRICLE.ef[sex].normal[0] : Math.max(male.normal[0], female.normal[0]);
}

/**
 * The normal LVEF that a GLS less negative than -16 % contradicts; null where they agree (echo
 * 19, rule 4).
 */
export function discordantEf(
  evidence: PatientEvidence,
  values: Values,
  strain: Measurement,
): Measurement | null {
  const ef = gradableEf(values);
  if (!ef || rounded(ef.value, 0) < normalFrom(evidence)) return null;
  return rounded(strain.value, 1) > GLS_LIMITS.abnormal ? ef : null;
}
