import type { GrowthCurve } from '../../artifacts/drawing/growth-curve.ts';
import { CHARTS, CONCEPTS } from '../../concepts/concepts.ts';
import { zOf } from '../../measure/statistics.ts';
import { type GrowthChart, sizeChart, WEIGHT_CHARTS } from './charts.ts';

function curve(concept: 'hc' | 'ac' | 'fl' | 'efw', { key, weeks, at }: GrowthChart): GrowthCurve {
  const { label, unit } = CONCEPTS[concept];
  const { name, citation } = CHARTS[key];
  return {
    concept,
    chart: key,
    label,
    unit,
    source: [name, citation],
    fromWeek: weeks.from,
    toWeek: weeks.to,
    valueAt: (week, centile) => at(week, zOf(centile)),
  };
}

/** Charts of the growth section (obstetric 3.1 and 3.2), in the order in which they are drawn. */
export const INTERGROWTH_CURVES: readonly GrowthCurve[] = [
  ...(['hc', 'ac', 'fl'] as const).map((concept) => curve(concept, sizeChart(concept))),
  ...Object.values(WEIGHT_CHARTS).map((chart) => curve('efw', chart)),
];
