import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { LEFT_VENTRICLE } from '../lv-size/guideline.ts';
import { gradableEf } from '../lvef/measure.ts';
import { rangedSex } from '../shared/conclude.ts';
import type { EchoEvidence } from '../shared/section.ts';
import { named, type Values } from '../shared/values.ts';
import { GLS_LIMITS } from './guideline.ts';

/** Two values that do not fit together, as a statement (reference 19, rule 4). */
export interface Contradiction {
  text: string;
  between: readonly Measurement[];
}

/** Lower limit of a normal LVEF; where the sex is unknown that of both sexes. */
function normalFrom(evidence: EchoEvidence): number {
  const { male, female } = LEFT_VENTRICLE.ef;
  const sex = rangedSex(evidence);
  return sex ? LEFT_VENTRICLE.ef[sex].normal[0] : Math.max(male.normal[0], female.normal[0]);
}

/** A normal LVEF with a GLS less negative than -16 %. */
export function strainAgainstEf(
  evidence: EchoEvidence,
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

/** LVEF below which walls that all move normally are no likely answer. */
const REDUCED_EF = 45;

/** A score index of 1.00, every segment normal, with an LVEF below 45 %. */
export function scoresAgainstEf(values: Values, index: Measurement): Contradiction | null {
  const ef = gradableEf(values);
  if (!ef || rounded(ef.value, 0) >= REDUCED_EF || rounded(index.value, 2) !== 1) return null;
  return {
    text: `${named(index)} with ${named(ef)}: global dysfunction, or an error of the scores`,
    between: [index, ef],
  };
}
