import { remarksOf, type SentenceTable, statementsOf } from '../../statement.ts';
import type { SentenceContext, ValueTexts } from './shared.ts';
import {
  allOf,
  anyOf,
  capital,
  inSentence,
  type Nothing,
  SEVERAL_FETUSES,
  type SeveralFetusesSource,
} from './shared.ts';

/** Data that the definition of growth restriction and its advice need (obstetric 3.9). */
const NEEDS = {
  efw: 'EFW',
  ac: 'AC',
  'umbilical-doppler': 'umbilical artery Doppler',
  'umbilical-flow': 'umbilical end-diastolic flow',
  'umbilical-pi': 'umbilical artery PI',
  'uterine-doppler': 'uterine artery Doppler',
  'cerebroplacental-ratio': 'cerebroplacental ratio',
  'earlier-scan': 'growth since an earlier scan',
  'amniotic-fluid': 'amniotic fluid',
  anatomy: 'anatomy',
} as const;
export type Need = keyof typeof NEEDS;

/** Renders data. A statement that an earlier version stored has the words, which are unchanged. */
export const needText = (need: Need): string => NEEDS[need] ?? need;

const UMBILICAL: ReadonlySet<string> = new Set(['umbilical-doppler', NEEDS['umbilical-doppler']]);

/**
 * Missing inputs for an assessment. `missing` inputs were not assessed; `undecided` inputs were
 * measured, but their interval includes a cut-off.
 */
export type Lacking = {
  missing: readonly Need[];
  undecided?: readonly Need[];
};

function lackingText({ missing, undecided = [] }: Lacking): string[] {
  return [
    ...(undecided.length > 0
      ? [
          `Undetermined, as a cut-off lies within the interval: ${undecided.map(needText).join(', ')}.`,
        ]
      : []),
    ...(missing.length > 0 ? [`Not assessed: ${missing.map(needText).join(', ')}.`] : []),
  ];
}

/** Size for gestational age (obstetric 3.8). */
export const SIZE_TEXT = {
  'sga-severe': 'severely small for gestational age (below the 3rd centile)',
  sga: 'small for gestational age (below the 10th centile)',
  aga: 'appropriate for gestational age (10th to 90th centile)',
  lga: 'large for gestational age (above the 90th centile)',
  'lga-severe': 'very large for gestational age (above the 97th centile)',
} as const;
export type SizeCategory = keyof typeof SIZE_TEXT;

/** Sizes without their severity, in ascending order. */
const SIZES = ['small', 'appropriate', 'large'] as const;
const SIZE: Readonly<Record<SizeCategory, (typeof SIZES)[number]>> = {
  'sga-severe': 'small',
  sga: 'small',
  aga: 'appropriate',
  lga: 'large',
  'lga-severe': 'large',
};

/**
 * Size of a value whose interval includes cut-offs: the categories at both ends, the category of
 * the value itself, and the centiles that are cut-offs. Results of earlier versions contain only
 * `between`.
 */
export type OpenSize = {
  between: readonly SizeCategory[];
  own?: SizeCategory;
  cutOffs?: readonly number[];
};

const centileName = (centile: number) => `${centile}${centile === 3 ? 'rd' : 'th'}`;

/**
 * Renders the sizes on both sides of a cut-off, that of the value itself first: "appropriate or small
 * for gestational age, as the 10th centile is within the interval". If all three sizes are possible,
 * listing them would say nothing, so the extent of the interval is stated instead.
 */
export function openSizeText({ between: [low, high], own, cutOffs = [] }: OpenSize): string {
  if (!low || !high) return '';
  const possible = SIZES.slice(SIZES.indexOf(SIZE[low]), SIZES.indexOf(SIZE[high]) + 1);
  const [first, last] = [cutOffs[0], cutOffs.at(-1)];
  if (possible.length === SIZES.length && first !== undefined && last !== undefined) {
    return `size not classified, as the interval extends from below the ${centileName(first)} to above the ${centileName(last)} centile`;
  }
  const sizes = anyOf(own ? [...new Set([SIZE[own], ...possible])] : possible);
  const centiles = allOf(cutOffs.map(centileName));
  if (centiles === '') return `${sizes} for gestational age, as a cut-off is within the interval`;
  const cutOff = cutOffs.length > 1 ? 'centiles are' : 'centile is';
  return `${sizes} for gestational age, as the ${centiles} ${cutOff} within the interval`;
}

const NOT_CHARTED = {
  no_chart_for_formula: () => 'no growth chart is based on this weight formula',
  formula_not_known: () =>
    'no centile: the weight formula of the ultrasound machine is not known, and each growth chart is based on one formula',
  outside_chart_range: (weeks: Weeks | null) =>
    `no centile: outside the range of the chart (${weeks?.from}+0 to ${weeks?.to}+0 weeks)`,
  bpd_convention_not_stated: () =>
    'no centile: the report of the ultrasound machine does not state whether it was measured outer to inner, and the chart is for BPD outer to outer',
} as const;
type NotChartedCode = keyof typeof NOT_CHARTED;
type Weeks = { from: number; to: number };
export type NotChartedReason = { code: NotChartedCode; weeks: Weeks | null };

/** Returns the reason why a value is not charted, as text for the data of the section. */
export const notChartedText = ({ code, weeks }: NotChartedReason): string =>
  NOT_CHARTED[code](weeks);

/** Sources of the values of an earlier scan, best first. */
export const EARLIER_SOURCES = ['images', 'machine-report', 'unreviewed-draft'] as const;
export type EarlierSource = (typeof EARLIER_SOURCES)[number];

const SOURCE: Readonly<Record<EarlierSource, string>> = {
  images: 'measured on its images',
  'machine-report': 'with values from the report of the ultrasound machine',
  'unreviewed-draft': 'with values from an unreviewed draft of this gateway',
};

/** Lengths from which an age is calculated. */
export const AGE_BY = { 'hc-ac-fl': 'HC, AC and FL', hc: 'HC' } as const;

const NO_CHANGE = {
  'no-earlier-scan': () => '',
  'several-fetuses': () => ': the earlier scan names several fetuses',
  'interval-too-short': (days: number, least: number) =>
    `: the interval of ${days} ${days === 1 ? 'day' : 'days'} since the earlier scan is too short to assess growth (at least ${least} days)`,
  'earlier-scan-undated': () => ': the earlier files are not dated',
  'nothing-charted-now': () =>
    ': no value of this scan can be compared with that of the earlier scan on a growth chart',
  'nothing-comparable': () => ': nothing comparable was measured on the earlier scan',
} as const;

const ONLY_IF_DATED = 'This applies only if the dating is correct.';
const conditioned = (text: string, datingInDoubt: boolean) =>
  datingInDoubt ? `${text} ${ONLY_IF_DATED}` : text;

/** Renders "EFW 1165 g (centile 65)"; the centile is left out if the value has none. */
export function charted({ about, text }: SentenceContext): string {
  const each = about.map((one) => {
    const centile = one.reference?.centile ?? null;
    const place = centile === null ? '' : ` (centile ${text.centile(centile)})`;
    return `${text.names([one.concept.key])} ${text.value(one)}${place}`;
  });
  return each.join(', ');
}

const zOf = ({ about: [one], text }: SentenceContext) => text.zScore(one?.reference?.z_score ?? 0);

/** Returns a number with its sign, but never "-0.00". */
export function signed(value: number): string {
  const rounded = Number(value.toFixed(2));
  return `${rounded < 0 ? '' : '+'}${Math.abs(rounded) === 0 ? '0.00' : rounded.toFixed(2)}`;
}

/**
 * Returns centile points as a whole number, or with decimals if rounding would move a fall onto the
 * cut-off.
 */
export function pointsText(points: number, cutOff: number): string {
  if (points <= 0) return 'no fall';
  const whole = points.toFixed(0);
  return `${Number(whole) === cutOff ? points.toFixed(2) : whole} points`;
}

/**
 * A criterion for growth restriction with the value that meets it. A value of kind `fall` is in
 * centile points.
 */
type Criterion = {
  name: string;
  kind: 'centile' | 'fall' | 'flow';
  value: number | null;
  cutOff: number;
};

export function criterionText(
  { name, kind, value, cutOff }: Criterion,
  text: Pick<ValueTexts, 'centile'>,
): string {
  if (value === null) return name;
  return `${name} (${kind === 'fall' ? pointsText(value, cutOff) : text.centile(value)})`;
}

type SmallFetus = {
  form: 'sga-doppler-needed' | 'sga-not-fgr' | 'early-fgr' | 'late-fgr';
  /** True if only the abdominal circumference is small. */
  onlyAbdomen: boolean;
  cutOff: number;
  met: readonly Criterion[];
  early: boolean;
  datingInDoubt: boolean;
  /** True if the interval of a size includes a cut-off of the definition. */
  sizeIsOpen: boolean;
  /**
   * True if the interval of the fall since an earlier scan includes its cut-off; absent in results
   * of earlier versions.
   */
  fallIsOpen?: boolean;
  /** Doppler indices of the definition without a centile; absent in results of earlier versions. */
  doppler?: Lacking;
};

const TO_DISTINGUISH = 'needed to distinguish constitutional smallness from growth restriction';

/**
 * Returns which Doppler indices are still needed to distinguish smallness from restriction.
 * `unknown` names what is needed if there is no umbilical artery Doppler.
 */
export function dopplerNeeded(unknown: string, doppler?: Lacking): string {
  const { missing, undecided = [] } = doppler ?? { missing: [] };
  if (missing.some((one) => UMBILICAL.has(one)) || missing.length + undecided.length === 0) {
    return `${unknown} is ${TO_DISTINGUISH}`;
  }
  return missing.length > 0
    ? `${allOf(missing.map(needText))} ${missing.length > 1 ? 'are' : 'is'} ${TO_DISTINGUISH}`
    : `Doppler does not distinguish constitutional smallness from growth restriction, as a cut-off lies within the interval: ${allOf(undecided.map(needText))}`;
}

const FALL_IS_OPEN =
  'It is undetermined whether the centile has fallen by more than two quartiles since an earlier scan, as the cut-off lies within the interval.';

const metText = (met: readonly Criterion[], text: ValueTexts) =>
  [...new Set(met.map((one) => criterionText(one, text)))].join(', ');

function leadText(of: SmallFetus, text: ValueTexts): string {
  const size = `${of.sizeIsOpen ? 'Possibly small' : 'Small'} for gestational age`;
  const small =
    of.onlyAbdomen && !of.sizeIsOpen
      ? `Abdominal circumference below the ${of.cutOff}th centile, but not the weight`
      : size;
  const lead = () => {
    if (of.form === 'sga-doppler-needed') {
      const unknown = 'umbilical artery (and after 32 weeks middle cerebral artery) Doppler';
      return `${small}; ${dopplerNeeded(unknown, of.doppler)}.`;
    }
    return of.form === 'sga-not-fgr'
      ? `${small}; the Doppler criteria of the consensus definition of growth restriction were assessed and none is met.`
      : `${of.sizeIsOpen ? 'With the values as measured, meets' : 'Meets'} the consensus definition of ${of.early ? 'early' : 'late'} fetal growth restriction: ${metText(of.met, text)}.`;
  };
  const fall = of.fallIsOpen ? ` ${FALL_IS_OPEN}` : '';
  return conditioned(`${lead()}${fall}`, of.datingInDoubt);
}

export const GROWTH_SENTENCES = {
  'growth.several-fetuses': ({ source }: { source: SeveralFetusesSource }) =>
    `Size for gestational age was not assessed: ${SEVERAL_FETUSES[source]}. The charts apply to singletons. Selective growth restriction was not assessed.`,
  'growth.no-age': () => 'Gestational age was not given, so size for age was not assessed.',
  'growth.nothing-measured': () =>
    'Nothing was measured that could be compared with a growth chart.',
  /** `about` contains the values that determined the category. */
  'growth.size': (
    { category, datingInDoubt }: { category: SizeCategory; datingInDoubt: boolean },
    context: SentenceContext,
  ) => conditioned(`${capital(SIZE_TEXT[category])}: ${charted(context)}.`, datingInDoubt),
  'growth.at-cut-off': (size: OpenSize, context: SentenceContext) =>
    `${charted(context)}: ${openSizeText(size)}; measure by hand.`,
  'growth.not-judged': () => 'Size for gestational age was not classified.',
  'growth.dated': ({ basis, days }: { basis: string; days: number }, { text }: SentenceContext) =>
    `Dated by ${text.basis(basis)}: ${text.weeks(days)} weeks.`,
  'growth.values': (_: Nothing, context: SentenceContext) => `${charted(context)}.`,
  /** Renders in one sentence why values have no centile or no category. */
  'growth.incomplete': (
    of: {
      notCharted: readonly NotChartedReason[];
      doubtful: boolean;
      needsWeight: boolean;
    },
    { about }: SentenceContext,
  ) => {
    const parts = [
      ...of.notCharted.map(
        ({ code, weeks }, index) =>
          `${inSentence(about[index]?.label ?? '')}: ${NOT_CHARTED[code](weeks)}`,
      ),
      ...(of.doubtful ? ['values are inconsistent with the stated age'] : []),
      ...(of.needsWeight ? ['the size category needs a weight or an AC'] : []),
    ];
    return `${capital(parts.join('; '))}.`;
  },
  'growth.change': (
    of: {
      daysBefore: number;
      days: number;
      sources: readonly EarlierSource[];
      values: readonly { key: string; zPerWeek: number; centileThen: number }[];
    },
    { text }: SentenceContext,
  ) => {
    const words = of.values.map(
      ({ key, zPerWeek, centileThen }) =>
        `${text.names([key])} ${signed(zPerWeek)} (then centile ${text.centile(centileThen)})`,
    );
    return `Change in z-score per week since the scan ${of.daysBefore} days earlier, at ${text.weeks(of.days)} weeks, ${allOf(of.sources.map((one) => SOURCE[one]))}: ${words.join(', ')}.`;
  },
  'growth.no-change': (of: { reason: keyof typeof NO_CHANGE; days: number; least: number }) =>
    `Growth over time was not assessed${NO_CHANGE[of.reason](of.days, of.least)}.`,
  'growth.scan-left-out': () => 'An earlier scan that names several fetuses was left out.',
  'growth.dating-doubtful': ({ z }: { z: number }, { about }: SentenceContext) =>
    `${capital(about.map(({ label }) => inSentence(label)).join(', '))}: more than ${z} standard deviations from the mean for the stated age; check the dating and the measurement. Size for gestational age was not classified.`,
  'growth.head-size': (
    of: { size: 'large' | 'microcephaly' | 'small'; datingInDoubt: boolean },
    context: SentenceContext,
  ) => {
    const word = { large: 'Large head', microcephaly: 'Microcephaly range', small: 'Small head' };
    const said = `${word[of.size]}: ${charted(context)}, z-score ${zOf(context)}.`;
    return conditioned(said, of.datingInDoubt);
  },
  'growth.bpd-shape': ({ datingInDoubt }: { datingInDoubt: boolean }, context: SentenceContext) =>
    conditioned(
      `${charted(context)}, z-score ${zOf(context)}, but HC is not small: attributable to head shape.`,
      datingInDoubt,
    ),
  'growth.short-femur': ({ datingInDoubt }: { datingInDoubt: boolean }, context: SentenceContext) =>
    conditioned(`Short femur: ${charted(context)}, z-score ${zOf(context)}.`, datingInDoubt),
  'growth.small-abdomen': (
    of: { cutOff: number; weightIsOpen: boolean; datingInDoubt: boolean },
    context: SentenceContext,
  ) => {
    const weight = of.weightIsOpen
      ? '; the weight is not certainly below it'
      : ', but the weight is not';
    const said = `${charted(context)}: below the ${of.cutOff}th centile${weight}.`;
    return conditioned(said, of.datingInDoubt);
  },
  'growth.macrosomia': ({ grams }: { grams: number }, { about: [efw], text }: SentenceContext) =>
    `Estimated weight ${efw ? text.value(efw) : ''}: macrosomia range (${grams} g or more).`,
  'growth.centile-crossing': (
    of: { key: string; daysBefore: number; earlier: number; now: number },
    { text }: SentenceContext,
  ) =>
    `${text.names([of.key])} crossed more than two quartiles since the scan ${of.daysBefore} days earlier: centile ${text.centile(of.earlier)} then, ${text.centile(of.now)} now.`,
  'growth.age-by-biometry': (
    of: {
      by: keyof typeof AGE_BY;
      days: number;
      stated: number;
      apart: number;
      limit: number;
      noRedatingFrom: number;
    },
    { text }: SentenceContext,
  ) => {
    const found = `Age by ${AGE_BY[of.by]} ${text.weeks(of.days)} weeks, ${of.apart} days from the ${text.weeks(of.stated)} weeks by ${text.basis('lmp')}`;
    const advice =
      of.stated < of.noRedatingFrom
        ? `beyond ${of.limit} days dating by ultrasound is advised unless an earlier scan confirms the age given (ACOG Committee Opinion 700).`
        : `beyond ${of.limit} days the dating is in doubt (ACOG Committee Opinion 700). From ${text.weeks(of.noRedatingFrom)} weeks on, a single scan does not change the dating: abnormally slow or fast growth looks the same.`;
    return `${found}: ${advice} The age given was kept.`;
  },
  'growth.age-stated-by-machine': (
    of: { machine: number; stated: number },
    { text }: SentenceContext,
  ) =>
    `The report of the ultrasound machine states ${text.weeks(of.machine)} weeks by ${text.basis('lmp')}, ${Math.abs(of.machine - of.stated)} days from the ${text.weeks(of.stated)} weeks given; check the dating. The age given was kept.`,
  'growth.restriction': (of: SmallFetus, { text }: SentenceContext) => leadText(of, text),
  'growth.lone-criterion': (
    of: { met: readonly Criterion[]; early: boolean } & Lacking,
    { text }: SentenceContext,
  ) => {
    const open = lackingText(of)
      .map((one) => ` ${one}`)
      .join('');
    return `Of the consensus definition of ${of.early ? 'early' : 'late'} fetal growth restriction, only this is met: ${metText(of.met, text)}. This alone does not satisfy the definition.${open}`;
  },
  'growth.advice': ({ missing }: Pick<Lacking, 'missing'>) =>
    `Not assessed: ${missing.map(needText).join(', ')}. Consider confirming the dating, detailed anatomy, amniotic fluid and serial Doppler per local protocol.`,
  'growth.twins': (
    { discordance, cutOffs }: { discordance: number; cutOffs: readonly number[] },
    { about, text }: SentenceContext,
  ) => {
    const named = about.map((one) => `fetus ${one.fetus} ${text.value(one)}`);
    return `Weights from the report of the ultrasound machine: ${named.join(', ')}; discordance ${text.rounded(discordance, 1, cutOffs)} % (difference as a share of the larger weight).`;
  },
  'growth.twin-discordance': (
    of: { discordance: number; reported: number; selective: number },
    { text }: SentenceContext,
  ) => {
    const percent = text.rounded(of.discordance, 1, [of.reported, of.selective]);
    const criterion =
      of.discordance < of.selective
        ? `${of.reported} % or more (ISUOG).`
        : `${of.selective} % or more, a contributory criterion for selective fetal growth restriction (Delphi 2019); its other criteria were not assessed.`;
    return `Weights of the twins discordant by ${percent} %: ${criterion}`;
  },
} as const satisfies SentenceTable;

export const say = statementsOf<typeof GROWTH_SENTENCES>();

export const GROWTH_REMARKS = {
  'growth.not-charted': (reason: NotChartedReason) => notChartedText(reason),
} as const satisfies SentenceTable;

export const remarkOfGrowth = remarksOf<typeof GROWTH_REMARKS>();
