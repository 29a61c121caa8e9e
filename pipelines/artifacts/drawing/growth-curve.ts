import type { Measurement } from '../../result/envelope.ts';
import { countingValues } from '../../result/standing.ts';

/** A centile chart of the growth section, for drawing. */
export interface GrowthCurve {
  /** Key of the concept table, `hc`. */
  concept: string;
  /** Key of the chart: only values that were read against it are drawn on it. */
  chart: string;
  label: string;
  unit: string;
  /** Name of the chart and its citation, on one line each. */
  source: readonly [string, string];
  fromWeek: number;
  toWeek: number;
  /** Value in `unit` at an exact age in weeks; null outside the chart. */
  valueAt(weeks: number, centile: number): number | null;
}

/** Centiles drawn, the median thick (obstetric 3.1). */
export const DRAWN_CENTILES = [3, 10, 50, 90, 97] as const;

const POINTS_PER_WEEK = 4;

/** A centile over the weeks of its chart, where the chart has a value. */
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

/** The accepted values of the curve's quantity that were read against its chart, one per fetus. */
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
