import { type FindingConceptKey, findingConcept, STATED_AGE } from '../../concepts/obstetric.ts';
import type { CartMeasurement } from '../../contract/study.ts';
import type { Measurement } from '../../result/envelope.ts';
import { fetusKey } from '../../result/measured.ts';
import { say } from '../../result/render/obstetric/growth.ts';
import type { Dating } from '../../result/render/obstetric/shared.ts';
import {
  type ClassificationDraft,
  categoryWithin,
  type FindingDraft,
} from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import {
  acceptedValue,
  atCutOff,
  ifPlausible,
  NO_REDATING_FROM_DAYS,
  redatingDays,
  SOFT_Z,
} from '../shared/measurement.ts';
import type { GrowthEvidence } from './evidence.ts';
import {
  CENTILE_CROSSING,
  LATE_FORM_WEEKS,
  MACROSOMIA_GRAMS,
  SIZE_CUTOFFS,
  type SizeCategory,
  sizeCategory,
  TWIN_DISCORDANCE,
  twinDiscordance,
} from './guideline.ts';
import { type Charted, chart, chartedValue, type GrowthSince, isCharted } from './measure.ts';

export function growthFinding(
  id: string,
  concept: FindingConceptKey,
  statement: Statement,
  evidence: readonly Charted[],
  severity: FindingDraft['severity'] = 'abnormal',
): FindingDraft {
  return {
    id,
    section: 'growth',
    concept: findingConcept(concept),
    statement,
    severity,
    confidence: null,
    evidence: evidence.map(({ measurement }) => measurement.id),
  };
}

const measured = (entries: readonly Charted[]) => entries.map(({ measurement }) => measurement);

/** z-scores beyond which a part of the body is called small or large (obstetric 3.8). */
const PART_Z = { microcephaly: -3, low: -2, high: 2 } as const;

/** The z-scores at both ends of the interval of a value; its own where it has no interval. */
function zEnds({ measurement, z }: Charted, gaWeeks: number): readonly [number, number] {
  const { value, uncertainty } = measurement;
  if (uncertainty === null) return [z, z];
  const at = (mm: number) => {
    const entry = chart({ ...measurement, value: mm }, gaWeeks);
    return isCharted(entry) ? entry.z : z;
  };
  return [at(value - uncertainty), at(value + uncertainty)];
}

/**
 * Findings for head and femur by z-score, where the whole interval is beyond the limit. A small BPD
 * beside an HC of normal size is a matter of shape.
 */
export function partFindings(
  charted: readonly Charted[],
  gaWeeks: number,
  datingInDoubt: boolean,
): FindingDraft[] {
  const [hc, fl, bpd] = (['hc', 'fl', 'bpd'] as const).map((key) => chartedValue(charted, key));
  const findings: FindingDraft[] = [];
  const [lowest, highest] = hc ? zEnds(hc, gaWeeks) : [0, 0];
  if (hc && (lowest > PART_Z.high || highest < PART_Z.low)) {
    const size =
      lowest > PART_Z.high ? 'large' : highest < PART_Z.microcephaly ? 'microcephaly' : 'small';
    const said = say.conclusion('growth.head-size', { size, datingInDoubt }, measured([hc]));
    findings.push(growthFinding('head-size', 'head-size', said, [hc]));
  }
  if (bpd && hc && bpd.z < PART_Z.low && hc.z >= PART_Z.low) {
    const said = say.conclusion('growth.bpd-shape', { datingInDoubt }, measured([bpd]));
    findings.push(growthFinding('bpd-shape', 'head-shape', said, [bpd, hc], 'info'));
  }
  if (fl && zEnds(fl, gaWeeks)[1] < PART_Z.low) {
    const said = say.conclusion('growth.short-femur', { datingInDoubt }, measured([fl]));
    findings.push(growthFinding('femur-size', 'femur-size', said, [fl]));
  }
  return findings;
}

/**
 * The finding of macrosomia, which is defined in grams, with or without a centile (ACOG Practice
 * Bulletin 216).
 */
export function weightFinding(measurements: readonly Measurement[]): FindingDraft[] {
  const efw = acceptedValue(measurements, 'efw');
  const grams = MACROSOMIA_GRAMS.find((limit) => efw !== null && efw.value >= limit);
  if (!efw || grams === undefined) return [];
  // The interval of a weight holds the limit more often than not; then nothing is concluded.
  const between = [`below-${grams}-g`, `${grams}-g-or-more`] as const;
  const [doubt] = atCutOff(
    efw,
    categoryWithin(efw, (value) => between[value < grams ? 0 : 1]),
  );
  const said = doubt ?? say.conclusion('growth.macrosomia', { grams }, [efw]);
  const severity = doubt ? 'info' : 'abnormal';
  const finding = growthFinding('macrosomia', 'size-for-gestational-age', said, [], severity);
  return [{ ...finding, evidence: [efw.id] }];
}

export function datingFinding(doubtful: readonly Charted[]): FindingDraft[] {
  if (doubtful.length === 0) return [];
  const said = say.gap('growth.dating-doubtful', { z: SOFT_Z }, measured(doubtful));
  return [growthFinding('dating-doubtful', 'size-for-gestational-age', said, doubtful)];
}

/** The finding that the centile has fallen, which counts in the late form only (Delphi 2016). */
export function crossingFinding({ fall }: GrowthSince, gaDays: number): FindingDraft[] {
  if (!fall || gaDays / 7 < LATE_FORM_WEEKS || fall.points <= CENTILE_CROSSING) return [];
  const { key, before, now, daysBefore } = fall;
  const said = say.conclusion('growth.centile-crossing', {
    key,
    daysBefore,
    earlier: before.centile,
    now: now.centile,
  });
  return [growthFinding('centile-crossing', 'size-for-gestational-age', said, [now])];
}

export interface Size {
  /** Null where the interval of a value holds the 10th or the 90th centile. */
  category: SizeCategory | null;
  /** That of the values themselves, from which no category is stated but advice is. */
  point: SizeCategory;
  /** The categories at both ends of the intervals, where they differ. */
  between: readonly [SizeCategory, SizeCategory] | null;
  /** The weight and the AC, or the one of the two that is available. */
  by: Charted[];
}

/**
 * The size category from the weight, or else from the AC; null where both are missing, since head
 * or femur alone give no category.
 */
export function sizeOf(charted: readonly Charted[], gaWeeks: number): Size | null {
  const efw = chartedValue(charted, 'efw');
  const ac = chartedValue(charted, 'ac');
  const [first, second] = efw ? [efw, ac] : [ac, null];
  if (!first) return null;
  const by = second ? [first, second] : [first];
  const at = (end: -1 | 0 | 1) =>
    sizeCategory(
      centileAt(first, end, gaWeeks),
      second === null ? null : centileAt(second, end, gaWeeks),
    );
  const [low, high] = [at(-1), at(1)];
  const point = at(0);
  if (low === high) return { category: low, point, between: null, by };
  return { category: certainOf(low, high), point, between: [low, high], by };
}

/** The category that both ends share: below the 10th centile, or above the 90th; null for none. */
function certainOf(low: SizeCategory, high: SizeCategory): SizeCategory | null {
  const both = [low, high];
  if (both.every((one) => one === 'sga' || one === 'sga-severe')) return 'sga';
  return both.every((one) => one === 'lga' || one === 'lga-severe') ? 'lga' : null;
}

/** The centile at an end of the interval; that of the value where it has none or leaves the chart. */
function centileAt({ measurement, centile }: Charted, end: -1 | 0 | 1, gaWeeks: number): number {
  const { value, uncertainty } = measurement;
  if (uncertainty === null || end === 0) return centile;
  const at = chart({ ...measurement, value: value + end * uncertainty }, gaWeeks);
  return isCharted(at) ? at.centile : centile;
}

/** The statement of the category with the values that led to it. */
export const sizeStatement = (
  { category, between, by }: Size,
  datingInDoubt: boolean,
): Statement =>
  category === null
    ? say.gap('growth.at-cut-off', { between: [...(between ?? [])] }, measured(by))
    : say.conclusion('growth.size', { category, datingInDoubt }, measured(by));

/** The classification of the size; empty where a cut-off is within the interval. */
export function sizeClassification({ category, by }: Size): ClassificationDraft[] {
  if (category === null) return [];
  const one: ClassificationDraft = {
    id: 'size-category',
    section: 'growth',
    concept: findingConcept('size-for-gestational-age'),
    name: 'Size for gestational age',
    value: category,
    scheme: 'ISUOG 2020; 10th and 90th centile',
    criteria: by.map(({ measurement, centile }) => ({
      name: `${measurement.label} centile`,
      value: { of: 'centile', value: centile },
      met: centile < SIZE_CUTOFFS.small || centile > SIZE_CUTOFFS.large,
    })),
  };
  return [one];
}

/** The finding of a small AC beside a weight that is not small (obstetric 3.8). */
function abdomenFinding({ point, by }: Size, datingInDoubt: boolean): FindingDraft[] {
  const [efw, ac] = by;
  const weightIsSmall = point === 'sga' || point === 'sga-severe';
  const cutOff = SIZE_CUTOFFS.small;
  if (!efw || !ac || weightIsSmall || ac.centile >= cutOff) return [];
  const said = say.conclusion('growth.small-abdomen', { cutOff, datingInDoubt }, measured([ac]));
  return [growthFinding('abdomen-size', 'size-for-gestational-age', said, [ac])];
}

export function sizeFindings(size: Size, datingInDoubt: boolean): FindingDraft[] {
  const said = sizeStatement(size, datingInDoubt);
  const own =
    size.category === null || size.category === 'aga'
      ? []
      : [growthFinding('size', 'size-for-gestational-age', said, size.by)];
  return [...own, ...abdomenFinding(size, datingInDoubt)];
}

/** The weights of two named fetuses, and their difference in % of the larger. */
export interface TwinWeights {
  weights: readonly [Measurement, Measurement];
  discordance: number;
}

/**
 * Weights that the machine's reports give for two named fetuses; null where they do not name
 * exactly two, or where one of the two has no plausible weight.
 */
export function twinWeights({ machine }: Pick<GrowthEvidence, 'machine'>): TwinWeights | null {
  const named = machine
    .values('biometry', ['efw'])
    .map(ifPlausible)
    .filter(({ fetus }) => fetus !== null);
  // An implausible repeat does not count as another fetus, but a third fetus without a weight does.
  if (new Set(named.map(({ fetus }) => fetusKey(fetus))).size !== 2) return null;
  const [first, second] = named.filter(({ quality }) => quality === 'accepted');
  if (!first || !second) return null;
  const [smaller, larger] = [first.value, second.value].toSorted((one, other) => one - other);
  if (smaller === undefined || larger === undefined) return null;
  return { weights: [first, second], discordance: twinDiscordance(larger, smaller) };
}

/** The statement of the two weights and their discordance. */
export const twinStatement = ({ weights, discordance }: TwinWeights): Statement =>
  say.value('growth.twins', { discordance, cutOffs: Object.values(TWIN_DISCORDANCE) }, weights);

/**
 * The finding of a discordance that must be reported (obstetric 3.10); no other twin criterion was
 * assessed.
 */
export function discordanceFindings({ weights, discordance }: TwinWeights): FindingDraft[] {
  if (discordance < TWIN_DISCORDANCE.reported) return [];
  return [
    {
      id: 'twin-discordance',
      section: 'growth',
      concept: findingConcept('size-for-gestational-age'),
      statement: say.conclusion('growth.twin-discordance', { discordance, ...TWIN_DISCORDANCE }),
      severity: 'abnormal',
      confidence: null,
      evidence: weights.map(({ id }) => id),
    },
  ];
}

/** Ages by biometry; the one based on more lengths comes first. */
const AGES = [
  { key: 'ga-by-hc-ac-fl', by: 'hc-ac-fl' },
  { key: 'ga-by-hc', by: 'hc' },
] as const;

/** A difference between the ages by biometry and by last period that is larger than accepted. */
export interface DatingConflict {
  age: Measurement;
  /** The lengths on which the age by biometry is based. */
  by: 'hc-ac-fl' | 'hc';
  ageDays: number;
  apartDays: number;
  limitDays: number;
}

/**
 * The conflict where the age by biometry calls for another date than the last period gave (ACOG
 * Committee Opinion 700; obstetric 5.2); null without one. An age that a scan has set is never
 * changed.
 */
export function datingConflict(
  measurements: readonly Measurement[],
  { basis, ga_days }: Dating,
): DatingConflict | null {
  if (basis !== 'lmp') return null;
  const [found] = AGES.flatMap(({ key, by }) => {
    const age = acceptedValue(measurements, key);
    return age ? [{ age, by }] : [];
  });
  if (!found) return null;
  const ageDays = Math.round(found.age.value);
  const apartDays = Math.abs(ageDays - ga_days);
  const limitDays = redatingDays(ga_days);
  return apartDays > limitDays ? { ...found, ageDays, apartDays, limitDays } : null;
}

function contradictedDatingFinding(
  id: string,
  statement: Statement,
  evidence: string[],
): FindingDraft {
  return {
    id,
    section: 'growth',
    concept: findingConcept('size-for-gestational-age'),
    statement,
    severity: 'abnormal',
    confidence: null,
    evidence,
  };
}

/**
 * The finding that states both ages and the limit that they exceed. Late in pregnancy no new date
 * is advised.
 */
export function conflictFindings(
  conflict: DatingConflict | null,
  { ga_days: stated }: Dating,
): FindingDraft[] {
  if (!conflict) return [];
  const { age, by, ageDays: days, apartDays: apart, limitDays: limit } = conflict;
  const said = say.gap('growth.age-by-biometry', {
    by,
    days,
    stated,
    apart,
    limit,
    noRedatingFrom: NO_REDATING_FROM_DAYS,
  });
  return [contradictedDatingFinding('age-by-biometry', said, [age.id])];
}

/** UCUM unit of an age in a report → number of days per unit. */
const DAYS: Readonly<Record<string, number>> = { d: 1, wk: 7 };

/**
 * The finding that the machine's report states another age by last period than the age that was
 * used.
 */
export function statedAgeFindings(
  cart: readonly CartMeasurement[],
  { basis, ga_days }: Dating,
): FindingDraft[] {
  if (basis !== 'lmp') return [];
  const { scheme, code } = STATED_AGE.lmp;
  const [stated] = cart.flatMap(({ concept, value, unit }) => {
    const days = DAYS[unit];
    const isAge = concept.scheme === scheme && concept.code === code;
    return isAge && days !== undefined && value > 0 ? [Math.round(value * days)] : [];
  });
  const limit = redatingDays(ga_days);
  if (stated === undefined || Math.abs(stated - ga_days) <= limit) return [];
  const said = say.gap('growth.age-stated-by-machine', { machine: stated, stated: ga_days });
  return [contradictedDatingFinding('age-stated-by-machine', said, [])];
}
