import { type ChamberAxis, directionsOf, onAxis } from './chamber-axis.ts';
import { chordLength, type Outline } from './outline.ts';

/** Discs of the summation (echo reference 4.2). */
export const DISCS = 20;

/**
 * Diameters of the discs, base first: across the long axis, each at the middle of its disc, in the
 * unit of the points.
 */
export function discDiameters(outline: Outline, axis: ChamberAxis, discs = DISCS): number[] {
  const { across } = directionsOf(axis);
  return Array.from({ length: discs }, (_, i) =>
    chordLength(outline, onAxis(axis, (i + 0.5) / discs), across),
  );
}
