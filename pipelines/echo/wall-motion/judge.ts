import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { gradableEf } from '../lvef/measure.ts';
import type { Contradiction } from '../shared/conclude.ts';
import { named, type Values } from '../shared/values.ts';

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
