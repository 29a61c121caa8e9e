/** Mean and slow drift taken off: what is left swings about 0. `window` in samples. */
export function withoutDrift(series: readonly number[], window: number): Float64Array {
  const n = series.length;
  const half = Math.max(1, Math.floor(window / 2));
  const sums = new Float64Array(n + 1);
  for (let i = 0; i < n; i++) sums[i + 1] = (sums[i] ?? 0) + (series[i] ?? 0);
  return Float64Array.from(series, (value, i) => {
    // Near the ends the window stays centred by getting shorter, or a trend would bend there.
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

/** Autocovariance at the lags 0 to `maxLag`, each divided by the number of pairs. */
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

/** Where a parabola through a sample and its neighbours has its top, in samples from `at`. */
export function parabolicOffset(series: ArrayLike<number>, at: number): number {
  const before = series[at - 1];
  const here = series[at] ?? 0;
  const after = series[at + 1];
  if (before === undefined || after === undefined) return 0;
  const curvature = before - 2 * here + after;
  return curvature >= 0 ? 0 : Math.max(-0.5, Math.min(0.5, (before - after) / (2 * curvature)));
}

export interface Period {
  /** Samples, with a fraction. */
  lag: number;
  /** Normalised autocorrelation at that lag: 1 for a perfect repetition. */
  strength: number;
}

/** A shorter lag is the period where it is nearly as strong as the strongest, which is a multiple. */
const NEARLY = 0.82;
/** How near a multiple of the period its own peak is looked for, share of the period. */
const MULTIPLE_TOLERANCE = 0.15;

function isPeak(series: ArrayLike<number>, at: number): boolean {
  const here = series[at] ?? 0;
  return here >= (series[at - 1] ?? here) && here > (series[at + 1] ?? Number.NEGATIVE_INFINITY);
}

/**
 * The period of a series by its autocorrelation, between two lags; null where it has no peak there.
 * The lag is refined on its multiples, which lie further apart than the samples.
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
