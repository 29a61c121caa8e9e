import { CONCEPTS, type ConceptKey } from '../result/concepts.ts';
import type { Measurement } from '../result/envelope.ts';

export { createMeasurement, format, NO_FRAME } from '../result/measurement.ts';

/** The value that stands for a concept: its median, or its only one; null unless accepted. */
export function standing(
  measurements: readonly Measurement[],
  key: ConceptKey,
): Measurement | null {
  const found = measurements.find(({ id }) => id === key);
  return found?.quality === 'accepted' ? found : null;
}

/** Names of concepts for a sentence. */
export function abbreviations(keys: readonly ConceptKey[]): string {
  return keys.map((key) => CONCEPTS[key].abbreviation).join(', ');
}
