import type { Measurement } from '../../envelope.ts';
import { remarksOf, type SentenceTable, statementsOf } from '../../statement.ts';

/** Functions that render numbers and names for sentences in one language. */
export interface ValueTexts {
  /**
   * Renders a measurement with its unit, such as "12.3 mm". The rounded number stays on the same
   * side of each cut-off as the unrounded one. `also` contains further cut-offs for this value.
   */
  value(one: Pick<Measurement, 'concept' | 'value'>, also?: readonly number[]): string;
  /** Renders a number that is not a measurement in the result, in the same format as `value`. */
  quantity(key: string, value: number): string;
  /** Renders the value of a measurement without its unit, such as "12.3". */
  number(one: Pick<Measurement, 'concept' | 'reference' | 'value'>): string;
  /**
   * Renders a number with `decimals` decimals, or more if it would otherwise be rounded onto a
   * cut-off.
   */
  rounded(value: number, decimals: number, cutOffs: readonly number[]): string;
  /** Renders a number with its UCUM unit: "25 mm", "110°". */
  withUnit(number: string, unit: string): string;
  /** Renders the concepts' abbreviations: "BPD, HC". */
  names(keys: readonly string[]): string;
  /** Returns the label of a concept: "Head circumference". */
  label(key: string): string;
  /** Renders a gestational age, given in days, as weeks and days: "29+3". */
  weeks(days: number): string;
  centile(centile: number): string;
  zScore(z: number): string;
  /** Returns the display name of a growth or Doppler chart. */
  chart(key: string): string;
  /** Returns the method of dating as text, such as "last menstrual period". */
  basis(basis: string): string;
  /** Renders the remarks of a measurement as one text. */
  note(one: Measurement): string;
  /** Renders why a value outside its hard limits is not used. */
  implausible(key: string): string;
}

/** Inputs of a sentence in addition to its parameters. */
export interface SentenceContext {
  /** Measurements that the statement refers to, in the statement's order. */
  readonly about: readonly Measurement[];
  readonly fetus: string | null;
  readonly text: ValueTexts;
}

/** Methods of dating. Biometry of this scan is not among them. */
export const DATING_BASIS = ['lmp', 'crl', 'prior_scan', 'ivf'] as const;
type DatingBasis = (typeof DATING_BASIS)[number];

export const BASIS_TEXT: Readonly<Record<DatingBasis, string>> = {
  lmp: 'last menstrual period',
  crl: 'crown-rump length',
  prior_scan: 'an earlier scan',
  ivf: 'assisted reproduction',
};

/**
 * Returns the text for a method of dating. A method added by a later version is shown unchanged.
 */
export const basisText = (basis: string): string =>
  Object.entries(BASIS_TEXT).find(([key]) => key === basis)?.[1] ?? basis;

/** Gestational age from the request, in days, and the method of dating. */
export interface Dating {
  ga_days: number;
  basis: DatingBasis;
}

/** Type of `params` for a sentence without parameters. */
export type Nothing = Record<string, never>;

/** Returns a sentence or name with its first letter capitalised. */
export const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/**
 * A first word that is capitalised only because of its position, not because it is a name or symbol
 * (the A wave).
 */
const CAPITALISED = /^(?:(?!Doppler\b|Teichholz\b)[A-Z][a-z]+\b|A (?!wave\b)(?=[a-z]))/;

/**
 * Returns a sentence or name as it appears within a sentence; abbreviations keep their capitals.
 */
export const inSentence = (text: string): string =>
  text.replace(CAPITALISED, (word) => word.toLowerCase());

const joined = (texts: readonly string[], word: 'and' | 'or'): string =>
  [texts.slice(0, -1).join(', '), texts.at(-1)].filter(Boolean).join(` ${word} `);

/** Renders a list: "a", "a and b", "a, b and c". */
export const allOf = (texts: readonly string[]): string => joined(texts, 'and');

/** Renders a list of alternatives: "a or b", "a, b or c". */
export const anyOf = (texts: readonly string[]): string => joined(texts, 'or');

/** Returns " (ultrasound machine)" for a value that the machine measured, otherwise ''. */
export const whose = ({ origin }: { origin: string }): string =>
  origin === 'machine' ? ' (ultrasound machine)' : '';

/** Returns a name with its side and fetus: "Atrial width (left, fetus A)". */
export function withSubject(
  name: string,
  { laterality, fetus }: { laterality: string | null; fetus: string | null },
): string {
  const subject = [laterality, fetus && `fetus ${fetus}`].filter(Boolean).join(', ');
  return subject ? `${name} (${subject})` : name;
}

/** Text for the source that indicates several fetuses. It explains why images are not combined. */
export const SEVERAL_FETUSES = {
  'named-in-reports':
    'the reports of the ultrasound machine name several fetuses, and the images do not identify which one they show',
  'further-named':
    'the reports of the ultrasound machine name a further fetus, and the images do not identify which one they show',
  counted:
    'the reports of the ultrasound machine count more than one fetus, and the images do not identify which one they show',
  'named-on-images': 'the image names indicate several fetuses, which must not be mixed',
  'seen-on-sweep':
    'a sweep appears to show more than one fetus, and the images do not identify which one they show',
} as const;
export type SeveralFetusesSource = keyof typeof SEVERAL_FETUSES;

/**
 * Returns the text for a value that may be on either side of a cut-off, because the interval of the
 * value includes the cut-off.
 */
export const acrossText = (
  { withUnit }: ValueTexts,
  cutOff: number,
  unit: 'mm' | 'deg' | '' = 'mm',
): string =>
  `The interval of the value includes the cut-off of ${withUnit(`${cutOff}`, unit)}: measure by hand.`;

/**
 * Text for the categories that are not simply rendered as their code with spaces in place of
 * hyphens.
 */
const CATEGORY_WORDS: Readonly<Record<string, string>> = {
  'low-lying': 'low-lying placenta',
  praevia: 'placenta praevia',
  H: 'above the usual range',
  L: 'below the usual range',
  N: 'within the usual range',
  'no-signal': 'no sign of anaemia',
};

/**
 * Returns all categories of a scale between two of them. An interval can include several cut-offs:
 * one that reaches from a short to a long cervix includes normal lengths too.
 */
export function spanned<Category extends string | null>(
  scale: readonly Category[],
  [low, high]: readonly [Category, Category],
): readonly Category[] {
  const [from, to] = [scale.indexOf(low), scale.indexOf(high)];
  return from < 0 || to < from ? [low, high] : scale.slice(from, to + 1);
}

/**
 * Scales of categories, each in ascending order of the measured value. A value whose interval spans
 * several steps may be in any category between its ends.
 */
const SCALES: readonly (readonly string[])[] = [
  ['praevia', 'low-lying', 'normal'],
  ['small', 'normal', 'large'],
  ['L', 'N', 'H'],
  ['normal', 'mild', 'moderate', 'severe'],
  ['effaced', 'normal', 'mega'],
  ['down', 'horizontal', 'up'],
];

/** Scale of each concept whose category names also occur in the scale of another concept. */
const SCALE_OF: Readonly<Record<string, readonly string[]>> = {
  'middle-cerebral-artery-psv-mom': ['no-signal', 'mild', 'moderate-to-severe', 'severe'],
};

/** Renders the categories of a value on both sides of a cut-off: "normal or mild". */
function sides(between: readonly string[], { concept }: Measurement): string {
  const [low = '', high = ''] = between;
  const scale =
    SCALE_OF[concept.key] ?? SCALES.find((one) => one.includes(low) && one.includes(high));
  const all = scale ? spanned(scale, [low, high]) : between;
  return anyOf(all.map((one) => CATEGORY_WORDS[one] ?? one.replaceAll('-', ' ')));
}

/** Sentences that every obstetric section may use. */
export const OBSTETRIC_SENTENCES = {
  /** `between` contains the categories at both ends of the value's interval. */
  'obstetric.at-cut-off': (
    { between }: { between: readonly string[] },
    { about: [value], text }: SentenceContext,
  ) =>
    value
      ? `${withSubject(value.label, value)} ${text.value(value)}, at a cut-off: ${sides(between, value)}; measure by hand.`
      : '',
  'obstetric.across-cut-off': (
    { cutOff, unit }: { cutOff: number; unit: 'mm' | 'deg' | '' },
    { text }: SentenceContext,
  ) => acrossText(text, cutOff, unit),
  'machine.of-several-fetuses': () =>
    'Values from the ultrasound machine were not used: its reports name several fetuses.',
  'machine.of-fetuses': (_: Nothing, { about, text }: SentenceContext) => {
    const named = about.map((one) => `${withSubject(one.label, one)} ${text.value(one)}`);
    return `From the report of the ultrasound machine: ${named.join(', ')}.`;
  },
  'machine.fetus-not-known': () =>
    'No value from the ultrasound machine was used: the fetus that the values belong to is unknown.',
} as const satisfies SentenceTable;

export const sayOfObstetric = statementsOf<typeof OBSTETRIC_SENTENCES>();

/** Text printed with every value whose method could be developed on phantoms only. */
export const SIMULATED_ONLY =
  'measured by a method developed on simulated images only; not validated on real ones';

/** Remarks about single measurements. */
export const OBSTETRIC_REMARKS = {
  'method.simulated-only': () => SIMULATED_ONLY,
  'method.without-reference': () =>
    'measured by a method that was not validated on real images; the labels of its real training images were not drawn by a clinician',
  'method.thickness-on-phantoms': () =>
    'thickness checked on simulated images only; not validated in millimetres on real ones',
  'obstetric.implausible': (_: Nothing, { about, text }: SentenceContext) =>
    text.implausible(about[0]?.concept.key ?? ''),
  'obstetric.implausible-by': ({ key }: { key: string }, { text }: SentenceContext) =>
    text.implausible(key),
  'machine.in-place-of-ours': () =>
    'from the report of the ultrasound machine, as no value measured here was accepted',
  'machine.difference': ({ percent }: { percent: number }) =>
    `${Math.abs(percent).toFixed(1)} % ${percent < 0 ? 'below' : 'above'} the value measured here`,
  'machine.input-corrected': ({ keys }: { keys: readonly string[] }, { text }: SentenceContext) =>
    `not used: calculated by the machine from the ${text.names(keys)} before the reader corrected it`,
  'machine.passed-over': () => 'not interpreted: another machine value is used',
} as const satisfies SentenceTable;

export const remark = remarksOf<typeof OBSTETRIC_REMARKS>();

/** Renders a gestational age as clinicians write it: completed weeks and days, "29+3". */
export function weeksAndDays(gaDays: number): string {
  const days = Math.round(gaDays);
  return `${Math.floor(days / 7)}+${days % 7}`;
}
