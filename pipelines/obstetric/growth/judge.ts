import { type FindingConceptKey, findingConcept, STATED_AGE } from '../../concepts/concepts.ts';
import type { CartMeasurement } from '../../contract/cart.ts';
import { fetusKey } from '../../contract/fetus-name.ts';
import { fixedOffCutOffs } from '../../measure/rounding.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { weeksAndDays } from '../../result/gestational-age.ts';
import { BASIS_TEXT } from '../../result/render/dating.ts';
import { abbreviations, acceptedValue, formatValue } from '../../result/render/number-text.ts';
import { centileText, zScoreText } from '../../result/render/unit-text.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import { NO_REDATING_FROM_DAYS, redatingDays } from '../early-pregnancy/guideline.ts';
import type { ObstetricOptions } from '../input.ts';
import { ifPlausible } from '../shared/machine-values.ts';
import { SOFT_Z } from '../shared/plausibility.ts';
import type { GrowthEvidence } from './evidence.ts';
import {
  CENTILE_CROSSING,
  LATE_FORM_WEEKS,
  MACROSOMIA_GRAMS,
  SIZE_CUTOFFS,
  SIZE_LABELS,
  type SizeCategory,
  sizeCategory,
  TWIN_DISCORDANCE,
  twinDiscordance,
} from './guideline.ts';
import type { GrowthSince } from './interval-growth.ts';
import {
  type Charted,
  type ChartedKey,
  chart,
  chartedValue,
  isCharted,
  valueWithCentile,
} from './measure.ts';

export function growthFinding(
  id: string,
  concept: FindingConceptKey,
  text: string,
  evidence: readonly Charted[],
  severity: FindingDraft['severity'] = 'abnormal',
): FindingDraft {
  return {
    id,
    section: 'growth',
    concept: findingConcept(concept),
    text,
    severity,
    confidence: null,
    evidence: evidence.map(({ measurement }) => measurement.id),
  };
}

/** z-scores beyond which a part is called small or large (obstetric 3.8). */
const PART_Z = { microcephaly: -3, low: -2, high: 2 } as const;

/** Head and femur by z-score; a small BPD beside a head of its size is a matter of shape. */
export function partFindings(charted: readonly Charted[]): FindingDraft[] {
  const [hc, fl, bpd] = (['hc', 'fl', 'bpd'] as const).map((key) => chartedValue(charted, key));
  const findings: FindingDraft[] = [];
  if (hc && (hc.z > PART_Z.high || hc.z < PART_Z.low)) {
    const word =
      hc.z > PART_Z.high
        ? 'Large head'
        : hc.z < PART_Z.microcephaly
          ? 'Microcephaly range'
          : 'Small head';
    const text = `${word}: ${valueWithCentile(hc, 'hc')}, z-score ${zScoreText(hc.z)}.`;
    findings.push(growthFinding('head-size', 'head-size', text, [hc]));
  }
  if (bpd && hc && bpd.z < PART_Z.low && hc.z >= PART_Z.low) {
    const text = `${valueWithCentile(bpd, 'bpd')}, z-score ${zScoreText(bpd.z)}, with an HC that is not small: an effect of the shape of the head.`;
    findings.push(growthFinding('bpd-shape', 'head-shape', text, [bpd, hc], 'info'));
  }
  if (fl && fl.z < PART_Z.low) {
    const text = `Short femur: ${valueWithCentile(fl, 'fl')}, z-score ${zScoreText(fl.z)}.`;
    findings.push(growthFinding('femur-size', 'femur-size', text, [fl]));
  }
  return findings;
}

/** Macrosomia is a matter of grams, with or without a centile (ACOG Practice Bulletin 216). */
export function weightFinding(
  charted: readonly Charted[],
  measurements: readonly Measurement[],
): FindingDraft[] {
  const efw = acceptedValue(measurements, 'efw');
  const reached = MACROSOMIA_GRAMS.find((grams) => efw !== null && efw.value >= grams);
  if (!efw || reached === undefined) return [];
  const entry = chartedValue(charted, 'efw');
  const text = `Estimated weight ${formatValue('efw', efw.value)}: macrosomia range (${reached} g or more).`;
  return [
    {
      ...growthFinding('macrosomia', 'size-for-gestational-age', text, entry ? [entry] : []),
      evidence: [efw.id],
    },
  ];
}

export function datingFinding(doubtful: readonly Charted[]): FindingDraft[] {
  if (doubtful.length === 0) return [];
  const names = doubtful.map(({ measurement }) => measurement.label).join(', ');
  const text = `${names}: more than ${SOFT_Z} standard deviations from the mean for the stated age; check the dating and the measurement. Size for gestational age was not judged.`;
  return [growthFinding('dating-doubtful', 'size-for-gestational-age', text, doubtful)];
}

/** A fall of the centile counts in the late form only (Delphi 2016). */
export function crossingFinding({ fall }: GrowthSince, gaDays: number): FindingDraft[] {
  if (!fall || gaDays / 7 < LATE_FORM_WEEKS || fall.points <= CENTILE_CROSSING) return [];
  const { key, before, now, daysBefore } = fall;
  const text = `${abbreviations([key])} crossed more than two quartiles since the scan ${daysBefore} days before: centile ${centileText(before.centile)} then, ${centileText(now.centile)} now.`;
  return [growthFinding('centile-crossing', 'size-for-gestational-age', text, [now])];
}

export interface Size {
  category: SizeCategory;
  /** The weight and the AC, or the one of them that is there. */
  by: Charted[];
}

/** Size needs a weight, or else an AC: a head or a femur alone gives none. */
export function sizeOf(charted: readonly Charted[]): Size | null {
  const efw = chartedValue(charted, 'efw');
  const ac = chartedValue(charted, 'ac');
  if (efw) {
    const category = sizeCategory(efw.centile, ac?.centile ?? null);
    return { category, by: ac ? [efw, ac] : [efw] };
  }
  return ac ? { category: sizeCategory(ac.centile), by: [ac] } : null;
}

const keyOf = ({ measurement }: Charted) => measurement.concept.key as ChartedKey;

/** The category with the numbers that caused it. */
export function sizeSentence({ category, by }: Size): string {
  const label = SIZE_LABELS[category];
  const values = by.map((entry) => valueWithCentile(entry, keyOf(entry))).join(', ');
  return `${label.charAt(0).toUpperCase()}${label.slice(1)}: ${values}.`;
}

export function sizeClassification({ category, by }: Size): Result['classifications'][number] {
  return {
    id: 'size-category',
    section: 'growth',
    concept: findingConcept('size-for-gestational-age'),
    name: 'Size for gestational age',
    value: category,
    scheme: 'ISUOG 2020; 10th and 90th centile',
    criteria: by.map(({ measurement, centile }) => ({
      name: `${measurement.label} centile`,
      value: centileText(centile),
      met: centile < SIZE_CUTOFFS.small || centile > SIZE_CUTOFFS.large,
    })),
  };
}

/** A small AC is told beside a weight that is not small (obstetric 3.8). */
function abdomenFinding({ category, by }: Size): FindingDraft[] {
  const [efw, ac] = by;
  const weightIsSmall = category === 'sga' || category === 'sga-severe';
  if (!efw || !ac || weightIsSmall || ac.centile >= SIZE_CUTOFFS.small) return [];
  const text = `${valueWithCentile(ac, 'ac')}: below the ${SIZE_CUTOFFS.small}th centile beside a weight that is not.`;
  return [growthFinding('abdomen-size', 'size-for-gestational-age', text, [ac])];
}

export function sizeFindings(size: Size): FindingDraft[] {
  const own =
    size.category === 'aga'
      ? []
      : [growthFinding('size', 'size-for-gestational-age', sizeSentence(size), size.by)];
  return [...own, ...abdomenFinding(size)];
}

/** The cut-offs that lie within the interval of a value. */
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

const LIST = new Intl.ListFormat('en-GB', { type: 'conjunction' });
const ordinal = (centile: number) => `${centile}${centile === 3 ? 'rd' : 'th'}`;

/** Said where an interval holds a cut-off, so that the category is not sure; else nothing. */
export function sizeAcrossCutOffs({ by }: Size, gaWeeks: number): string[] {
  const across = by
    .map((entry) => ({ key: keyOf(entry), cutOffs: cutOffsWithin(entry, gaWeeks) }))
    .filter(({ cutOffs }) => cutOffs.length > 0);
  if (across.length === 0) return [];
  const names = across.map(({ key }) => abbreviations([key])).join(' and ');
  const cutOffs = new Set(across.flatMap(({ cutOffs: within }) => within));
  const listed = [...cutOffs].toSorted((one, other) => one - other).map(ordinal);
  const centiles = `${LIST.format(listed)} ${listed.length > 1 ? 'centiles' : 'centile'}`;
  return [`The interval of ${names} reaches across the ${centiles}: confirm the category by hand.`];
}

/** The weights of two named fetuses, and how far they are apart in % of the larger. */
export interface TwinWeights {
  weights: readonly [Measurement, Measurement];
  discordance: number;
}

/**
 * Weights that the machine's reports name for two fetuses; null where they do not name just two, or
 * one of the two has none that can be.
 */
export function twinWeights({ machine }: Pick<GrowthEvidence, 'machine'>): TwinWeights | null {
  const named = machine
    .values('biometry', ['efw'])
    .map(ifPlausible)
    .filter(({ fetus }) => fetus !== null);
  // A repeat that cannot be is no further fetus, and a third fetus without a weight is one.
  if (new Set(named.map(({ fetus }) => fetusKey(fetus))).size !== 2) return null;
  const [first, second] = named.filter(({ quality }) => quality === 'accepted');
  if (!first || !second) return null;
  const [smaller, larger] = [first.value, second.value].toSorted((one, other) => one - other);
  if (smaller === undefined || larger === undefined) return null;
  return { weights: [first, second], discordance: twinDiscordance(larger, smaller) };
}

const percentText = (discordance: number) =>
  `${fixedOffCutOffs(discordance, 1, Object.values(TWIN_DISCORDANCE))} %`;

/** The two weights and their discordance, with its formula. */
export function discordanceSentence({ weights, discordance }: TwinWeights): string {
  const named = weights.map(({ fetus, value }) => `fetus ${fetus} ${formatValue('efw', value)}`);
  return `Weights by the report of the ultrasound machine: ${named.join(', ')}; discordance ${percentText(discordance)} (difference as a share of the larger weight).`;
}

/** A discordance that is told (obstetric 3.10); no criterion but it was looked at. */
export function discordanceFindings(twins: TwinWeights): FindingDraft[] {
  const { weights, discordance } = twins;
  const { told, selective } = TWIN_DISCORDANCE;
  if (discordance < told) return [];
  const criterion =
    discordance < selective
      ? `${told} % or more (ISUOG).`
      : `${selective} % or more, a contributory criterion of selective fetal growth restriction (Delphi 2019); its other criteria were not assessed.`;
  return [
    {
      id: 'twin-discordance',
      section: 'growth',
      concept: findingConcept('size-for-gestational-age'),
      text: `Weights of the twins discordant by ${percentText(discordance)}: ${criterion}`,
      severity: 'abnormal',
      confidence: null,
      evidence: weights.map(({ id }) => id),
    },
  ];
}

type Dating = NonNullable<ObstetricOptions['dating']>;

/** Ages by biometry, the one of more lengths first, and what a sentence calls them. */
const AGES = [
  { key: 'ga-by-hc-ac-fl', by: 'HC, AC and FL' },
  { key: 'ga-by-hc', by: 'HC' },
] as const;

/** An age by biometry that is further from the age by last period than is let stand. */
export interface DatingConflict {
  age: Measurement;
  /** The lengths it was made of, as a sentence names them. */
  by: string;
  ageDays: number;
  apartDays: number;
  limitDays: number;
}

/**
 * Whether the age by biometry asks for another date than the last period gave (ACOG Committee Opinion
 * 700; obstetric 5.2). An age that a scan has set is never dated anew.
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

/** Said of every sentence about size for age while the age itself is in doubt. */
const ONLY_IF_DATED = 'This holds only if the dating is right.';

/** A sentence about size for age, with its condition where the age is in doubt. */
export function conditionedOn(conflict: DatingConflict | null, text: string): string {
  return conflict ? `${text} ${ONLY_IF_DATED}` : text;
}

function contradictedDatingFinding(id: string, text: string, evidence: string[]): FindingDraft {
  return {
    id,
    section: 'growth',
    concept: findingConcept('size-for-gestational-age'),
    text: `${text} The age given was kept.`,
    severity: 'abnormal',
    confidence: null,
    evidence,
  };
}

/** Both ages and the limit that they break. Late in pregnancy no new date is advised. */
export function conflictFindings(
  conflict: DatingConflict | null,
  { ga_days }: Dating,
): FindingDraft[] {
  if (!conflict) return [];
  const { age, by, ageDays, apartDays, limitDays } = conflict;
  const found = `Age by ${by} ${weeksAndDays(ageDays)} weeks, ${apartDays} days from the ${weeksAndDays(ga_days)} weeks by ${BASIS_TEXT.lmp}`;
  const advice =
    ga_days < NO_REDATING_FROM_DAYS
      ? `beyond ${limitDays} days dating by ultrasound is advised unless an earlier scan confirms the age given (ACOG Committee Opinion 700).`
      : `beyond ${limitDays} days the dating is in doubt (ACOG Committee Opinion 700). From ${weeksAndDays(NO_REDATING_FROM_DAYS)} weeks on one scan does not date a pregnancy anew: growth that is too slow or too fast looks the same.`;
  return [contradictedDatingFinding('age-by-biometry', `${found}: ${advice}`, [age.id])];
}

/** UCUM unit of an age in a report → days. */
const DAYS: Readonly<Record<string, number>> = { d: 1, wk: 7 };

/** That the machine's report states another age by last period than the one that was used. */
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
  const text = `The report of the ultrasound machine states ${weeksAndDays(stated)} weeks by ${BASIS_TEXT.lmp}, ${Math.abs(stated - ga_days)} days from the ${weeksAndDays(ga_days)} weeks given; check the dating.`;
  return [contradictedDatingFinding('age-stated-by-machine', text, [])];
}
