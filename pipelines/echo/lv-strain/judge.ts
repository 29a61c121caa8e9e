import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { LEFT_VENTRICLE } from '../lv-size/guideline.ts';
import { gradableEf } from '../lvef/measure.ts';
import { type Contradiction, rangedSex } from '../shared/conclude.ts';
import type { PatientEvidence } from '../shared/section.ts';
import { named, type Values } from '../shared/values.ts';
import { GLS_LIMITS } from './guideline.ts';

/** Lower limit of a normal LVEF; where the sex is unknown that of both sexes. */
function normalFrom(evidence: PatientEvidence): number {
  const { male, female } = LEFT_VENTRICLE.ef;
  const sex = rangedSex(evidence);
  return sex ? LEFT_VENTRICLE.ef[sex].normal[0] : Math.max(male.normal[0], female.normal[0]);
}

/** A normal LVEF with a GLS less negative than -16 %. */
export function strainAgainstEf(
  evidence: PatientEvidence,
  values: Values,
  strain: Measurement,
): Contradiction | null {
  const ef = gradableEf(values);
  if (!ef || rounded(ef.value, 0) < normalFrom(evidence)) return null;
  if (rounded(strain.value, 1) <= GLS_LIMITS.abnormal) return null;
  return {
    text: `${named(ef)} is normal and ${named(strain)} is reduced: the two are discordant`,
    between: [ef, strain],
  };
}
