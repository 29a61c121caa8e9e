import type { ObstetricChart } from '../../concepts/obstetric-charts.ts';
import { centileOf, zOf } from '../../measure/statistics.ts';
import type { Measurement } from '../../result/envelope.ts';
import type { NotChartedReason } from '../../result/render/obstetric/growth.ts';
import { isOfMachine } from '../shared/measurement.ts';
import {
  INTERGROWTH_SIZE_WEEKS,
  INTERGROWTH_WEIGHT_2017,
  INTERGROWTH_WEIGHT_2020,
  type IntergrowthMeasure,
  intergrowthSizeAt,
  intergrowthSizeZ,
  intergrowthWeightAt,
  intergrowthWeightZ,
  type WeightStandard,
} from './charts.ts';
import { SIZE_CUTOFFS } from './guideline.ts';

/**
 * A chart as the growth section uses it: the z-score of a value, and the value at a z-score; null
 * outside its weeks.
 */
interface GrowthChart {
  key: ObstetricChart;
  weeks: { from: number; to: number };
  z(gaWeeks: number, value: number): number | null;
  at(gaWeeks: number, z: number): number | null;
}

const SIZE_MEASURES = ['hc', 'bpd', 'ofd', 'ac', 'fl'] as const;

/** Values that are compared with a growth chart, in the order of the report. */
export const CHARTED = [...SIZE_MEASURES, 'efw'] as const;
export type ChartedKey = (typeof CHARTED)[number];

function sizeChart(measure: IntergrowthMeasure): GrowthChart {
  return {
    key: 'intergrowth-2014-size',
    weeks: INTERGROWTH_SIZE_WEEKS,
    z: (gaWeeks, value) => intergrowthSizeZ(measure, gaWeeks, value),
    at: (gaWeeks, z) => intergrowthSizeAt(measure, gaWeeks, z),
  };
}

function weightChart(key: ObstetricChart, standard: WeightStandard): GrowthChart {
  return {
    key,
    weeks: standard.weeks,
    z: (gaWeeks, value) => intergrowthWeightZ(standard, gaWeeks, value),
    at: (gaWeeks, z) => intergrowthWeightAt(standard, gaWeeks, z),
  };
}

/**
 * Weight formula → the one chart that was made with it (obstetric 16.5); a weight by any other
 * formula has no centile. The size charts expect BPD outer to outer, as it is measured here.
 */
const WEIGHT_CHARTS: Readonly<Record<string, GrowthChart>> = {
  'hadlock-1985-efw-hc-ac-fl': weightChart('intergrowth-2020-efw', INTERGROWTH_WEIGHT_2020),
  'intergrowth-2017-efw-hc-ac': weightChart('intergrowth-2017-efw', INTERGROWTH_WEIGHT_2017),
};

function chartFor(measurement: Measurement): GrowthChart | null {
  if (measurement.concept.key === 'efw') return WEIGHT_CHARTS[measurement.method] ?? null;
  const measure = SIZE_MEASURES.find((key) => key === measurement.concept.key);
  return measure ? sizeChart(measure) : null;
}

export interface Charted {
  measurement: Measurement;
  z: number;
  centile: number;
  reference: NonNullable<Measurement['reference']>;
  interpretation: NonNullable<Measurement['interpretation']>;
}

export interface NotCharted {
  measurement: Measurement;
  reason: NotChartedReason;
}

/**
 * The place of a value on its chart at an exact age in weeks, never clamped and never extrapolated.
 * Outside the chart's weeks the result is the reason why the value is not charted. The normal range
 * is that from the 10th to the 90th centile, both included.
 */
export function chart(measurement: Measurement, gaWeeks: number): Charted | NotCharted {
  const growthChart = chartFor(measurement);
  if (!growthChart) {
    return { measurement, reason: { code: 'no_chart_for_formula', weeks: null } };
  }
  const z = growthChart.z(gaWeeks, measurement.value);
  if (z === null || !Number.isFinite(z)) {
    const { from, to } = growthChart.weeks;
    return { measurement, reason: { code: 'outside_chart_range', weeks: { from, to } } };
  }
  const centile = centileOf(z);
  return {
    measurement,
    z,
    centile,
    reference: {
      low: growthChart.at(gaWeeks, zOf(SIZE_CUTOFFS.small)),
      high: growthChart.at(gaWeeks, zOf(SIZE_CUTOFFS.large)),
      centile,
      z_score: z,
      chart: growthChart.key,
    },
    interpretation: centile < SIZE_CUTOFFS.small ? 'L' : centile > SIZE_CUTOFFS.large ? 'H' : 'N',
  };
}

/**
 * The place of a value of this study on its chart. A BPD measured on the ultrasound machine has no
 * chart: no report states whether it is outer to inner or outer to outer, and mixing the two is an
 * error (obstetric 2.1 and 16.5).
 */
export function chartOfStudy(measurement: Measurement, gaWeeks: number): Charted | NotCharted {
  if (measurement.concept.key !== 'bpd' || !isOfMachine(measurement)) {
    return chart(measurement, gaWeeks);
  }
  return { measurement, reason: { code: 'bpd_convention_not_stated', weeks: null } };
}

/** Whether a value has a place on its chart. */
export function isCharted(entry: Charted | NotCharted): entry is Charted {
  return 'z' in entry;
}

/** The charted value of a concept; null if there is none. */
export function chartedValue(charted: readonly Charted[], key: ChartedKey): Charted | null {
  return charted.find(({ measurement }) => measurement.concept.key === key) ?? null;
}
