import { CONCEPTS, type ConceptKey, type MethodKey } from '../concepts/concepts.ts';
import { fixed } from '../measure/rounding.ts';
import type { Measurement } from './envelope.ts';
import { type Given, measurementOf } from './measured.ts';
import { withUnit } from './render/unit-text.ts';

/** Creates a measurement of a concept, with unit and label from the concept table. */
export function createMeasurement(
  id: string,
  key: ConceptKey,
  value: number,
  method: MethodKey,
  given: Given,
): Measurement {
  return measurementOf(id, key, CONCEPTS[key], value, method, given);
}

/** Returns a value as text, with its unit and the decimals from the concept table. */
export function format(key: ConceptKey, value: number): string {
  const { unit, decimals } = CONCEPTS[key];
  return withUnit(fixed(value, decimals), unit);
}
