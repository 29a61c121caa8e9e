import { type FindingConceptKey, findingConcept, STATED_AGE } from '../../concepts/obstetric.ts';
import type { CartMeasurement } from '../../contract/study.ts';
import type { Measurement } from '../../result/envelope.ts';
import { fetusKey } from '../../result/measured.ts';
import { type SizeCategory, say } from '../../result/render/obstetric/growth.ts';
import type { Dating } from '../../result/render/obstetric/shared.ts';
import {
  type ClassificationDraft,
  categoryWithin,
  criterion,
  type FindingDraft,
} from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import {
  acceptedValue,
  atCutOff,
  NO_REDATING_FROM_DAYS,
  ofNamedFetuses,
  redatingDays,
  SOFT_Z,
} from '../shared/measurement.ts';
import { finding } from '../shared/section.ts';
import {
  LATE_FORM_WEEKS,
  MACROSOMIA_GRAMS,
  SIZE_CUTOFFS,
  sizeCategory,
  TWIN_DISCORDANCE,
  twinDiscordance,
} from './guideline.ts';
import {
  type Charted,
  centileEnds,
  chartedValue,
  type GrowthEvidence,
  type GrowthSince,
} from './measure.ts';

const SIZE: FindingConceptKey = 'size-for-gestational-age';

const measured = (entries: readonly Charted[]) => entries.map(({ measurement }) => measurement);

/** z-scores beyond which a head or femur is called small or large (obstetric 3.8). */
const PART_Z = { microcephaly: -3, low: -2, high: 2 } as const;

/**
 * Returns findings for head and femur if the z-scores of the whole interval are beyond a limit. A
 * small BPD with an HC of normal size is reported as a head shape.
 */
export function partFindings(charted: readonly Charted[], datingInDoubt: boolean): FindingDraft[] {
  const [hc, fl, bpd] = (['hc', 'fl', 'bpd'] as const).map((key) => chartedValue(charted, key));
  const findings: FindingDraft[] = [];
  const [lowest, highest] = hc?.ends ?? [0, 0];
  if (hc && (lowest > PART_Z.high || highest < PART_Z.low)) {
    const size =
      lowest > PART_Z.high ? 'large' : highest < PART_Z.microcephaly ? 'microcephaly' : 'small';
    const said = say.conclusion('growth.head-size', { size, datingInDoubt }, measured([hc]));
    findings.push(finding('head-size', 'head-size', said, 'abnormal'));
  }
  if (bpd && hc && bpd.ends[1] < PART_Z.low && lowest >= PART_Z.low) {
    const said = say.conclusion('growth.bpd-shape', { datingInDoubt }, measured([bpd]));
    const evidence = measured([bpd, hc]).map(({ id }) => id);
    findings.push(finding('bpd-shape', 'head-shape', said, 'info', { evidence }));
  }
  if (fl && fl.ends[1] < PART_Z.low) {
    const said = say.conclusion('growth.short-femur', { datingInDoubt }, measured([fl]));
    findings.push(finding('femur-size', 'femur-size', said, 'abnormal'));
  }
  return findings;
}

/**
 * Returns the finding of macrosomia. It is defined in grams and does not depend on the centile
 * (ACOG Practice Bulletin 216).
 */
export function weightFinding(measurements: readonly Measurement[]): FindingDraft[] {
  const efw = acceptedValue(measurements, 'efw');
  const grams = MACROSOMIA_GRAMS.find((limit) => efw !== null && efw.value >= limit);
  if (!efw || grams === undefined) return [];
  // The interval of a weight this large usually includes the limit. No conclusion is then drawn.
  const between = [`below-${grams}-g`, `${grams}-g-or-more`] as const;
  const [doubt] = atCutOff(
    efw,
    categoryWithin(efw, (value) => between[value < grams ? 0 : 1]),
  );
  const said = doubt ?? say.conclusion('growth.macrosomia', { grams }, [efw]);
  return [finding('macrosomia', SIZE, said, doubt ? 'info' : 'abnormal')];
}

export function datingFinding(doubtful: readonly Charted[]): FindingDraft[] {
  if (doubtful.length === 0) return [];
  const said = say.gap('growth.dating-doubtful', { z: SOFT_Z }, measured(doubtful));
  return [finding('dating-doubtful', SIZE, said, 'abnormal')];
}

/**
 * Returns the finding that the centile has fallen. This is a criterion only for late fetal growth
 * restriction (Delphi 2016).
 */
export function crossingFinding({ fall }: GrowthSince, gaDays: number): FindingDraft[] {
  if (!fall?.crosses || gaDays / 7 < LATE_FORM_WEEKS) return [];
  const { key, before, now, daysBefore } = fall;
  const said = say.conclusion('growth.centile-crossing', {
    key,
    daysBefore,
    earlier: before.centile,
    now: now.centile,
  });
  const evidence = [now.measurement.id];
  return [finding('centile-crossing', SIZE, said, 'abnormal', { evidence })];
}

export interface Size {
  /**
   * Null if the intervals leave open whether the size is small, appropriate or large. If they leave
   * open only the degree, it is `sga` or `lga`.
   */
  category: SizeCategory | null;
  /** Category of the values as measured; `between` contains those at both ends of the intervals. */
  own: SizeCategory;
  between: readonly [SizeCategory, SizeCategory];
  /** Weight and AC, or whichever of them is available. */
  by: Charted[];
}

/**
 * Returns the size category from the weight and, if known, the AC, or from the AC alone if there is
 * no weight. Null if both are missing, because head or femur alone are not enough for a category.
 */
export function sizeOf(charted: readonly Charted[]): Size | null {
  const efw = chartedValue(charted, 'efw');
  const ac = chartedValue(charted, 'ac');
  const [first, second] = efw ? [efw, ac] : [ac, null];
  if (!first) return null;
  const by = second ? [first, second] : [first];
  const at = (end: 0 | 1) =>
    sizeCategory(centileEnds(first)[end], second && centileEnds(second)[end]);
  const [low, high] = [at(0), at(1)];
  const own = sizeCategory(first.centile, second?.centile);
  return { category: low === high ? low : certainOf(low, high), own, between: [low, high], by };
}

function certainOf(low: SizeCategory, high: SizeCategory): SizeCategory | null {
  if (isSmall(low) && isSmall(high)) return 'sga';
  return isLarge(low) && isLarge(high) ? 'lga' : null;
}

const isSmall = (one: SizeCategory) => one === 'sga' || one === 'sga-severe';
const isLarge = (one: SizeCategory) => one === 'lga' || one === 'lga-severe';

/** Builds the statement of the category, with the values that determined it. */
export function sizeStatement(
  { category, own, between: [low, high], by }: Size,
  datingInDoubt: boolean,
): Statement {
  const about = measured(by);
  if (category !== null) return say.conclusion('growth.size', { category, datingInDoubt }, about);
  const cutOffs = [
    ...(isSmall(low) ? [lowerCutOff(by)] : []),
    ...(isLarge(high) ? [SIZE_CUTOFFS.large] : []),
  ];
  return say.gap('growth.at-cut-off', { own, between: [low, high], cutOffs }, about);
}

/**
 * Returns the cut-off between small and not small: the 10th centile if the first value (the weight,
 * if known) may be below it. Otherwise it is the 3rd, because then only an AC below the 3rd can make
 * the size small.
 */
function lowerCutOff([first]: readonly Charted[]): number {
  const { small, severelySmall } = SIZE_CUTOFFS;
  return first && centileEnds(first)[0] < small ? small : severelySmall;
}

/** Returns the classification of the size; empty without a category. */
export function sizeClassification({ category, by }: Size): ClassificationDraft[] {
  if (category === null) return [];
  const one: ClassificationDraft = {
    id: 'size-category',
    concept: findingConcept(SIZE),
    name: 'Size for gestational age',
    value: category,
    scheme: 'ISUOG 2020; 10th and 90th centile',
    criteria: by.map(({ measurement, centile }) =>
      criterion(
        `${measurement.label} centile`,
        { of: 'centile', value: centile },
        centile < SIZE_CUTOFFS.small || centile > SIZE_CUTOFFS.large,
      ),
    ),
  };
  return [one];
}

/**
 * Returns the finding of an AC that is certainly small in a fetus without the category of a small
 * one (obstetric 3.8).
 */
function abdomenFinding({ category, by }: Size, datingInDoubt: boolean): FindingDraft[] {
  const [efw, ac] = by;
  const cutOff = SIZE_CUTOFFS.small;
  if (!efw || !ac || (category && isSmall(category)) || centileEnds(ac)[1] >= cutOff) return [];
  const weightIsOpen = centileEnds(efw)[0] < cutOff;
  const said = say.conclusion(
    'growth.small-abdomen',
    { cutOff, weightIsOpen, datingInDoubt },
    measured([ac]),
  );
  return [finding('abdomen-size', SIZE, said, 'abnormal')];
}

export function sizeFindings(size: Size, datingInDoubt: boolean): FindingDraft[] {
  const said = sizeStatement(size, datingInDoubt);
  const own =
    size.category === null || size.category === 'aga'
      ? []
      : [finding('size', SIZE, said, 'abnormal')];
  return [...own, ...abdomenFinding(size, datingInDoubt)];
}

/** Weights of two identified fetuses, and their difference in % of the larger weight. */
interface TwinWeights {
  weights: readonly [Measurement, Measurement];
  discordance: number;
}

/** Returns the weights in the machine's reports that belong to a named fetus. */
export const weightsByFetus = ({ machine }: Pick<GrowthEvidence, 'machine'>): Measurement[] =>
  ofNamedFetuses(machine.values('biometry', ['efw']));

/**
 * Returns the two weights and their discordance. Null if the reports do not name exactly two
 * fetuses, or if either has no plausible weight.
 */
export function twinWeights(
  weights: readonly Measurement[],
  { study: { cart = [] } }: Pick<GrowthEvidence, 'study'>,
): TwinWeights | null {
  // All fetuses of the reports count, even one without a weight.
  const names = new Set(cart.flatMap(({ fetus }) => fetus ?? []).map(fetusKey));
  if (names.size !== 2) return null;
  const [first, second] = weights.filter(({ quality }) => quality === 'accepted');
  if (!first || !second) return null;
  const [smaller, larger] = [first.value, second.value].toSorted((one, other) => one - other);
  if (smaller === undefined || larger === undefined) return null;
  return { weights: [first, second], discordance: twinDiscordance(larger, smaller) };
}

export const twinStatement = ({ weights, discordance }: TwinWeights): Statement =>
  say.value('growth.twins', { discordance, cutOffs: Object.values(TWIN_DISCORDANCE) }, weights);

/**
 * Returns the finding for a discordance that must be reported (obstetric 3.10). No other twin
 * criterion is assessed.
 */
export function discordanceFindings({ weights, discordance }: TwinWeights): FindingDraft[] {
  if (discordance < TWIN_DISCORDANCE.reported) return [];
  const said = say.conclusion('growth.twin-discordance', { discordance, ...TWIN_DISCORDANCE });
  const evidence = weights.map(({ id }) => id);
  return [finding('twin-discordance', SIZE, said, 'abnormal', { evidence })];
}

/** Ages by biometry. The one calculated from more lengths comes first. */
const AGES = [
  { key: 'ga-by-hc-ac-fl', by: 'hc-ac-fl' },
  { key: 'ga-by-hc', by: 'hc' },
] as const;

/**
 * A difference between the age by biometry and the age by last period that exceeds the accepted
 * limit.
 */
export interface DatingConflict {
  age: Measurement;
  /** Lengths from which the age by biometry was calculated. */
  by: 'hc-ac-fl' | 'hc';
  ageDays: number;
  apartDays: number;
  limitDays: number;
}

/**
 * Returns the conflict if the age by biometry calls for redating a pregnancy dated by last period
 * (ACOG Committee Opinion 700; obstetric 5.2); otherwise null. An age determined by a scan is never
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

/**
 * Returns the finding with both ages and the limit that their difference exceeds. Late in pregnancy
 * no new date is recommended.
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
  return [finding('age-by-biometry', SIZE, said, 'abnormal', { evidence: [age.id] })];
}

/** Number of days per UCUM unit of an age in a report. */
const DAYS: Readonly<Record<string, number>> = { d: 1, wk: 7 };

/**
 * Returns the finding that the age by last period in the machine's report differs from the age that
 * was used by more than is accepted.
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
  return [finding('age-stated-by-machine', SIZE, said, 'abnormal')];
}
