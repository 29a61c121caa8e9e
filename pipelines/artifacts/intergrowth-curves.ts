import { zOf } from '../measure/statistics.ts';
import { INTERGROWTH_SIZE_WEEKS, intergrowthSizeAt } from '../obstetric/charts/intergrowth-size.ts';
import {
  INTERGROWTH_WEIGHT_2020,
  intergrowthWeightAt,
} from '../obstetric/charts/intergrowth-weight.ts';
import { CHARTS, type ChartKey, CONCEPTS } from '../result/concepts.ts';
import type { GrowthCurve } from './growth-curve.ts';

const sourceOf = (key: ChartKey) => [CHARTS[key].name, CHARTS[key].citation] as const;

const sizeCurve = (concept: 'hc' | 'ac' | 'fl'): GrowthCurve => ({
  concept,
  label: CONCEPTS[concept].label,
  unit: CONCEPTS[concept].unit,
  source: sourceOf('intergrowth-2014-size'),
  fromWeek: INTERGROWTH_SIZE_WEEKS.from,
  toWeek: INTERGROWTH_SIZE_WEEKS.to,
  valueAt: (weeks, centile) => intergrowthSizeAt(concept, weeks, zOf(centile)),
});

/** The charts of the growth section (obstetric reference 3.1 and 3.2), in the order drawn. */
export const INTERGROWTH_CURVES: readonly GrowthCurve[] = [
  sizeCurve('hc'),
  sizeCurve('ac'),
  sizeCurve('fl'),
  {
    concept: 'efw',
    label: CONCEPTS.efw.label,
    unit: CONCEPTS.efw.unit,
    source: sourceOf('intergrowth-2020-efw'),
    fromWeek: INTERGROWTH_WEIGHT_2020.weeks.from,
    toWeek: INTERGROWTH_WEIGHT_2020.weeks.to,
    valueAt: (weeks, centile) => intergrowthWeightAt(INTERGROWTH_WEIGHT_2020, weeks, zOf(centile)),
  },
];
