import { earlierValues } from '../../obstetric/growth-since.ts';
import type { Result } from '../../result/envelope.ts';
import {
  DRAWN_CENTILES,
  type GrowthCurve,
  measuredOnCurve,
  pointsOnCurve,
} from '../growth-curve.ts';
import type { GrowthChart, GrowthCharts } from './overlay-contract.ts';

const DAYS_PER_WEEK = 7;

/** Digits that a curve is told with: more than any screen shows. */
const rounded = (value: number) => Number(value.toPrecision(6));

function chartOf(curve: GrowthCurve, result: Result, gaDays: number): GrowthChart[] {
  const measured = measuredOnCurve(curve, result.measurements);
  if (measured.length === 0) return [];
  const [chart, citation] = curve.source;
  const earlier = earlierValues(result).flatMap(({ ga_days: days, values }) =>
    values
      .filter(({ concept, chart: on }) => concept === curve.concept && on === curve.chart)
      .map(({ value }) => ({ weeks: days / DAYS_PER_WEEK, value })),
  );
  return [
    {
      concept: curve.concept,
      label: curve.label,
      unit: curve.unit,
      chart,
      citation,
      curves: DRAWN_CENTILES.map((centile) => ({
        centile,
        points: pointsOnCurve(curve, centile).map(({ week, value }): [number, number] => [
          rounded(week),
          rounded(value),
        ]),
      })),
      measured: measured.map(({ id, fetus, value, reference }) => ({
        measurement: id,
        fetus,
        weeks: gaDays / DAYS_PER_WEEK,
        value,
        centile: reference?.centile ?? null,
      })),
      earlier: earlier.toSorted((one, other) => one.weeks - other.weeks),
    },
  ];
}

/** The charts on which a value lies, the same as in `growth-chart.png`; null where none does. */
export function growthCharts(
  curves: readonly GrowthCurve[],
  result: Result,
  gaDays: number,
): GrowthCharts | null {
  const charts = curves.flatMap((curve) => chartOf(curve, result, gaDays));
  return charts.length > 0 ? { ga_days: gaDays, charts } : null;
}
