import { type FindingConceptKey, findingConcept, STATED_AGE } from '../../concepts/obstetric.ts';
import type { CartMeasurement } from '../../contract/study.ts';
import type { Measurement } from '../../result/envelope.ts';
import { fetusKey } from '../../result/measured.ts';
import { say } from '../../result/render/obstetric/growth.ts';
import type { Dating } from '../../result/render/obstetric/shared.ts';
import type { ClassificationDraft, FindingDraft } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { NO_REDATING_FROM_DAYS, redatingDays } from '../early-pregnancy/guideline.ts';
import { acceptedValue, ifPlausible, SOFT_Z } from '../shared/measurement.ts';
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
import type { GrowthSince } from './interval-growth.ts';
import { type Charted, chart, chartedValue, isCharted } from './measure.ts';

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

/**
 * Findings for head and femur by z-score. A small BPD beside an HC of normal size is a matter of
 * shape.
 */
export function partFindings(charted: readonly Charted[], datingInDoubt: boolean): FindingDraft[] {
  const [hc, fl, bpd] = (['hc', 'fl', 'bpd'] as const).map((key) => chartedValue(charted, key));
  const findings: FindingDraft[] = [];
  if (hc && (hc.z > PART_Z.high || hc.z < PART_Z.low)) {
    const size =
      hc.z > PART_Z.high ? 'large' : hc.z < PART_Z.microcephaly ? 'microcephaly' : 'small';
    const said = say.conclusion('growth.head-size', { size, datingInDoubt }, measured([hc]));
    findings.push(growthFinding('head-size', 'head-size', said, [hc]));
  }
  if (bpd && hc && bpd.z < PART_Z.low && hc.z >= PART_Z.low) {
    const said = say.conclusion('growth.bpd-shape', { datingInDoubt }, measured([bpd]));
    findings.push(growthFinding('bpd-shape', 'head-shape', said, [bpd, hc], 'info'));
  }
  if (fl && fl.z < PART_Z.low) {
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
  const said = say.conclusion('growth.macrosomia', { grams }, [efw]);
  const finding = growthFinding('macrosomia', 'size-for-gestational-age', said, []);
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
  category: SizeCategory;
  /** The weight and the AC, or the one of the two that is available. */
  by: Charted[];
}

/**
 * The size category from the weight, or else from the AC; null where both are missing, since head
 * or femur alone give no category.
 */
export function sizeOf(charted: readonly Charted[]): Size | null {
  const efw = chartedValue(charted, 'efw');
  const ac = chartedValue(charted, 'ac');
  if (efw) {
    const category = sizeCategory(efw.centile, ac?.centile ?? null);
    return { category, by: ac ? [efw, ac] : [efw] };
  }
  return ac ? { category: sizeCategory(ac.centile), by: [ac] } : null;
}

const keyOf = ({ measurement }: Charted) => measurement.concept.key;

/** The statement of the category with the values that led to it. */
export const sizeStatement = ({ category, by }: Size, datingInDoubt: boolean): Statement =>
  say.conclusion('growth.size', { category, datingInDoubt }, measured(by));

export function sizeClassification({ category, by }: Size): ClassificationDraft {
  return {
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
}

/** The finding of a small AC beside a weight that is not small (obstetric 3.8). */
function abdomenFinding({ category, by }: Size, datingInDoubt: boolean): FindingDraft[] {
  const [efw, ac] = by;
  const weightIsSmall = category === 'sga' || category === 'sga-severe';
  const cutOff = SIZE_CUTOFFS.small;
  if (!efw || !ac || weightIsSmall || ac.centile >= cutOff) return [];
  const said = say.conclusion('growth.small-abdomen', { cutOff, datingInDoubt }, measured([ac]));
  return [growthFinding('abdomen-size', 'size-for-gestational-age', said, [ac])];
}

export function sizeFindings(size: Size, datingInDoubt: boolean): FindingDraft[] {
  const said = sizeStatement(size, datingInDoubt);
  const own =
    size.category === 'aga'
      ? []
      : [growthFinding('size', 'size-for-gestational-age', said, size.by)];
  return [...own, ...abdomenFinding(size, datingInDoubt)];
}

/** The cut-offs that lie within the interval of a value, as centiles. */
function cutOffsWithin({ measurement }: Charted, gaWeeks: number): number[] {
  const { value, uncertainty } = measurement;
  if (uncertainty === null) return [];
  const ends = [value - uncertainty, value + uncertainty].map((end) =>
    chart({ ...measurement, value: end }, gaWeeks),
  );
  const [low, high] = ends.map((end) => (isCharted(end) ? end.centile : null));
  if (low == null || high == null) return [];
  return Object.values(SIZE_CUTOFFS).filter((cutOff) => low < cutOff && cutOff < high);
}

/**
 * States that an interval includes a cut-off, so that the category is not certain; empty where none
 * does.
 */
export function sizeAcrossCutOffs({ by }: Size, gaWeeks: number): Statement[] {
  const across = by
    .map((entry) => ({ key: keyOf(entry), cutOffs: cutOffsWithin(entry, gaWeeks) }))
    .filter(({ cutOffs }) => cutOffs.length > 0);
  if (across.length === 0) return [];
  const cutOffs = new Set(across.flatMap(({ cutOffs: within }) => within));
  return [
    say.gap('growth.across-centiles', {
      keys: across.map(({ key }) => key),
      centiles: [...cutOffs].toSorted((one, other) => one - other),
    }),
  ];
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
