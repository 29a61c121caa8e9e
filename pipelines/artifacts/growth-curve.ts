import type { Measurement } from '../result/envelope.ts';

/** A centile chart as the growth section uses it, for drawing. */
export interface GrowthCurve {
  /** Key of the concept table, `hc`. */
  concept: string;
  label: string;
  unit: string;
  /** Name and citation of the chart. */
  source: string;
  fromWeek: number;
  toWeek: number;
  /** Value in `unit` at an exact age in weeks; null outside the chart. */
  valueAt(weeks: number, centile: number): number | null;
}

/** Centiles drawn, the median thick (obstetric reference 3.1). */
export const DRAWN_CENTILES = [3, 10, 50, 90, 97] as const;

/** Accepted measurements of the curve's quantity that were read against a chart. */
export function measuredOnCurve(
  curve: GrowthCurve,
  measurements: readonly Measurement[],
): Measurement[] {
  const read = measurements.filter(
    ({ concept, quality, reference }) =>
      concept.key === curve.concept && quality === 'accepted' && reference?.centile != null,
  );
  // Of repeated measurements the chart shows the value that stands for them, which comes last.
  return [...new Map(read.map((measurement) => [measurement.fetus, measurement])).values()];
}
