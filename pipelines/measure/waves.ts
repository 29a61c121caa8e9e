/**
 * One wave of a velocity curve. Positions are samples of the curve. Values are in the curve's unit.
 */
export interface Wave {
  /**
   * Samples at which the wave starts and ends: at the baseline, or where it meets the next wave.
   */
  from: number;
  to: number;
  peak: number;
  height: number;
  /**
   * True if the wave starts at the first sample or ends at the last one. Part of it is then
   * missing.
   */
  cut: boolean;
}

interface WaveLimits {
  /** Minimum height of a wave above the valleys on both sides. */
  prominence: number;
  /** Below this level, the curve counts as being at the baseline. */
  floor: number;
  /** Minimum number of samples in a wave. Shorter waves are clicks. */
  shortest: number;
}

/** Smooths a curve `times` times with the binomial mean (1-2-1). */
export function steadied(curve: ArrayLike<number>, times: number): Float64Array {
  let current = Float64Array.from(curve);
  for (let i = 0; i < times; i++) {
    current = current.map((value, at) => {
      const before = current[at - 1] ?? value;
      return (before + 2 * value + (current[at + 1] ?? value)) / 4;
    });
  }
  return current;
}

/** Returns the last sample at which the curve is highest between two samples. */
export function lastHighest(curve: ArrayLike<number>, from: number, to: number): number {
  let highest = from;
  for (let i = from; i <= to; i++) if ((curve[i] ?? 0) >= (curve[highest] ?? 0)) highest = i;
  return highest;
}

function lowestBetween(curve: ArrayLike<number>, from: number, to: number): number {
  let lowest = from;
  for (let i = from; i <= to; i++) if ((curve[i] ?? 0) < (curve[lowest] ?? 0)) lowest = i;
  return lowest;
}

/**
 * Returns the nearest sample to the peak, in one direction, at which the curve has fallen to the
 * floor.
 */
function descend(curve: ArrayLike<number>, peak: number, floor: number, step: 1 | -1): number {
  let at = peak;
  while (at + step >= 0 && at + step < curve.length && (curve[at] ?? 0) > floor) at += step;
  return at;
}

function prominentPeaks(curve: ArrayLike<number>, prominence: number): number[] {
  const peaks: number[] = [];
  let top = 0;
  let bottom = 0;
  let rising = true;
  for (let i = 1; i < curve.length; i++) {
    const value = curve[i] ?? 0;
    if (rising) {
      if (value >= (curve[top] ?? 0)) top = i;
      else if ((curve[top] ?? 0) - value >= prominence) {
        if ((curve[top] ?? 0) - (curve[bottom] ?? 0) >= prominence || top === 0) peaks.push(top);
        rising = false;
        bottom = i;
      }
    } else if (value <= (curve[bottom] ?? 0)) bottom = i;
    else if (value - (curve[bottom] ?? 0) >= prominence) {
      rising = true;
      top = i;
    }
  }
  if (rising && (curve[top] ?? 0) - (curve[bottom] ?? 0) >= prominence) peaks.push(top);
  return peaks;
}

/**
 * Returns the waves of a curve without negative values: its peaks, each from foot to foot. If two
 * waves meet above the floor, the valley between them is the end of one wave and the start of the
 * other.
 */
export function wavesOf(curve: ArrayLike<number>, limits: WaveLimits): Wave[] {
  const peaks = prominentPeaks(curve, limits.prominence);
  return peaks
    .map((peak, i): Wave => {
      const before = peaks[i - 1];
      const after = peaks[i + 1];
      const left = before === undefined ? 0 : lowestBetween(curve, before, peak);
      const right = after === undefined ? curve.length - 1 : lowestBetween(curve, peak, after);
      const from = Math.max(left, descend(curve, peak, limits.floor, -1));
      const to = Math.min(right, descend(curve, peak, limits.floor, 1));
      const cut =
        (from === 0 && (curve[0] ?? 0) > limits.floor) ||
        (to === curve.length - 1 && (curve[to] ?? 0) > limits.floor);
      return { from, to, peak, height: curve[peak] ?? 0, cut };
    })
    .filter(({ from, to }) => to - from >= limits.shortest);
}

/**
 * Part of a flank that is straight and above the clutter at the baseline, as shares of the height.
 */
const FLANK = { low: 0.3, high: 0.7 } as const;

/**
 * Fits a line by least squares to those samples of a flank that are between `share.low` and
 * `share.high` of the wave's height. If there are fewer than three, the flank is treated as
 * vertical at the first sample below `share.low`, or null is returned if there is no such sample.
 * Also null if the fitted line slopes the wrong way.
 */
export function flankLine(
  curve: ArrayLike<number>,
  { from, to, peak, height }: Wave,
  side: 'rise' | 'fall',
  share: { low: number; high: number } = FLANK,
): { zero: number; slope: number } | null {
  const step = side === 'rise' ? -1 : 1;
  const end = side === 'rise' ? from : to;
  const samples: number[] = [];
  let at = peak;
  for (; (end - at) * step >= 0 && (curve[at] ?? 0) >= share.low * height; at += step) {
    if ((curve[at] ?? 0) <= share.high * height) samples.push(at);
  }
  if (samples.length < 3) {
    const fell = (end - at) * step >= 0;
    return fell ? { zero: at, slope: -step * height } : null;
  }
  const mean = samples.reduce((sum, one) => sum + one, 0) / samples.length;
  const level = samples.reduce((sum, one) => sum + (curve[one] ?? 0), 0) / samples.length;
  const over = samples.reduce((sum, one) => sum + (one - mean) * ((curve[one] ?? 0) - level), 0);
  const slope = over / samples.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  return slope * step < 0 ? { zero: mean - level / slope, slope } : null;
}

export interface WaveOutline {
  /**
   * Fractional sample positions at which the wave meets the baseline. They are outside the curve if
   * the wave was cut off.
   */
  from: number;
  to: number;
  /** Values of the wave from `from` to `to`, one per whole sample. */
  values: number[];
}

/**
 * Extends a wave to the baseline. The slowest flow is hidden by the wall filter or widened by
 * clutter, so each flank is extended by a straight line, which replaces the curve near the baseline
 * where it is lower. Null if a flank is missing.
 *
 * @param last the last of several waves that meet above the baseline. The rise of `wave` and the
 *   fall of `last` are then extended.
 */
export function outlineOfWave(
  curve: ArrayLike<number>,
  wave: Wave,
  last: Wave = wave,
): WaveOutline | null {
  const rise = flankLine(curve, wave, 'rise');
  const fall = flankLine(curve, last, 'fall');
  if (!rise || !fall) return null;
  const ends = { from: wave.from, to: last.to };
  const from = Math.max(rise.zero, ends.from - (curve[ends.from] ?? 0) / rise.slope);
  const to = Math.min(fall.zero, ends.to - (curve[ends.to] ?? 0) / fall.slope);
  const start = Math.ceil(from);
  const values = Array.from({ length: Math.max(0, Math.floor(to) - start + 1) }, (_, i) => {
    const at = start + i;
    const seen = seenOf(curve, ends, at, from, to);
    if (at >= wave.peak && at < last.peak) return seen;
    const [flank, height] = at < wave.peak ? [rise, wave.height] : [fall, last.height];
    const line = Math.max(0, flank.slope * (at - flank.zero));
    // The line replaces the curve only near the baseline, below the straight part of the flank.
    return line < FLANK.low * height ? Math.min(seen, line) : seen;
  });
  return { from, to, values };
}

/**
 * Returns the curve within the wave. Beyond the ends of the wave, it continues in a straight line
 * to the baseline.
 */
function seenOf(
  curve: ArrayLike<number>,
  wave: Pick<Wave, 'from' | 'to'>,
  at: number,
  from: number,
  to: number,
): number {
  if (at < wave.from) return ((curve[wave.from] ?? 0) * (at - from)) / (wave.from - from);
  if (at > wave.to) return ((curve[wave.to] ?? 0) * (to - at)) / (to - wave.to);
  return curve[at] ?? 0;
}
