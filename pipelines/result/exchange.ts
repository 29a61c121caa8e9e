import { conceptEntry } from '../concepts/concepts.ts';
import { rounded } from '../measure/rounding.ts';
import type { Measurement } from './envelope.ts';
import { numberText } from './render/number-text.ts';
import { centileText, OUTERMOST_CENTILES } from './render/unit-text.ts';
import { marginText } from './render/value-text.ts';

/**
 * Converts a number to the exchange unit of a measurement in the concept table. It is first rounded
 * to the decimals of the printed report, because receivers treat every digit as significant. The
 * value of the measurement keeps any further decimals that the report prints to show it on the
 * correct side of a cut-off (obstetric 0.3).
 *
 * @param value an interval or a limit; by default, the value of the measurement is converted.
 */
export function exchanged(m: Measurement, value?: number): { value: number; unit: string } {
  const entry = conceptEntry(m.concept.key);
  // A machine may have used another unit, to which the factor in the table does not apply.
  if (entry?.unit !== m.unit) {
    return { value: Number((value ?? m.value).toPrecision(4)), unit: m.unit };
  }
  const { unit, factor } = entry.exchange;
  // Twelve digits are more than any report prints, and remove the error of the multiplication.
  const printed = value === undefined ? Number(numberText(m)) : rounded(value, entry.decimals);
  return { value: Number((printed * factor).toPrecision(12)), unit };
}

/**
 * Returns the half width of a value's interval as the report prints it, in the unit of exchange; null
 * if it is not known. A half width that would round to zero has one significant digit.
 */
export function exchangedMargin(m: Measurement): { value: number; unit: string } | null {
  const margin = marginText(m);
  if (margin === null) return null;
  const entry = conceptEntry(m.concept.key);
  const { unit, factor } = entry?.unit === m.unit ? entry.exchange : { unit: m.unit, factor: 1 };
  return { value: Number((Number(margin) * factor).toPrecision(12)), unit };
}

/** Decimals of a centile that is exchanged as a number. */
const CENTILE_DECIMALS = 2;

/**
 * Returns a centile as a number, or as less than 1 or more than 99, as the report prints it: rounded,
 * a centile of 99.999 would be 100, which no value has (obstetric 0.3).
 */
export function exchangedCentile(centile: number): { value: number; comparator?: '<' | '>' } {
  const { low, high } = OUTERMOST_CENTILES;
  if (centile < low) return { value: low, comparator: '<' };
  if (centile > high) return { value: high, comparator: '>' };
  return { value: Number(centileText(centile, CENTILE_DECIMALS)) };
}

/**
 * Removes UCUM annotations, which add nothing to the code of a quantity: `{H.B.}/min` becomes
 * `/min`.
 */
export const withoutAnnotations = (unit: string): string => unit.replaceAll(/\{[^}]*\}/g, '');
