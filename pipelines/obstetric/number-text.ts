import { fixedOffCutOffs } from '../measure/rounding.ts';
import { conceptEntry } from '../result/concepts.ts';
import type { Measurement } from '../result/envelope.ts';
import { cutOffsOfMeasurement } from './cut-offs.ts';

/** Decimals of a quantity that the concept table does not hold. */
const USUAL_DECIMALS = 1;

/** Decimals of a quantity, by the key of its concept. */
export const decimalsOf = (key: string): number => conceptEntry(key)?.decimals ?? USUAL_DECIMALS;

/**
 * The number of a value as every table shows it: with the decimals of its concept, and as many more as
 * keep it on its side of each cut-off (obstetric reference 0.3). The logic has used the unrounded one.
 */
export const numberText = (one: Pick<Measurement, 'concept' | 'reference' | 'value'>): string =>
  fixedOffCutOffs(one.value, decimalsOf(one.concept.key), cutOffsOfMeasurement(one));
