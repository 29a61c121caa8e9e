import { CONCEPTS, type ConceptKey, conceptEntry } from '../../concepts/concepts.ts';
import { fixedOffCutOffs } from '../../measure/rounding.ts';
import type { Measurement } from '../envelope.ts';
import { cutOffsOf } from '../obstetric/limits.ts';
import { withUnit } from './unit-text.ts';

/**
 * Returns a value with its unit for sentences. It has the decimals from the concept table, or more
 * if rounding would move it across a cut-off (obstetric 0.3). `also` contains further cut-offs for
 * this value.
 */
export function formatValue(key: ConceptKey, value: number, also: readonly number[] = []): string {
  const { unit, decimals } = CONCEPTS[key];
  const number = fixedOffCutOffs(value, decimals, [...cutOffsOf(key), ...also]);
  return withUnit(number, unit);
}

/** Number of decimals for a quantity that is not in the concept table. */
const USUAL_DECIMALS = 1;

export const decimalsOf = (key: string): number => conceptEntry(key)?.decimals ?? USUAL_DECIMALS;

/**
 * Returns the cut-offs for one measurement. For a nuchal translucency, they include the limit for
 * its CRL.
 */
function cutOffsOfMeasurement({
  concept,
  reference,
}: Pick<Measurement, 'concept' | 'reference'>): readonly number[] {
  const limit = concept.key === 'nuchal-translucency' ? reference?.high : null;
  return [...cutOffsOf(concept.key), ...(limit == null ? [] : [limit])];
}

/**
 * Returns a value without its unit, for tables. It has the decimals of its concept, or more if
 * rounding would move it across a cut-off (obstetric 0.3). Decisions use the unrounded value.
 */
export const numberText = (one: Pick<Measurement, 'concept' | 'reference' | 'value'>): string =>
  fixedOffCutOffs(one.value, decimalsOf(one.concept.key), cutOffsOfMeasurement(one));
