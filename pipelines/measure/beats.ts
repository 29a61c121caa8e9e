import { autocovariance, periodOf, withoutDrift } from './beats-period.ts';
import { median } from './statistics.ts';

/** What a curve over time must show before its beats are told apart. */
export const BEATS = {
  /** Plausible rates, beats per minute (obstetric reference 0.6; adults rest within it). */
  slowest: 40,
  fastest: 260,
  /** Autocorrelation at the period below which nothing repeats. */
  gate: 0.35,
  /** A rise counts as an upstroke from this share of the usual one. */
  upstroke: 0.45,
} as const;

/** One beat of a curve: samples from the foot of its upstroke to that of the next. */
export interface Beat {
  from: number;
  to: number;
}

export interface Beats {
  beats: Beat[];
  /** Of the median beat. */
  beatsPerMinute: number;
  /** Coefficient of variation of the lengths, 0 for a single beat. */
  variation: number;
  /** Autocorrelation at the period. */
  strength: number;
}

/** Rise over `reach` samples that ends at each sample. */
function rises(curve: ArrayLike<number>, reach: number): Float64Array {
  return Float64Array.from(
    { length: curve.length },
    (_, i) => (curve[i] ?? 0) - (curve[Math.max(0, i - reach)] ?? 0),
  );
}

/** Steepest rises, one per beat: no two nearer than six tenths of the period. */
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
  const usual = median(chosen.map((at) => rise[at] ?? 0));
  return chosen.filter((at) => (rise[at] ?? 0) >= BEATS.upstroke * usual).sort((a, b) => a - b);
}

/** The foot: where the line along the upstroke meets the level before it. */
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
 * The beats of a velocity curve with even samples: the period by autocorrelation, each beat from
 * foot to foot. Null where the curve does not repeat, or holds not one whole beat.
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
  const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  const squares = lengths.reduce((sum, length) => sum + (length - mean) ** 2, 0);
  return {
    beats,
    beatsPerMinute: 60 / (median(lengths) * secondsPerSample),
    variation: Math.sqrt(squares / lengths.length) / mean,
    strength: period.strength,
  };
}
