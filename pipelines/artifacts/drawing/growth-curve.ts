import type { Measurement } from '../../result/envelope.ts';
import { countingValues } from '../../result/standing.ts';

export interface GrowthCurve {
  /** Key in the concept table, such as `hc`. */
  concept: string;
  /** Key of the chart. Only values that were placed on this chart are drawn. */
  chart: string;
  label: string;
  unit: string;
  /** Name of the chart and its citation, one line each. */
  source: readonly [string, string];
  fromWeek: number;
  toWeek: number;
  /**
   * Returns the value of a centile, in `unit`, at an exact age in weeks; null outside the range of
   * the chart.
   */
  valueAt(weeks: number, centile: number): number | null;
}

/** The median is drawn with a thicker line (obstetric 3.1). */
export const DRAWN_CENTILES = [3, 10, 50, 90, 97] as const;

const POINTS_PER_WEEK = 4;

/** Returns the points of one centile curve, over the weeks for which the chart has a value. */
export function pointsOnCurve(
  curve: GrowthCurve,
  centile: number,
): { week: number; value: number }[] {
  const count = Math.round((curve.toWeek - curve.fromWeek) * POINTS_PER_WEEK);
  return Array.from({ length: count + 1 }, (_, index) => {
    const week = curve.fromWeek + ((curve.toWeek - curve.fromWeek) * index) / count;
    return { week, value: curve.valueAt(week, centile) };
  }).flatMap(({ week, value }) => (value === null ? [] : [{ week, value }]));
}

/** Returns the accepted values of the curve's quantity that count and were placed on its chart. */
export function measuredOnCurve(
  curve: GrowthCurve,
  measurements: readonly Measurement[],
): Measurement[] {
  return countingValues(measurements).filter(
    ({ concept, quality, reference }) =>
      concept.key === curve.concept &&
      quality === 'accepted' &&
      reference?.centile != null &&
      reference.chart === curve.chart,
  );
}
