import type { EarlierData, EarlierSource } from '../../result/earlier-values.ts';
import { EARLIER_SOURCES } from '../../result/earlier-values.ts';
import type { Measurement } from '../../result/envelope.ts';
import { say } from '../../result/render/obstetric/growth.ts';
import type { Statement } from '../../result/statement.ts';
import { acceptedValue, SOFT_Z } from '../shared/measurement.ts';
import type { EarlierLength, EarlierScan, GrowthEvidence } from './evidence.ts';
import {
  CHARTED,
  type Charted,
  type ChartedKey,
  chart,
  chartedValue,
  isCharted,
} from './measure.ts';

/**
 * Shortest interval in days at which growth is judged: a change between closer scans shows
 * measurement error rather than growth (obstetric 3.12).
 */
export const SHORTEST_INTERVAL_DAYS = 14;

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
  /** Change of the z-score per week. */
  zPerWeek: number;
}

export interface GrowthSince {
  earlier: EarlierData;
  /** The change since the newest scan that is old enough; null where no change was judged. */
  change: { daysBefore: number; values: Change[] } | null;
  /** Largest fall of the EFW or AC centile since any scan that is old enough. */
  fall: {
    key: ChartedKey;
    points: number;
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

/** The source of a value: for a length its own, for a weight the least good among its inputs. */
function sourceOf({ id, inputs }: Measurement, lengths: readonly EarlierLength[]): EarlierSource {
  const used = lengths.filter(
    ({ measurement }) => measurement.id === id || inputs.includes(measurement.id),
  );
  const rank = Math.max(0, ...used.map(({ source }) => EARLIER_SOURCES.indexOf(source)));
  return EARLIER_SOURCES[rank] ?? 'images';
}

function toData({ daysBefore, gaDays, charted, lengths }: EarlierGrowth): EarlierData[number] {
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

/**
 * Whether two values may be compared: they are on the same chart and, for a weight, by the same
 * formula.
 */
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

function largestFall(
  scans: readonly { scan: EarlierGrowth; values: readonly Change[] }[],
): GrowthSince['fall'] {
  const falls = scans.flatMap(({ scan, values }) =>
    values
      .filter(({ key }) => key === 'efw' || key === 'ac')
      .map(({ key, before, now }) => {
        const points = before.centile - now.centile;
        return { key, points, daysBefore: scan.daysBefore, before, now };
      }),
  );
  return falls.toSorted((one, other) => other.points - one.points)[0] ?? null;
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

/**
 * Growth since the earlier scans; `now` contains the values of this scan with their places on the
 * charts.
 */
export function growthSince(
  evidence: GrowthEvidence,
  now: readonly Charted[],
  gaDays: number,
): GrowthSince {
  const { earlier: all, priors } = evidence;
  const scans = all.filter((scan) => !scan.severalFetuses);
  const leftOut = all.length - scans.length;
  // An earlier value of a twin may be that of the other twin (obstetric 19).
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
            : 'nothing-comparable';
  const gap = say.gap('growth.no-change', {
    reason,
    days: close?.scan.daysBefore ?? 0,
    least: SHORTEST_INTERVAL_DAYS,
  });
  const statements = [gap, ...(scans.length > 0 ? leftOutStatement : [])];
  return { earlier, change: null, fall: null, statements };
}
