import { fixedOffCutOffs } from '../measure/rounding.ts';
import { CONCEPTS, type ConceptKey } from '../result/concepts.ts';
import type { Measurement } from '../result/envelope.ts';
import { unitText } from '../result/unit-text.ts';
import { cutOffsOf } from './cut-offs.ts';

export { createMeasurement, NO_FRAME } from '../result/measurement.ts';

/**
 * A value as every sentence shows it: rounded as the concept table says, but on that side of each
 * cut-off on which it lies (obstetric reference 0.3). `also`: cut-offs that hold for this value alone.
 */
export function format(key: ConceptKey, value: number, also: readonly number[] = []): string {
  const { unit, decimals } = CONCEPTS[key];
  const number = fixedOffCutOffs(value, decimals, [...cutOffsOf(key), ...also]);
  return `${number} ${unitText(unit)}`.trimEnd();
}

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
