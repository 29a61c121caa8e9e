import { median } from './statistics.ts';
import type { Wave } from './waves.ts';

export const VEIN = {
  /** Reversal of the atrial contraction, share of the fastest forward flow. */
  reversal: 0.15,
  /** Without one, the pause before S is so many times that between S and D. */
  pause: 2,
} as const;

export interface VeinBeat {
  s: Wave;
  d: Wave;
}

/**
 * Forward flow of a pulmonary vein: S, then D; between D and the next S the atrium contracts and the
 * vein flows back, or pauses. Empty where neither tells S from D.
 */
export function veinBeats(forward: readonly Wave[], back: readonly Wave[]): VeinBeat[] {
  const whole = forward.filter(({ cut }) => !cut);
  const fastest = Math.max(0, ...whole.map(({ height }) => height));
  const reversals = back.filter(({ height }) => height >= VEIN.reversal * fastest);
  const pairs = whole.slice(1).map((d, i) => ({ s: whole[i] as Wave, d }));
  if (reversals.length > 0) {
    return pairs.filter(
      ({ s, d }) =>
        !reversals.some(({ peak }) => peak > s.peak && peak < d.peak) &&
        reversals.some(({ peak }) => peak > d.peak || peak < s.peak),
    );
  }
  const gaps = pairs.map(({ s, d }) => d.from - s.to);
  const [even, odd] = [0, 1].map((parity) => median(gaps.filter((_, i) => i % 2 === parity))) as [
    number,
    number,
  ];
  if (Number.isNaN(even) || Number.isNaN(odd)) return [];
  const parity = even < odd ? 0 : 1;
  const [short, long] = parity === 0 ? [even, odd] : [odd, even];
  if (long < VEIN.pause * Math.max(1, short)) return [];
  return pairs.filter((_, i) => i % 2 === parity);
}
