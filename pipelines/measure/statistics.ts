/**
 * Returns the middle value, or the mean of the two middle values if the number of values is even.
 * NaN if there are no values.
 */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[sorted.length >> 1] ?? Number.NaN;
  const lower = sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** Returns the mean; NaN if there are no values. */
export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export const meanOrNull = (values: readonly number[]): number | null =>
  values.length > 0 ? mean(values) : null;

/** Returns true if a value is in a range, both ends included. */
export const isWithin = (value: number, [low, high]: readonly [number, number]): boolean =>
  value >= low && value <= high;

/** Returns the probability of each class: the softmax at a temperature (Guo 2017). */
export function softmax(logits: readonly number[], temperature: number): number[] {
  const highest = Math.max(...logits);
  const weights = logits.map((logit) => Math.exp((logit - highest) / temperature));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);
}

/**
 * Coefficients of Hart 1968, algorithm 5666, as given by West 2005 (Wilmott Magazine, May 2005).
 */
const HART_NUMERATOR = [
  3.52624965998911e-2, 0.700383064443688, 6.37396220353165, 33.912866078383, 112.079291497871,
  221.213596169931, 220.206867912376,
];
const HART_DENOMINATOR = [
  8.83883476483184e-2, 1.75566716318264, 16.064177579207, 86.7807322029461, 296.564248779674,
  637.333633378831, 793.826512519948, 440.413735824752,
];
const HART_LIMIT = 7.07106781186547;
const TAIL_TERMS = 5;

/** Returns the standard normal distribution function, with an absolute error below 1e-14. */
export function normalCdf(z: number): number {
  const x = Math.abs(z);
  const density = Math.exp((-x * x) / 2);
  let tail: number;
  if (x < HART_LIMIT) {
    tail = (density * polynomial(HART_NUMERATOR, x)) / polynomial(HART_DENOMINATOR, x);
  } else {
    let fraction = x + 0.65;
    for (let term = TAIL_TERMS - 1; term >= 1; term -= 1) fraction = x + term / fraction;
    tail = density / (fraction * Math.sqrt(2 * Math.PI));
  }
  return z > 0 ? 1 - tail : tail;
}

/**
 * Coefficients of Acklam's rational approximation of the inverse normal distribution function. Its
 * relative error is below 1.2e-9.
 */
const ACKLAM_A = [
  -39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716,
  2.506628277459239,
];
const ACKLAM_B = [
  -54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572,
  1,
];
const ACKLAM_C = [
  -0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734,
  4.374664141464968, 2.938163982698783,
];
const ACKLAM_D = [
  0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416, 1,
];
const ACKLAM_TAIL = 0.02425;

function acklam(p: number): number {
  if (p > 1 - ACKLAM_TAIL) return -acklam(1 - p);
  if (p < ACKLAM_TAIL) {
    const q = Math.sqrt(-2 * Math.log(p));
    return polynomial(ACKLAM_C, q) / polynomial(ACKLAM_D, q);
  }
  const q = p - 0.5;
  return (q * polynomial(ACKLAM_A, q * q)) / polynomial(ACKLAM_B, q * q);
}

/**
 * Returns the inverse of `normalCdf`, by Acklam's approximation and one Halley step (obstetric
 * 16.1). It is NaN outside 0 to 1, and infinite at both ends.
 */
export function normalQuantile(p: number): number {
  if (!(p >= 0 && p <= 1)) return Number.NaN;
  if (p === 0) return Number.NEGATIVE_INFINITY;
  if (p === 1) return Number.POSITIVE_INFINITY;
  const z = acklam(p);
  const step = (normalCdf(z) - p) * Math.sqrt(2 * Math.PI) * Math.exp((z * z) / 2);
  return z - step / (1 + (z * step) / 2);
}

/** Returns the centile (0 to 100) for a z-score. */
export function centileOf(z: number): number {
  return 100 * normalCdf(z);
}

/** Returns the z-score for a centile (0 to 100). */
export function zOf(centile: number): number {
  return normalQuantile(centile / 100);
}

/**
 * Maximum difference from the median, as a share of the median, at which a beat counts as similar
 * to the others. A beat that differs more is not comparable: it may be ectopic, have a damaged
 * trace, or come from a deep breath.
 */
const WITHIN = 0.15;

/**
 * Returns the mean of the similar values, and their indices. In an irregular rhythm, or if no value
 * is similar to the median, all values are included.
 */
export function meanOfSimilar(
  values: readonly number[],
  regular: boolean,
): { mean: number; used: number[] } {
  const usual = median(values);
  const used = values.flatMap((value, i) =>
    !regular || Math.abs(value - usual) <= WITHIN * Math.abs(usual) ? [i] : [],
  );
  const chosen = used.length > 0 ? used : [...values.keys()];
  return { mean: mean(chosen.map((i) => values[i] ?? 0)), used: chosen };
}

export interface BeatMean {
  value: number;
  /** The minimum and maximum of contradicting values; null if the values agree. */
  contradicting: readonly [least: number, greatest: number] | null;
}

/**
 * Beats contradict each other if the range of their values is above this share of their mean. The
 * volumes and areas of a heart vary from beat to beat by a fifth in sinus rhythm and by up to a
 * half in atrial fibrillation. A larger range means that an outline failed.
 */
const CONTRADICTION = 0.5;

/**
 * Returns the mean over beats; null if there is no beat. Beats contradict each other if they have
 * opposite signs (one chamber shrinks, the other grows), or if they differ by more than half of
 * their mean. The mean of such beats describes none of them and must not be used.
 *
 * @param noise beats that differ by at most this much never contradict each other.
 */
export function meanOfBeats(values: readonly number[], noise = 0): BeatMean | null {
  if (values.length === 0) return null;
  const value = mean(values);
  const [least, greatest] = [Math.min(...values), Math.max(...values)];
  const opposite = least < 0 && greatest > 0;
  const range = greatest - least;
  const apart = range > CONTRADICTION * Math.abs(value) + 1e-9;
  const contradict = range > noise && (opposite || apart);
  return { value, contradicting: contradict ? [least, greatest] : null };
}

/** Returns the standard error of the mean, as a share of the mean; 0 for a single value. */
export function standardError(values: readonly number[]): number {
  const count = values.length;
  if (count < 2) return 0;
  const middle = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return Math.sqrt(squares / (count - 1) / count) / Math.abs(middle);
}

/** Returns the coefficient of variation: the standard deviation as a share of the mean. */
export function variationOf(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2))) / middle;
}

/** Coefficient of variation of the intervals above which a rhythm counts as irregular. */
const IRREGULAR = 0.1;

/** Returns true if points in time are evenly spaced. Null for fewer than three points. */
export function isRegular(places: readonly number[]): boolean | null {
  if (places.length < 3) return null;
  const intervals = places.slice(1).map((place, i) => place - (places[i] ?? 0));
  return variationOf(intervals) <= IRREGULAR;
}
