import type { Ejection } from '../measure/ejection.ts';
import type { SpectralTrace } from '../measure/spectral-trace.ts';
import type { ConceptKey } from '../result/concepts.ts';

/** A point of a display: column, and cm/s, positive above the baseline. */
export interface TracePoint {
  column: number;
  velocity: number;
}

/** One value of one beat, with what was measured for it. */
export interface BeatValue {
  value: number;
  /** Two points: a caliper; more: the trace. */
  points: readonly TracePoint[];
}

/** Values of one quantity, a beat each, in the unit of its concept. */
export interface FlowQuantity {
  key: ConceptKey;
  beats: readonly BeatValue[];
  note: string | null;
  /** Why the values cannot be relied on; absent where they can. */
  doubt?: string | null;
}

export const CENTIMETRES = 100;
export const MILLISECONDS = 1000;

/** cm/s, positive above the baseline. */
export const signed = (trace: SpectralTrace, velocity: number) =>
  trace.side === 'above' ? velocity : -velocity;

/** From the baseline to a peak. */
export function peakCaliper(trace: SpectralTrace, column: number, velocity: number): TracePoint[] {
  return [
    { column, velocity: 0 },
    { column, velocity: signed(trace, velocity) },
  ];
}

/** Peaks in m/s. */
export const peaksOf = (trace: SpectralTrace, ejections: readonly Ejection[]) =>
  ejections.map(({ peak, peakColumn }) => ({
    value: peak / CENTIMETRES,
    points: peakCaliper(trace, peakColumn, peak),
  }));

/** A trace from a column on, one value per column. */
export const outlinePoints = (trace: SpectralTrace, from: number, values: readonly number[]) =>
  values.map((velocity, i) => ({
    column: Math.ceil(from) + i,
    velocity: signed(trace, velocity),
  }));

/** m/s of cm/s. */
export const metres = (values: readonly number[]) => values.map((value) => value / CENTIMETRES);
