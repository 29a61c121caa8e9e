import { conceptEntry } from '../concepts/concepts.ts';
import { rounded } from '../measure/rounding.ts';
import type { Measurement } from './envelope.ts';
import { numberText } from './render/number-text.ts';

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
 * Removes UCUM annotations, which add nothing to the code of a quantity: `{H.B.}/min` becomes
 * `/min`.
 */
export const withoutAnnotations = (unit: string): string => unit.replaceAll(/\{[^}]*\}/g, '');
