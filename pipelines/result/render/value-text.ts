import { conceptEntry } from '../../concepts/concepts.ts';
import { fixed } from '../../measure/rounding.ts';
import type { Measurement } from '../envelope.ts';
import { decimalsOf, numberText } from './number-text.ts';
import { weeksAndDays, withSubject } from './obstetric/shared.ts';
import { withUnit } from './unit-text.ts';

/** Returns a value with its unit for documents. */
export function valueText(measurement: Measurement): string {
  const { value, unit } = measurement;
  if (unit === 'd') return `${weeksAndDays(value)} weeks`;
  return withUnit(numberText(measurement), unit);
}

/**
 * Returns a margin or limit with the decimals of the measurement's concept. `numberText` gives a
 * value near its cut-off further decimals, but no cut-off applies to a margin or limit.
 */
export const plainNumber = ({ concept }: Measurement, value: number): string =>
  fixed(value, decimalsOf(concept.key));

/**
 * Returns the half width of a value's 95 % interval, without a unit; null if it is not known. A half
 * width that would round to zero is given with one significant digit.
 */
export function marginText(measurement: Measurement): string | null {
  const { uncertainty } = measurement;
  if (uncertainty === null || uncertainty === 0) return null;
  const rounded = plainNumber(measurement, uncertainty);
  return Number(rounded) === 0 ? uncertainty.toPrecision(1) : rounded;
}

/**
 * Returns name and value, such as "HC 262.4 mm". For a value that was not accepted, the number is
 * left out. A value that needs review is marked.
 */
export function shortText(measurement: Measurement): string {
  const name = conceptEntry(measurement.concept.key)?.abbreviation ?? measurement.label;
  const subject = withSubject(name, measurement);
  if (measurement.quality === 'review') return `${subject} ${valueText(measurement)}, needs review`;
  return measurement.quality === 'accepted'
    ? `${subject} ${valueText(measurement)}`
    : `${subject} not accepted`;
}

/**
 * Returns a sentence or number of the result with typographic signs in place of ASCII ones: "≥ 2"
 * for ">= 2", "−18.7" for "-18.7", "0.6 – 0.9" for "0.6 - 0.9". Do not use it for names and
 * identifiers.
 */
export const typeset = (text: string): string =>
  text
    .replaceAll('>=', '≥')
    .replaceAll('<=', '≤')
    .replaceAll(/(?<=\d|\)) - (?=[\d.-])/g, ' – ')
    .replaceAll(/(?<![^\s(±–])-(?=\d)/g, '−');
