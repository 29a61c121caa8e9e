import { centileOf, zOf } from '../../measure/statistics.ts';
import { isFromReport, type Measurement } from '../../result/envelope.ts';
import {
  EARLIER_SOURCES,
  type EarlierSource,
  type NotChartedReason,
  say,
} from '../../result/render/obstetric/growth.ts';
import { categoryWithin } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { acceptedValue, SOFT_Z } from '../shared/measurement.ts';
import type { SectionEvidence } from '../shared/section.ts';
import { type GrowthChart, sizeChart, WEIGHT_CHARTS } from './charts.ts';
import { CENTILE_CROSSING, SIZE_CUTOFFS } from './guideline.ts';

export interface EarlierLength {
  measurement: Measurement;
  source: EarlierSource;
}

/** One earlier examination with the values measured on it. */
export interface EarlierScan {
  /** Whole days from the earlier examination to this study; null if its files contain no date. */
  daysBefore: number | null;
  /** True if its reports or image labels indicate several fetuses. */
  severalFetuses: boolean;
  /**
   * Each length from the best source that has it. The id of the one in use is its concept's key.
   */
  lengths: readonly EarlierLength[];
  /** Ages, weight and ratios by these lengths; empty if the age at that scan is unknown. */
  derived: readonly Measurement[];
}

export interface GrowthEvidence extends SectionEvidence {
  /** Names of the earlier studies in the request. */
  priors: readonly string[];
  /** The earlier examinations that were read, newest first. */
  earlier: readonly EarlierScan[];
  /** Returns a centile as text, in the form used by every output (obstetric 0.3). */
  centileText(centile: number): string;
}

const SIZE_MEASURES = ['hc', 'bpd', 'ofd', 'ac', 'fl'] as const;

/** Values compared with a growth chart, in report order. */
export const CHARTED = [...SIZE_MEASURES, 'efw'] as const;
type ChartedKey = (typeof CHARTED)[number];

function chartFor(measurement: Measurement): GrowthChart | null {
  if (measurement.concept.key === 'efw') return WEIGHT_CHARTS[measurement.method] ?? null;
  const measure = SIZE_MEASURES.find((key) => key === measurement.concept.key);
  return measure ? sizeChart(measure) : null;
}

export interface Charted {
  measurement: Measurement;
  z: number;
  centile: number;
  /**
   * z-scores at both ends of the interval of the value. If no interval is known, both are the
   * z-score of the value itself.
   */
  ends: readonly [low: number, high: number];
  reference: NonNullable<Measurement['reference']>;
  /** Null if the interval includes a limit of the normal range. */
  interpretation: Measurement['interpretation'];
}

/** Returns the centiles at both ends of the interval of a value. */
export const centileEnds = ({ ends: [low, high] }: Charted): readonly [number, number] => [
  centileOf(low),
  centileOf(high),
];

/** The normal range is from the 10th to the 90th centile, inclusive. */
const rankOf = (centile: number) =>
  centile < SIZE_CUTOFFS.small ? 'L' : centile > SIZE_CUTOFFS.large ? 'H' : 'N';

export interface NotCharted {
  measurement: Measurement;
  reason: NotChartedReason;
}

/**
 * Returns the z-score and centile of a value at an exact age in weeks, or the reason why the value
 * is not charted: no chart fits its formula, the formula is not known, or the age is outside the
 * weeks of the chart. Values are never extrapolated or charted at the nearest age. If the chart has
 * no z-score for one end of the interval, for example because it is negative, this end counts as
 * beyond every cut-off.
 */
export function chart(measurement: Measurement, gaWeeks: number): Charted | NotCharted {
  const growthChart = chartFor(measurement);
  if (!growthChart) {
    const code = isFromReport(measurement) ? 'formula_not_known' : 'no_chart_for_formula';
    return { measurement, reason: { code, weeks: null } };
  }
  const zAt = (value: number) => {
    const z = growthChart.z(gaWeeks, value);
    return z === null || !Number.isFinite(z) ? null : z;
  };
  const z = zAt(measurement.value);
  if (z === null) {
    const { from, to } = growthChart.weeks;
    return { measurement, reason: { code: 'outside_chart_range', weeks: { from, to } } };
  }
  const centile = centileOf(z);
  const half = measurement.uncertainty ?? 0;
  const zAtEnd = (value: number) => zAt(value) ?? Math.sign(value - measurement.value) * Infinity;
  const ends = [zAtEnd(measurement.value - half), zAtEnd(measurement.value + half)] as const;
  return {
    measurement,
    z,
    centile,
    ends,
    reference: {
      low: growthChart.at(gaWeeks, zOf(SIZE_CUTOFFS.small)),
      high: growthChart.at(gaWeeks, zOf(SIZE_CUTOFFS.large)),
      centile,
      z_score: z,
      chart: growthChart.key,
    },
    interpretation: categoryWithin(measurement, (value) => rankOf(centileOf(zAtEnd(value))))
      .category,
  };
}

/**
 * Returns the z-score and centile of a value of this study. A BPD measured on the ultrasound
 * machine is not charted, because reports do not indicate whether it is outer to inner or outer to
 * outer, and mixing the two is an error (obstetric 2.1 and 16.5).
 */
export function chartOfStudy(measurement: Measurement, gaWeeks: number): Charted | NotCharted {
  if (measurement.concept.key !== 'bpd' || !isFromReport(measurement)) {
    return chart(measurement, gaWeeks);
  }
  return { measurement, reason: { code: 'bpd_convention_not_stated', weeks: null } };
}

export function isCharted(entry: Charted | NotCharted): entry is Charted {
  return 'z' in entry;
}

/** Returns the charted value of a concept; null if it was not measured. */
export function chartedValue(charted: readonly Charted[], key: ChartedKey): Charted | null {
  return charted.find(({ measurement }) => measurement.concept.key === key) ?? null;
}

/**
 * Minimum interval in days between scans for assessing growth. Over a shorter interval, a change
 * reflects measurement error more than growth (obstetric 3.12).
 */
const SHORTEST_INTERVAL_DAYS = 14;

interface EarlierGrowth {
  daysBefore: number;
  gaDays: number;
  charted: Charted[];
  lengths: readonly EarlierLength[];
}

interface Change {
  key: ChartedKey;
  before: Charted;
  now: Charted;
  zPerWeek: number;
}

/** Values of an earlier scan in the format of the section's `data`. */
interface EarlierValues {
  days_before: number;
  ga_days: number;
  values: {
    concept: string;
    value: number;
    unit: string;
    source: EarlierSource;
    centile: number;
    z_score: number;
    chart: string;
  }[];
}

export interface GrowthSince {
  earlier: EarlierValues[];
  /**
   * Change since the newest scan that is at least `SHORTEST_INTERVAL_DAYS` old; null if no change
   * was assessed.
   */
  change: { daysBefore: number; values: Change[] } | null;
  /**
   * Largest fall of the EFW or AC centile since any scan that is at least `SHORTEST_INTERVAL_DAYS`
   * old. Falls that certainly exceed the cut-off, given both intervals, take precedence over falls
   * that may exceed it, and these over others.
   */
  fall: {
    key: ChartedKey;
    points: number;
    /** The smallest and the largest fall that the intervals of both values allow. */
    ends: readonly [least: number, most: number];
    /**
     * Whether the fall crosses more than two quartiles; null if the intervals include the cut-off.
     */
    crosses: boolean | null;
    daysBefore: number;
    before: Charted;
    now: Charted;
  } | null;
  statements: Statement[];
}

function growthAt(scan: EarlierScan, gaDays: number): EarlierGrowth | null {
  if (scan.daysBefore === null) return null;
  const then = gaDays - scan.daysBefore;
  const { lengths, derived } = scan;
  const measured = [...lengths.map(({ measurement }) => measurement), ...derived];
  const charted = CHARTED.flatMap((key) => {
    const one = acceptedValue(measured, key);
    const entry = one && chart(one, then / 7);
    return entry && isCharted(entry) && Math.abs(entry.z) <= SOFT_Z ? [entry] : [];
  });
  return { daysBefore: scan.daysBefore, gaDays: then, charted, lengths };
}

/**
 * Returns the source of a value. For a weight, this is the least preferred source of its inputs.
 */
function sourceOf({ id, inputs }: Measurement, lengths: readonly EarlierLength[]): EarlierSource {
  const used = lengths.filter(
    ({ measurement }) => measurement.id === id || inputs.includes(measurement.id),
  );
  const rank = Math.max(0, ...used.map(({ source }) => EARLIER_SOURCES.indexOf(source)));
  return EARLIER_SOURCES[rank] ?? 'images';
}

function toData({ daysBefore, gaDays, charted, lengths }: EarlierGrowth): EarlierValues {
  return {
    days_before: daysBefore,
    ga_days: gaDays,
    values: charted.map(({ measurement, centile, z: score, reference }) => ({
      concept: measurement.concept.key,
      value: measurement.value,
      unit: measurement.unit,
      source: sourceOf(measurement, lengths),
      centile,
      z_score: score,
      chart: reference.chart,
    })),
  };
}

function comparable(then: Charted, now: Charted): boolean {
  const sameFormula =
    now.measurement.concept.key !== 'efw' || then.measurement.method === now.measurement.method;
  return then.reference.chart === now.reference.chart && sameFormula;
}

function changesSince({ charted, daysBefore }: EarlierGrowth, now: readonly Charted[]): Change[] {
  return CHARTED.flatMap((key) => {
    const [before, after] = [chartedValue(charted, key), chartedValue(now, key)];
    if (!before || !after || !comparable(before, after)) return [];
    return [{ key, before, now: after, zPerWeek: (after.z - before.z) / (daysBefore / 7) }];
  });
}

function fallEnds({ before, now }: Change): readonly [least: number, most: number] {
  const [[lowBefore, highBefore], [lowNow, highNow]] = [centileEnds(before), centileEnds(now)];
  return [lowBefore - highNow, highBefore - lowNow];
}

function largestFall(
  scans: readonly { scan: EarlierGrowth; values: readonly Change[] }[],
): GrowthSince['fall'] {
  const falls = scans.flatMap(({ scan, values }) =>
    values
      .filter(({ key }) => key === 'efw' || key === 'ac')
      .map((change) => {
        const { key, before, now } = change;
        const points = before.centile - now.centile;
        const ends = fallEnds(change);
        const [atLeast, atMost] = ends.map((one) => one > CENTILE_CROSSING);
        const crosses = atLeast === atMost ? atLeast === true : null;
        return { key, points, ends, crosses, daysBefore: scan.daysBefore, before, now };
      }),
  );
  const byPoints = falls.toSorted((one, other) => other.points - one.points);
  const firstOf = (wanted: boolean | null) => byPoints.find(({ crosses }) => crosses === wanted);
  return firstOf(true) ?? firstOf(null) ?? firstOf(false) ?? null;
}

function changeStatement(scan: EarlierGrowth, values: readonly Change[]): Statement {
  return say.value('growth.change', {
    daysBefore: scan.daysBefore,
    days: scan.gaDays,
    sources: [...new Set(toData(scan).values.map(({ source }) => source))],
    values: values.map(({ key, before, zPerWeek }) => ({
      key,
      zPerWeek,
      centileThen: before.centile,
    })),
  });
}

/** Returns the growth since the earlier scans. `now` contains the charted values of this scan. */
export function growthSince(
  evidence: GrowthEvidence,
  now: readonly Charted[],
  gaDays: number,
): GrowthSince {
  const { earlier: all, priors } = evidence;
  const scans = all.filter((scan) => !scan.severalFetuses);
  const leftOut = all.length - scans.length;
  // An earlier value of a twin may belong to the other twin (obstetric 19).
  const leftOutStatement = leftOut === 0 ? [] : [say.limitation('growth.scan-left-out', {})];
  const dated = scans.flatMap((scan) => growthAt(scan, gaDays) ?? []);
  const compared = dated
    .map((scan) => ({ scan, values: changesSince(scan, now) }))
    .filter(({ values }) => values.length > 0);
  const apart = compared.filter(({ scan }) => scan.daysBefore >= SHORTEST_INTERVAL_DAYS);
  const earlier = dated.filter(({ charted }) => charted.length > 0).map(toData);
  const [newest] = apart;
  if (newest) {
    return {
      earlier,
      change: { daysBefore: newest.scan.daysBefore, values: newest.values },
      fall: largestFall(apart),
      statements: [changeStatement(newest.scan, newest.values), ...leftOutStatement],
    };
  }
  const [close] = compared;
  const undated = scans.length > 0 && scans.every(({ daysBefore }) => daysBefore === null);
  const reason =
    all.length === 0 && priors.length === 0
      ? 'no-earlier-scan'
      : leftOut > 0 && scans.length === 0
        ? 'several-fetuses'
        : close
          ? 'interval-too-short'
          : undated
            ? 'earlier-scan-undated'
            : now.length === 0
              ? 'nothing-charted-now'
              : 'nothing-comparable';
  const gap = say.gap('growth.no-change', {
    reason,
    days: close?.scan.daysBefore ?? 0,
    least: SHORTEST_INTERVAL_DAYS,
  });
  const statements = [gap, ...(scans.length > 0 ? leftOutStatement : [])];
  return { earlier, change: null, fall: null, statements };
}
