import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { gradableEf } from '../lvef/measure.ts';
import type { Values } from '../shared/section.ts';

/** LVEF below which walls that all move normally are no likely answer. */
const REDUCED_EF = 45;

/**
 * The LVEF below 45 % that a score index of 1.00, every segment normal, contradicts; null where they
 * agree (echo 19, rule 4).
 */
export function discordantEf(values: Values, index: Measurement): Measurement | null {
  const ef = gradableEf(values);
  if (!ef || rounded(ef.value, 0) >= REDUCED_EF) return null;
  return rounded(index.value, 2) === 1 ? ef : null;
}
