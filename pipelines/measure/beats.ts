import { median, variationOf } from './statistics.ts';

/**
 * Subtracts the mean and slow drift from a series, so that it oscillates around 0. `window` is in
 * samples.
 */
export function withoutDrift(series: readonly number[], window: number): Float64Array {
  const n = series.length;
  const half = Math.max(1, Math.floor(window / 2));
  const sums = new Float64Array(n + 1);
  for (let i = 0; i < n; i++) sums[i + 1] = (sums[i] ?? 0) + (series[i] ?? 0);
  return Float64Array.from(series, (value, i) => {
    // Towards the ends, the window is shortened to stay centred, so that a trend is not distorted.
    // In the last quarter window, too few values would remain, so the window is cut off instead.
    const reach = Math.min(half, i, n - 1 - i);
    const total = (sums[i + reach + 1] ?? 0) - (sums[i - reach] ?? 0);
    return reach < half / 2 ? value - endMean(sums, i, half, n) : value - total / (2 * reach + 1);
  });
}

function endMean(sums: Float64Array, i: number, half: number, n: number): number {
  const from = Math.max(0, i - half);
  const to = Math.min(n - 1, i + half);
  return ((sums[to + 1] ?? 0) - (sums[from] ?? 0)) / (to - from + 1);
}

/**
 * Returns the autocovariance at lags from 0 to `maxLag`, each divided by the number of sample
 * pairs.
 */
export function autocovariance(series: ArrayLike<number>, maxLag: number): Float64Array {
  const n = series.length;
  const result = new Float64Array(maxLag + 1);
  for (let lag = 0; lag <= maxLag && lag < n; lag++) {
    let sum = 0;
    for (let i = lag; i < n; i++) sum += (series[i] ?? 0) * (series[i - lag] ?? 0);
    result[lag] = sum / (n - lag);
  }
  return result;
}

/** Returns the sum of several results of `autocovariance`, at lags from 0 to `maxLag`. */
export function summed(covariances: readonly Float64Array[], maxLag: number): Float64Array {
  const sum = new Float64Array(maxLag + 1);
  for (const covariance of covariances) {
    for (let lag = 0; lag <= maxLag; lag++) sum[lag] = (sum[lag] ?? 0) + (covariance[lag] ?? 0);
  }
  return sum;
}

/**
 * Returns the vertex of the parabola through a sample and its two neighbours, as an offset from
 * `at` in samples.
 */
function parabolicOffset(series: ArrayLike<number>, at: number): number {
  const before = series[at - 1];
  const here = series[at] ?? 0;
  const after = series[at + 1];
  if (before === undefined || after === undefined) return 0;
  const curvature = before - 2 * here + after;
  return curvature >= 0 ? 0 : Math.max(-0.5, Math.min(0.5, (before - after) / (2 * curvature)));
}

interface Period {
  /** In samples; it may be fractional. */
  lag: number;
  /** Normalised autocorrelation at this lag; 1 means a perfect repetition. */
  strength: number;
}

/**
 * The first peak of the autocorrelation that has at least this share of the highest peak counts as
 * the period. The highest peak may be at a multiple of the period.
 */
const NEARLY = 0.82;
/** Width of the search range on each side of a multiple of the period, as a share of the period. */
const MULTIPLE_TOLERANCE = 0.15;

function isPeak(series: ArrayLike<number>, at: number): boolean {
  const here = series[at] ?? 0;
  return here >= (series[at - 1] ?? here) && here > (series[at + 1] ?? Number.NEGATIVE_INFINITY);
}

/**
 * Returns the period of a series. It is found by autocorrelation between two lags, and refined at
 * its multiples, where an error of one sample matters less. Null if the autocorrelation has no peak
 * between the lags.
 */
export function periodOf(covariance: ArrayLike<number>, from: number, to: number): Period | null {
  const power = covariance[0] ?? 0;
  if (power <= 0) return null;
  const peaks: number[] = [];
  const last = Math.min(to, covariance.length - 2);
  for (let lag = Math.max(2, from); lag <= last; lag++)
    if (isPeak(covariance, lag)) peaks.push(lag);
  const best = Math.max(0, ...peaks.map((lag) => covariance[lag] ?? 0));
  const first = peaks.find((lag) => (covariance[lag] ?? 0) >= NEARLY * best);
  if (first === undefined || best <= 0) return null;
  let lag = first + parabolicOffset(covariance, first);
  for (let times = 2; ; times++) {
    const expected = Math.round(times * lag);
    const reach = Math.max(1, Math.floor(MULTIPLE_TOLERANCE * lag));
    if (expected + reach >= covariance.length - 1) break;
    let top = expected;
    for (let k = expected - reach; k <= expected + reach; k++) {
      if ((covariance[k] ?? 0) > (covariance[top] ?? 0)) top = k;
    }
    if (!isPeak(covariance, top) || (covariance[top] ?? 0) < best / 3) break;
    lag = (top + parabolicOffset(covariance, top)) / times;
  }
  return { lag, strength: (covariance[first] ?? 0) / power };
}

/** Minimum width in columns of an erase bar. */
const ERASE_BAR = 3;

/**
 * Returns the first and last column of the part of a display that shows continuous time; null if
 * nothing is written. A display that is refreshed in place has an erase bar between its newest and
 * its oldest column. A beat across the bar would have a false length, so only the longer part is
 * returned. Several gaps cannot be an erase bar; everything written is then returned.
 */
export function continuousColumns(written: readonly boolean[]): [number, number] | null {
  const first = written.indexOf(true);
  if (first < 0) return null;
  const last = written.lastIndexOf(true);
  const gaps: [number, number][] = [];
  for (let from = first; from <= last; from++) {
    if (written[from]) continue;
    const to = written.indexOf(true, from) - 1;
    if (to - from + 1 >= ERASE_BAR) gaps.push([from, to]);
    from = to;
  }
  const [bar] = gaps;
  if (!bar || gaps.length > 1) return [first, last];
  return bar[0] - first >= last - bar[1] ? [first, bar[0] - 1] : [bar[1] + 1, last];
}

/**
 * Minimum length of a recording that can show that a heart does not beat: the time for `beats`
 * beats at `rate` per minute. A fetal heart below this rate is slow at any age (obstetric 5.4). On
 * a shorter recording, a slow heart cannot be distinguished from one that does not beat.
 */
const SILENCE = { rate: 90, beats: 2.5 } as const;

/** Returns true if a recording without a beat is too short to prove anything. */
export const tooShortForSilence = (seconds: number): boolean =>
  (seconds * SILENCE.rate) / 60 < SILENCE.beats;

const BEATS = {
  /**
   * Plausible heart rates, beats per minute (obstetric 0.6; adult resting rates are within this
   * range).
   */
  slowest: 40,
  fastest: 260,
  /** Minimum autocorrelation at the period. Below it, the curve is treated as not periodic. */
  gate: 0.35,
  /** Minimum rise of an upstroke, as a share of the strongest rise in the curve. */
  upstroke: 0.45,
} as const;

/**
 * One beat of a curve: the samples at the foot of its upstroke and at the foot of the next
 * upstroke.
 */
export interface Beat {
  from: number;
  to: number;
}

interface Beats {
  beats: Beat[];
  /** Heart rate, from the median beat length. */
  beatsPerMinute: number;
  /** Coefficient of variation of the beat lengths; 0 for a single beat. */
  variation: number;
  /** Autocorrelation at the period. */
  strength: number;
}

function rises(curve: ArrayLike<number>, reach: number): Float64Array {
  return Float64Array.from(
    { length: curve.length },
    (_, i) => (curve[i] ?? 0) - (curve[Math.max(0, i - reach)] ?? 0),
  );
}

/**
 * Returns the sample at the steepest rise of each beat. Any two of these samples are more than six
 * tenths of the period apart.
 */
function upstrokes(curve: ArrayLike<number>, lag: number): number[] {
  const reach = Math.max(2, Math.round(0.12 * lag));
  const rise = rises(curve, reach);
  const apart = 0.6 * lag;
  const order = Array.from(rise.keys()).toSorted((a, b) => (rise[b] ?? 0) - (rise[a] ?? 0));
  const chosen: number[] = [];
  const strongest = rise[order[0] ?? 0] ?? 0;
  for (const at of order) {
    if ((rise[at] ?? 0) < BEATS.upstroke * strongest) break;
    if (chosen.every((other) => Math.abs(other - at) > apart)) chosen.push(at);
  }
  return chosen.sort((a, b) => a - b);
}

/**
 * Returns the foot of an upstroke: the point where the line along the upstroke meets the level
 * before it. Null if the upstroke is too close to the start of the curve.
 */
function footBefore(curve: ArrayLike<number>, upstroke: number, lag: number): number | null {
  const reach = Math.max(3, Math.round(0.3 * lag));
  const from = upstroke - reach;
  if (from < 0) return null;
  let lowest = from;
  for (let i = from; i <= upstroke; i++) {
    if ((curve[i] ?? 0) <= (curve[lowest] ?? 0)) lowest = i;
  }
  let steepest = lowest + 1;
  for (let i = lowest + 1; i <= upstroke; i++) {
    const slope = (curve[i] ?? 0) - (curve[i - 1] ?? 0);
    if (slope > (curve[steepest] ?? 0) - (curve[steepest - 1] ?? 0)) steepest = i;
  }
  const slope = (curve[steepest] ?? 0) - (curve[steepest - 1] ?? 0);
  if (slope <= 0) return lowest;
  const meets = steepest - ((curve[steepest] ?? 0) - (curve[lowest] ?? 0)) / slope;
  return Math.max(lowest, Math.min(upstroke, Math.round(meets)));
}

/**
 * Returns the beats of an evenly sampled velocity curve, each from one foot to the next. The period
 * is found by autocorrelation. Null if the curve is not periodic or contains no whole beat.
 */
export function beatsOf(curve: ArrayLike<number>, secondsPerSample: number): Beats | null {
  const slowest = 60 / BEATS.slowest / secondsPerSample;
  const longest = Math.min(Math.floor((3 * curve.length) / 4), Math.ceil(3 * slowest));
  const level = withoutDrift(Array.from(curve), Math.round(slowest));
  const period = periodOf(
    autocovariance(level, longest),
    Math.ceil(60 / BEATS.fastest / secondsPerSample),
    Math.floor(Math.min(slowest, longest)),
  );
  if (!period || period.strength < BEATS.gate) return null;
  const feet = upstrokes(curve, period.lag).flatMap(
    (upstroke) => footBefore(curve, upstroke, period.lag) ?? [],
  );
  const beats = feet.slice(1).map((to, i): Beat => ({ from: feet[i] ?? 0, to }));
  if (beats.length === 0) return null;
  const lengths = beats.map(({ from, to }) => to - from);
  return {
    beats,
    beatsPerMinute: 60 / (median(lengths) * secondsPerSample),
    variation: variationOf(lengths),
    strength: period.strength,
  };
}
