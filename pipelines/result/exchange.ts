import { conceptEntry } from '../concepts/concepts.ts';
import { rounded } from '../measure/rounding.ts';
import type { Measurement } from './envelope.ts';

/**
 * A value of a measurement in the unit of exchange of the concept table, with the decimals of the
 * printed report: receivers take every digit as significant.
 */
export function exchanged(m: Measurement, value: number): { value: number; unit: string } {
  const entry = conceptEntry(m.concept.key);
  // The factor of the table does not fit another unit, as a machine may have used.
  if (entry?.unit !== m.unit) {
    return { value: Number(value.toPrecision(4)), unit: m.unit };
  }
  const { unit, factor } = entry.exchange;
  const decimals = Math.max(0, entry.decimals - Math.round(Math.log10(factor)));
  return { value: rounded(value * factor, decimals), unit };
}

/** UCUM annotations add nothing to the code of a quantity: `{H.B.}/min` becomes `/min`. */
export const withoutAnnotations = (unit: string): string => unit.replaceAll(/\{[^}]*\}/g, '');
