import { CONCEPTS, type ConceptKey, conceptEntry } from '../../concepts/concepts.ts';
import { fixedOffCutOffs } from '../../measure/rounding.ts';
import type { Measurement } from '../envelope.ts';
import { cutOffsOf } from '../obstetric/limits.ts';
import { unitText } from './unit-text.ts';

export { createMeasurement, NO_FRAME } from '../measurement.ts';

/**
 * A value as every sentence shows it: rounded as the concept table says, but kept on its side of
 * each cut-off (obstetric 0.3). `also`: cut-offs that apply to this value only.
 */
export function formatValue(key: ConceptKey, value: number, also: readonly number[] = []): string {
  const { unit, decimals } = CONCEPTS[key];
  const number = fixedOffCutOffs(value, decimals, [...cutOffsOf(key), ...also]);
  return `${number} ${unitText(unit)}`.trimEnd();
}

/** The value that counts for a concept: its median, or its only one; null unless accepted. */
export function acceptedValue(
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

/** Decimals of a quantity that the concept table does not hold. */
const USUAL_DECIMALS = 1;

/** Decimals of a quantity, by the key of its concept. */
export const decimalsOf = (key: string): number => conceptEntry(key)?.decimals ?? USUAL_DECIMALS;

/** The cut-offs of one measurement: a nuchal translucency is judged by the limit of its CRL, too. */
function cutOffsOfMeasurement({
  concept,
  reference,
}: Pick<Measurement, 'concept' | 'reference'>): readonly number[] {
  const limit = concept.key === 'nuchal-translucency' ? reference?.high : null;
  return [...cutOffsOf(concept.key), ...(limit == null ? [] : [limit])];
}

/**
 * The number of a value as every table shows it: with the decimals of its concept, and as many more
 * as keep it on its side of each cut-off (obstetric 0.3). Decisions use the unrounded value.
 */
export const numberText = (one: Pick<Measurement, 'concept' | 'reference' | 'value'>): string =>
  fixedOffCutOffs(one.value, decimalsOf(one.concept.key), cutOffsOfMeasurement(one));
