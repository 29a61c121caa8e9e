import { median } from '../statistics.ts';
import { flankLine, outlineOfWave, type Wave, type WaveOutline } from '../waves.ts';

export const FILLING = {
  /** Minimum height of a wave, as a share of the fastest wave. */
  height: 0.22,
  /** If the velocity at the start of A is above this, cm/s, E and A are fused (echo 10.2). */
  fused: 20,
  /** The straight part of E's falling flank, as shares of its peak. */
  deceleration: { low: 0.35, high: 0.9 },
  /**
   * The part of A's flanks that is extended to the baseline, as shares of its peak. Slow echoes hide
   * what is below it.
   */
  atrialFlank: { low: 0.45, high: 0.9 },
  /** Minimum distance of a peak from the end of the display, in seconds. */
  margin: 0.02,
  /** Maximum number of waves per beat that can be distinguished: E; E and A; or E, L and A. */
  mostPerBeat: 3,
  /**
   * Limits, in seconds, of the gap between A and the next E, from half height to half height. This
   * gap is systole. If two beats are mistaken for one, it lasts a whole beat and exceeds the
   * maximum.
   */
  systole: { shortest: 0.24, longest: 0.66 },
  /**
   * If a gap differs from the expected systole by this many seconds, it no longer resembles
   * systole, which varies by about as much between patients.
   */
  unlike: 0.12,
  /** If `certainty` is below this, E and A may have been confused. */
  certain: 0.3,
  /**
   * Maximum accepted difference between the heart rate of the waves and the one in the header, as a
   * share.
   */
  rate: 0.25,
} as const;

/** Diastolic filling in one beat: columns of the display, velocities in cm/s, times in seconds. */
export interface Filling {
  early: Wave;
  /** Null if there is only one wave per beat (atrial fibrillation, or E and A fused). */
  atrial: Wave | null;
  /**
   * Outlines of E and A down to the baseline, or one outline of both if these overlap. Empty if a
   * flank is missing.
   */
  outlines: WaveOutline[];
  /**
   * Seconds from the peak of E to the baseline, along the straight part of its falling flank. Null
   * if this part is too short.
   */
  decelerationTime: number | null;
  atrialDuration: number | null;
  /** Velocity in the valley before A, in cm/s. */
  atAtrialOnset: number | null;
}

interface Fillings {
  beats: Filling[];
  /** Seconds from E to E; null for a single beat. */
  period: number | null;
  /** How much more the gap taken as systole resembles systole than the other gap does, 0 to 1. */
  certainty: number;
  /** True if E and A may have been confused, or if two beats may have been mistaken for one. */
  doubtful: boolean;
}

/** Further information on a display that helps to distinguish systole from diastole. */
interface FillingContext {
  /**
   * Speed on the other side of the baseline in each column, cm/s. It shows the outflow, which
   * occurs in systole.
   */
  opposite?: Float64Array;
  /** From the header, beats per minute. */
  heartRate?: number | null;
}

/**
 * Returns the expected time without filling, in seconds, from half height of A to half height of E:
 * the ejection time of Weissler (1968: 413 - 1.7 HR ms), plus 0.12 s for both isovolumic phases and
 * 0.05 s for the halves of A and E.
 */
function systolicGap(beatsPerMinute: number): number {
  return 0.17 + 0.413 - 0.0017 * beatsPerMinute;
}

/**
 * Returns the number of waves per beat, n (1 to 3), with which the curve repeats best: each wave is
 * similar in height to the nth wave after it, and the distances between them are even.
 */
function wavesPerBeat(waves: readonly Wave[]): number {
  const scores = Array.from({ length: FILLING.mostPerBeat }, (_, i) => {
    const count = i + 1;
    const pairs = waves.slice(count).map((wave, k) => [waves[k], wave] as const);
    if (pairs.length === 0) return { count, score: Number.POSITIVE_INFINITY };
    const apart = pairs.map(([one, other]) => other.peak - (one?.peak ?? 0));
    const usual = median(apart);
    const uneven = apart.map((distance) => Math.abs(distance - usual) / usual);
    const unlike = pairs.map(
      ([one, other]) => Math.abs(other.height - (one?.height ?? 0)) / other.height,
    );
    return { count, score: median(uneven) + median(unlike) + 0.05 * i };
  });
  return scores.reduce((best, next) => (next.score < best.score ? next : best)).count;
}

/**
 * Returns the first column, in one direction from a peak, in which the curve falls below half the
 * peak.
 */
function halfHeight(curve: Float64Array, { peak, height }: Wave, step: 1 | -1): number {
  let at = peak;
  while (at + step >= 0 && at + step < curve.length && (curve[at] ?? 0) > height / 2) at += step;
  return at;
}

/**
 * Gap between two waves: the number of columns between their half heights, and the flow on the
 * other side in these columns.
 */
interface Gap {
  columns: number;
  opposite: number;
}

function gapBetween(
  curve: Float64Array,
  before: Wave,
  after: Wave,
  opposite: Float64Array | undefined,
): Gap {
  // The gap begins at half height, because slow echoes at the baseline hide the end of a wave.
  const from = halfHeight(curve, before, 1);
  const to = halfHeight(curve, after, -1);
  const inside = opposite ? Array.from(opposite.subarray(from, Math.max(from, to))) : [];
  const mean = inside.reduce((sum, one) => sum + one, 0) / Math.max(1, inside.length);
  return { columns: to - from, opposite: mean };
}

/**
 * Returns the index of the first wave of a beat. It is the wave after the gap that most resembles a
 * systole, judged by its length and by an outflow on the other side of the baseline.
 */
function firstOfBeat(
  curve: Float64Array,
  waves: readonly Wave[],
  count: number,
  secondsPerColumn: number,
  opposite: Float64Array | undefined,
) {
  const period =
    median(waves.slice(count).map((wave, i) => wave.peak - (waves[i]?.peak ?? 0))) *
    secondsPerColumn;
  const expected = systolicGap(60 / period);
  const gaps = waves.slice(1).map((wave, i) => gapBetween(curve, waves[i] as Wave, wave, opposite));
  const candidates = Array.from({ length: count }, (_, offset) => {
    const own = gaps.filter((_gap, i) => (i + 1) % count === offset);
    return own.length === 0
      ? null
      : {
          offset,
          seconds: median(own.map(({ columns }) => columns)) * secondsPerColumn,
          opposite: median(own.map((gap) => gap.opposite)),
        };
  }).filter((one) => one !== null);
  const fastest = Math.max(1, ...candidates.map((one) => one.opposite));
  const scored = candidates
    .map(({ offset, seconds, opposite: back }) => {
      const off = Math.abs(seconds - expected) / FILLING.unlike;
      return { offset, seconds, error: off + 1 - back / fastest + 0.1 };
    })
    .toSorted((a, b) => a.error - b.error);
  const [best, next] = scored;
  const { shortest, longest } = FILLING.systole;
  const plausible = best !== undefined && best.seconds >= shortest && best.seconds <= longest;
  const certainty = !best || !next ? 1 : (next.error - best.error) / (next.error + best.error);
  return { offset: best?.offset ?? 0, certainty: plausible ? certainty : 0, period };
}

function durationOf(curve: Float64Array, wave: Wave, secondsPerColumn: number): number | null {
  const rise = flankLine(curve, wave, 'rise', FILLING.atrialFlank);
  const fall = flankLine(curve, wave, 'fall', FILLING.atrialFlank);
  return rise && fall && (fall.zero - rise.zero) * secondsPerColumn;
}

/**
 * Returns one outline for two waves that overlap where they are extended to the baseline. In the
 * overlap, the higher of the two velocities is used, so that no flow is counted twice.
 */
function joinedOutline(one: WaveOutline, other: WaveOutline): WaveOutline {
  const start = Math.ceil(one.from);
  const length = Math.max(0, Math.floor(other.to) - start + 1);
  const offset = Math.ceil(other.from) - start;
  const values = Array.from({ length }, (_, i) =>
    Math.max(one.values[i] ?? 0, other.values[i - offset] ?? 0),
  );
  return { from: one.from, to: other.to, values };
}

function outlinesOf(curve: Float64Array, early: Wave, atrial: Wave | null): WaveOutline[] {
  const one = outlineOfWave(curve, early);
  if (!atrial) return one ? [one] : [];
  const other = outlineOfWave(curve, atrial);
  if (one && other) return one.to > other.from ? [joinedOutline(one, other)] : [one, other];
  // If E and A meet high above the baseline, the flanks between them are too short to extend.
  const both = early.to >= atrial.from ? outlineOfWave(curve, early, atrial) : null;
  return both ? [both] : [];
}

function toFilling(
  curve: Float64Array,
  early: Wave,
  atrial: Wave | null,
  secondsPerColumn: number,
): Filling {
  const fall = flankLine(curve, early, 'fall', FILLING.deceleration);
  return {
    early,
    atrial,
    outlines: outlinesOf(curve, early, atrial),
    decelerationTime: fall && (fall.zero - early.peak) * secondsPerColumn,
    atrialDuration: atrial && durationOf(curve, atrial, secondsPerColumn),
    atAtrialOnset: atrial && (curve[atrial.from] ?? 0),
  };
}

function contradictsRate(period: number, heartRate: number | null | undefined): boolean {
  return !!heartRate && Math.abs(period * (heartRate / 60) - 1) > FILLING.rate;
}

/**
 * Returns the ventricular filling on one side of a display (`traceDisplay`). If there are two
 * waves, E is the one after the systolic gap, even if it is the lower one.
 */
export function fillingsOf(
  curve: Float64Array,
  waves: readonly Wave[],
  secondsPerColumn: number,
  { opposite, heartRate }: FillingContext = {},
): Fillings {
  const highest = Math.max(0, ...waves.map(({ height }) => height));
  const margin = FILLING.margin / secondsPerColumn;
  const tall = waves.filter(
    ({ height, peak }) =>
      height >= FILLING.height * highest && peak >= margin && peak <= curve.length - 1 - margin,
  );
  const [only] = tall;
  if (!only) return { beats: [], period: null, certainty: 0, doubtful: true };
  const count = tall.length > 1 ? wavesPerBeat(tall) : 1;
  if (tall.length <= count) {
    const beats = count > 1 ? [] : [toFilling(curve, only, null, secondsPerColumn)];
    return { beats, period: null, certainty: 0, doubtful: true };
  }
  const { offset, certainty, period } = firstOfBeat(curve, tall, count, secondsPerColumn, opposite);
  const beats = tall.flatMap((early, i) => {
    if (i % count !== offset) return [];
    const atrial = count > 1 ? (tall[i + count - 1] ?? null) : null;
    return count > 1 && !atrial ? [] : [toFilling(curve, early, atrial, secondsPerColumn)];
  });
  const doubtful = (count > 1 && certainty < FILLING.certain) || contradictsRate(period, heartRate);
  return { beats, period, certainty, doubtful };
}
