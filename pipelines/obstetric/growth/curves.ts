import type { GrowthCurve } from '../../artifacts/drawing/growth-curve.ts';
import { CHARTS, type ChartKey, CONCEPTS } from '../../concepts/concepts.ts';
import { zOf } from '../../measure/statistics.ts';
import {
  INTERGROWTH_SIZE_WEEKS,
  INTERGROWTH_WEIGHT_2017,
  INTERGROWTH_WEIGHT_2020,
  intergrowthSizeAt,
  intergrowthWeightAt,
  type WeightStandard,
} from './charts.ts';

const sourceOf = (key: ChartKey) => [CHARTS[key].name, CHARTS[key].citation] as const;

function curve(
  concept: 'hc' | 'ac' | 'fl' | 'efw',
  chart: ChartKey,
  weeks: { from: number; to: number },
  valueAt: GrowthCurve['valueAt'],
): GrowthCurve {
  const { label, unit } = CONCEPTS[concept];
  const source = sourceOf(chart);
  return { concept, chart, label, unit, source, fromWeek: weeks.from, toWeek: weeks.to, valueAt };
}

const sizeCurve = (concept: 'hc' | 'ac' | 'fl') =>
  curve(concept, 'intergrowth-2014-size', INTERGROWTH_SIZE_WEEKS, (weeks, centile) =>
    intergrowthSizeAt(concept, weeks, zOf(centile)),
  );

/**
 * Builds the curve of a weight chart. It is valid only for weights by that chart's formula
 * (obstetric 16.5).
 */
const weightCurve = (chart: ChartKey, standard: WeightStandard) =>
  curve('efw', chart, standard.weeks, (weeks, centile) =>
    intergrowthWeightAt(standard, weeks, zOf(centile)),
  );

/** Charts of the growth section (obstetric 3.1 and 3.2), in the order in which they are drawn. */
export const INTERGROWTH_CURVES: readonly GrowthCurve[] = [
  sizeCurve('hc'),
  sizeCurve('ac'),
  sizeCurve('fl'),
  weightCurve('intergrowth-2020-efw', INTERGROWTH_WEIGHT_2020),
  weightCurve('intergrowth-2017-efw', INTERGROWTH_WEIGHT_2017),
];
