import { fixedOffCutOffs } from '../../measure/rounding.ts';

const SUPERSCRIPTS: Readonly<Record<string, string>> = { 2: '²', 3: '³' };

/**
 * Returns a UCUM unit in readable form: without annotations in braces, with raised exponents
 * (`cm²`), and with a degree sign. Empty for a dimensionless number.
 */
export function unitText(unit: string): string {
  if (unit === '1') return '';
  if (unit === 'deg') return '°';
  return unit
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll('[Hg]', 'Hg')
    .replaceAll(/(?<=[a-z])[23](?=$|[/.])/g, (digit) => SUPERSCRIPTS[digit] ?? digit);
}

/** Returns a number with its UCUM unit for people: "25 mm", "110°", "146/min", "0.5". */
export function withUnit(number: string, unit: string): string {
  const text = unitText(unit);
  return /^[°/]/.test(text) ? `${number}${text}` : `${number} ${text}`.trimEnd();
}

/**
 * Centiles at which a category changes: size (obstetric 3.8), Doppler and soft markers (3.9, 8,
 * 13). The sections define these rules; here they only constrain rounding.
 */
const CUT_OFFS: readonly number[] = [3, 5, 10, 90, 95, 97];

/** Outermost centiles that are stated as numbers (obstetric 0.3). */
export const OUTERMOST_CENTILES = { low: 1, high: 99 } as const;

/**
 * Returns a centile in the format used by all outputs (obstetric 0.3): a whole number from 1 to 99,
 * or "<1" or ">99" beyond that. Decimals are added if rounding would move it across a cut-off.
 *
 * @param decimals more than 0 for a number that is exchanged and not displayed.
 */
export function centileText(centile: number, decimals = 0): string {
  const { low, high } = OUTERMOST_CENTILES;
  if (centile < low) return `<${low}`;
  if (centile > high) return `>${high}`;
  return fixedOffCutOffs(centile, decimals, CUT_OFFS);
}

/** z-scores at which a finding begins (obstetric 3.8) or the dating becomes doubtful (0.6). */
const Z_CUT_OFFS: readonly number[] = [-5, -3, -2, 2, 5];

/** Returns a z-score with one decimal, or more if rounding would move it onto a cut-off. */
export function zScoreText(z: number): string {
  return fixedOffCutOffs(z, 1, Z_CUT_OFFS);
}

/** Longer lists of values state their number and the first names only. */
const MOST_LABELS = 12;
const NAMED_LABELS = 3;

/**
 * Lists names of values, each once. Semicolons separate them if a name contains a comma, as in "LA
 * area, A4C".
 */
export function listOfLabels(labels: readonly string[]): string {
  const distinct = [...new Set(labels)];
  if (distinct.length > MOST_LABELS) {
    return `${distinct.length} values, among them ${listOfLabels(distinct.slice(0, NAMED_LABELS))}`;
  }
  return distinct.join(distinct.some((label) => label.includes(',')) ? '; ' : ', ');
}

const joined = (texts: readonly string[], word: 'and' | 'or'): string =>
  [texts.slice(0, -1).join(', '), texts.at(-1)].filter(Boolean).join(` ${word} `);

/** Renders a list: "A4C, A2C and A3C". */
export const allOf = (texts: readonly string[]): string => joined(texts, 'and');

/** Renders a list of alternatives: "A4C, A2C or A3C". */
export const anyOf = (texts: readonly string[]): string => joined(texts, 'or');

/** Renders "1 file", "2 files". */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Adds a full stop unless the text already ends a sentence. */
export const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/**
 * Returns a name as it begins a cell or a caption: "Tricuspid e' 12.5 cm/s". A name that begins with
 * a symbol remains unchanged, because the wave E is not the velocity e'.
 */
export const asHeading = (name: string): string =>
  name.replace(/^[a-z](?=[a-z]{2})/, (first) => first.toUpperCase());
