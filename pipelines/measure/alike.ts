import { median } from './statistics.ts';

/** Of the median: a beat further from it is another one (ectopic, torn, or of a deep breath). */
const WITHIN = 0.15;

/** Mean of the values that are alike, and the indices of those; all of an irregular rhythm count. */
export function meanOfAlike(
  values: readonly number[],
  regular: boolean,
): { mean: number; used: number[] } {
  const usual = median(values);
  const used = values.flatMap((value, i) =>
    !regular || Math.abs(value - usual) <= WITHIN * Math.abs(usual) ? [i] : [],
  );
  const chosen = used.length > 0 ? used : [...values.keys()];
  const mean = chosen.reduce((sum, i) => sum + (values[i] ?? 0), 0) / chosen.length;
  return { mean, used: chosen };
}
