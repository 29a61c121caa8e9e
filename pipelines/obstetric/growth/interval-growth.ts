import type { EarlierData, EarlierSource } from '../../result/earlier-values.ts';
import { EARLIER_SOURCES } from '../../result/earlier-values.ts';
import type { Measurement } from '../../result/envelope.ts';
import { weeksAndDays } from '../../result/gestational-age.ts';
import { abbreviations, acceptedValue } from '../../result/render/number-text.ts';
import { centileText } from '../../result/render/unit-text.ts';
import { SOFT_Z } from '../shared/plausibility.ts';
import type { EarlierLength, EarlierScan, GrowthEvidence } from './evidence.ts';
import {
  CHARTED,
  type Charted,
  type ChartedKey,
  chart,
  chartedValue,
  isCharted,
} from './measure.ts';

/** Scans closer together say more about the measurement than about growth (obstetric 3.12). */
export const SHORTEST_INTERVAL_DAYS = 14;

const SOURCE_TEXT: Readonly<Record<EarlierSource, string>> = {
  images: 'measured on its images',
  'machine-report': 'with values of the report of the ultrasound machine',
  'unreviewed-draft': 'with values of an unreviewed draft of this gateway',
};

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
  /** Standard deviations of the chart per week. */
  zPerWeek: number;
}

export interface GrowthSince {
  earlier: EarlierData;
  /** Of the newest scan that is old enough; null: no change was judged. */
  change: { daysBefore: number; values: Change[] } | null;
  /** Largest fall of the EFW or AC centile since any scan that is old enough. */
  fall: {
    key: ChartedKey;
    points: number;
    daysBefore: number;
    before: Charted;
    now: Charted;
  } | null;
  sentence: string;
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

/** Of a length its own, of a weight the least good of its inputs. */
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

/** The same chart, and for a weight the same formula. */
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

/** Never "-0.00". */
function signed(value: number): string {
  const rounded = Number(value.toFixed(2));
  return `${rounded < 0 ? '' : '+'}${Math.abs(rounded) === 0 ? '0.00' : rounded.toFixed(2)}`;
}

function changeSentence(scan: EarlierGrowth, values: readonly Change[]): string {
  const words = values.map(
    ({ key, before, zPerWeek }) =>
      `${abbreviations([key])} ${signed(zPerWeek)} (centile ${centileText(before.centile)} then)`,
  );
  const sources = new Set(toData(scan).values.map(({ source }) => SOURCE_TEXT[source]));
  return `Change of the z-score per week since the scan ${scan.daysBefore} days before, at ${weeksAndDays(scan.gaDays)} weeks, ${[...sources].join(' and ')}: ${words.join(', ')}.`;
}

const OF_SEVERAL = 'the earlier scan names several fetuses';

/** An earlier value of a twin may be that of the other one (obstetric 19). */
const leftOutSentence = (scans: number): string[] =>
  scans === 0 ? [] : ['An earlier scan that names several fetuses was left out.'];

const notAssessed = (why: string) => `Growth over time was not assessed${why}.`;

/** Growth since the earlier scans; `now` are the values of this scan on their charts. */
export function growthSince(
  evidence: GrowthEvidence,
  now: readonly Charted[],
  gaDays: number,
): GrowthSince {
  const { earlier: all, priors } = evidence;
  const scans = all.filter((scan) => !scan.severalFetuses);
  const leftOut = all.length - scans.length;
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
      sentence: [changeSentence(newest.scan, newest.values), ...leftOutSentence(leftOut)].join(' '),
    };
  }
  const [close] = compared;
  const undated = scans.length > 0 && scans.every(({ daysBefore }) => daysBefore === null);
  const why =
    all.length === 0 && priors.length === 0
      ? ''
      : leftOut > 0 && scans.length === 0
        ? `: ${OF_SEVERAL}`
        : close
          ? `: the interval of ${close.scan.daysBefore} days to the earlier scan is too short to judge growth (${SHORTEST_INTERVAL_DAYS} days at least)`
          : undated
            ? ': the earlier files do not say when they were made'
            : ': nothing was measured on the earlier scan that can be compared';
  const told = scans.length > 0 ? leftOutSentence(leftOut) : [];
  return { earlier, change: null, fall: null, sentence: [notAssessed(why), ...told].join(' ') };
}
