import { median } from './statistics.ts';
import { flankLine, type Outline, outlineOfWave, type Wave } from './waves.ts';

export const FILLING = {
  /** Of the fastest wave. */
  height: 0.22,
  /** Velocity at the beginning of A above which E and A are fused, cm/s (echo reference 10.2). */
  fused: 20,
  /** The part of the fall of E that is straight, shares of its peak. */
  deceleration: { low: 0.35, high: 0.9 },
  /** Seconds from the end of the display that a peak must keep. */
  margin: 0.02,
  /** Wave counts per beat that can be told apart: E; E and A; E, L and A. */
  mostPerBeat: 3,
} as const;

/** Diastolic filling of one beat; columns of the display, velocities in cm/s, times in seconds. */
export interface Filling {
  early: Wave;
  /** Null: one wave per beat (atrial fibrillation, or E and A fused to one). */
  atrial: Wave | null;
  /** E and A down to the baseline; one that cannot be outlined is left out. */
  outlines: Outline[];
  /** From the peak of E along its fall to the baseline; null where the fall is too short. */
  decelerationTime: number | null;
  atrialDuration: number | null;
  /** Velocity in the valley before A. */
  atAtrialOnset: number | null;
}

export interface Fillings {
  beats: Filling[];
  /** Seconds from E to E; null for a single beat. */
  period: number | null;
  /** 0 to 1: how much better the chosen gap is systole than the other one. */
  certainty: number;
}

/**
 * Seconds without filling, from the end of A to the beginning of E: the ejection time of Weissler
 * (1968: 413 - 1.7 HR ms) with 0.12 s for both isovolumic phases.
 */
export function systolicGap(beatsPerMinute: number): number {
  return 0.12 + 0.413 - 0.0017 * beatsPerMinute;
}

/** How many waves after one its next like comes, by the evenness of those distances. */
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

/** Index of the first wave of a beat, so that the gap before it is likest to a systole. */
function firstOfBeat(waves: readonly Wave[], count: number, secondsPerColumn: number) {
  const period =
    median(waves.slice(count).map((wave, i) => wave.peak - (waves[i]?.peak ?? 0))) *
    secondsPerColumn;
  const expected = systolicGap(60 / period);
  const errors = Array.from({ length: count }, (_, offset) => {
    const gaps = waves.flatMap((wave, i) => {
      const before = waves[i - 1];
      return before && i % count === offset ? [(wave.from - before.to) * secondsPerColumn] : [];
    });
    return gaps.length > 0 ? Math.abs(median(gaps) - expected) : Number.POSITIVE_INFINITY;
  });
  const sorted = errors.toSorted((a, b) => a - b);
  const [best = 0, next] = sorted;
  const certainty =
    next === undefined || next === Number.POSITIVE_INFINITY ? 1 : (next - best) / (next + best);
  return { offset: errors.indexOf(best), certainty, period };
}

function toFilling(
  curve: Float64Array,
  early: Wave,
  atrial: Wave | null,
  secondsPerColumn: number,
): Filling {
  const fall = flankLine(curve, early, 'fall', FILLING.deceleration);
  const a = atrial && outlineOfWave(curve, atrial);
  return {
    early,
    atrial,
    outlines: [outlineOfWave(curve, early), a].filter((outline) => outline !== null),
    decelerationTime: fall && (fall.zero - early.peak) * secondsPerColumn,
    atrialDuration: a && (a.to - a.from) * secondsPerColumn,
    atAtrialOnset: atrial && (curve[atrial.from] ?? 0),
  };
}

/**
 * The fillings of a ventricle on one side of a display (`traceDisplay`). Which of two waves is E is
 * told by the gap before it, which is systole.
 */
export function fillingsOf(
  curve: Float64Array,
  waves: readonly Wave[],
  secondsPerColumn: number,
): Fillings {
  const highest = Math.max(0, ...waves.map(({ height }) => height));
  const margin = FILLING.margin / secondsPerColumn;
  const tall = waves.filter(
    ({ height, peak }) =>
      height >= FILLING.height * highest && peak >= margin && peak <= curve.length - 1 - margin,
  );
  const [only] = tall;
  if (!only) return { beats: [], period: null, certainty: 0 };
  const count = tall.length > 1 ? wavesPerBeat(tall) : 1;
  if (tall.length <= count) {
    const beats = [toFilling(curve, only, tall[count - 1] ?? null, secondsPerColumn)];
    return { beats: count > 1 || tall.length > 1 ? [] : beats, period: null, certainty: 0 };
  }
  const { offset, certainty, period } = firstOfBeat(tall, count, secondsPerColumn);
  const beats = tall.flatMap((early, i) => {
    if (i % count !== offset) return [];
    const atrial = count > 1 ? (tall[i + count - 1] ?? null) : null;
    return count > 1 && !atrial ? [] : [toFilling(curve, early, atrial, secondsPerColumn)];
  });
  return { beats, period, certainty };
}
