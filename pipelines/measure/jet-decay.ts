import type { Wave } from './waves.ts';

export const JET_DECAY = {
  /** The part of the jet that decays: from its peak to this share of what follows. */
  part: 0.75,
  /** Seconds; a slope over less is none. */
  shortest: 0.12,
  /** The line must explain this share of the fall. */
  fit: 0.8,
} as const;

/** The straight fall of a regurgitant or stenotic jet. */
export interface JetDecay {
  /** On the line at the jet's peak, cm/s. */
  initial: number;
  /** On the line at the end of the jet, cm/s. */
  end: number;
  /** cm/s per second, positive for a fall. */
  slope: number;
  /** Columns between which the line was fitted. */
  from: number;
  to: number;
}

/**
 * The deceleration of a jet, by least squares. A jet that does not fall evenly (an incomplete
 * envelope) gives null.
 */
export function decayOf(
  curve: Float64Array,
  wave: Wave,
  secondsPerColumn: number,
): JetDecay | null {
  const from = wave.peak;
  const to = Math.round(from + JET_DECAY.part * (wave.to - from));
  const count = to - from + 1;
  if (count * secondsPerColumn < JET_DECAY.shortest) return null;
  const values = Array.from(curve.subarray(from, to + 1));
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const middle = (count - 1) / 2;
  let over = 0;
  let spread = 0;
  let total = 0;
  for (const [i, value] of values.entries()) {
    over += (i - middle) * (value - mean);
    spread += (i - middle) ** 2;
    total += (value - mean) ** 2;
  }
  const perColumn = over / spread;
  const explained = total > 0 ? (over * over) / (spread * total) : 0;
  if (perColumn >= 0 || explained < JET_DECAY.fit) return null;
  const at = (column: number) => mean + perColumn * (column - from - middle);
  return {
    initial: at(from),
    end: at(wave.to),
    slope: -perColumn / secondsPerColumn,
    from,
    to,
  };
}
