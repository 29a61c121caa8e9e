import type { Side } from './envelope.ts';
import type { Spectrum } from './spectrum.ts';

/** A velocity curve as it lies on the stored frame, pixel-centre coordinates. */
export interface DrawnTrace {
  side: Side;
  /** Row of velocity zero. */
  baselineRow: number;
  /** One for each column of the display. */
  points: readonly [x: number, y: number][];
  /** Columns of the frame that mark the beats. */
  beats: readonly number[];
}

type Placed = Pick<Spectrum, 'left' | 'top' | 'zeroRow' | 'velocityPerRow'>;

const tenth = (value: number) => Math.round(10 * value) / 10;

/**
 * Lays a curve back onto its frame.
 * @param curve cm/s by column of the display, positive away from the baseline towards `side`.
 * @param beats columns of the display.
 */
export function drawnTrace(
  curve: Float64Array,
  side: Side,
  { left, top, zeroRow, velocityPerRow }: Placed,
  beats: readonly number[],
): DrawnTrace {
  const upwards = side === 'above' ? -1 : 1;
  return {
    side,
    baselineRow: tenth(top + zeroRow),
    points: Array.from(curve, (velocity, column): [number, number] => [
      left + column,
      tenth(top + zeroRow + (upwards * velocity) / velocityPerRow),
    ]),
    beats: beats.map((column) => left + column),
  };
}
