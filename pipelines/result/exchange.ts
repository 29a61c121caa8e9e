import { conceptEntry } from '../concepts/concepts.ts';
import { rounded } from '../measure/rounding.ts';
import type { Measurement } from './envelope.ts';

/**
 * Converts the value of a measurement to the exchange unit in the concept table. It is rounded to
 * the decimals of the printed report, because receivers treat every digit as significant.
 */
export function exchanged(m: Measurement, value: number): { value: number; unit: string } {
  const entry = conceptEntry(m.concept.key);
  // A machine may have used another unit, to which the factor in the table does not apply.
  if (entry?.unit !== m.unit) {
    return { value: Number(value.toPrecision(4)), unit: m.unit };
  }
  const { unit, factor } = entry.exchange;
  const decimals = Math.max(0, entry.decimals - Math.round(Math.log10(factor)));
  return { value: rounded(value * factor, decimals), unit };
}

/**
 * Removes UCUM annotations, which add nothing to the code of a quantity: `{H.B.}/min` becomes
 * `/min`.
 */
export const withoutAnnotations = (unit: string): string => unit.replaceAll(/\{[^}]*\}/g, '');
