export {
  isOfMachine,
  lineBetween,
  measuredOn,
  NO_FRAME,
  originOf,
} from './measured.ts';

import {
  CONCEPTS,
  type ConceptKey,
  type MethodKey,
  measurementConcept,
} from '../concepts/concepts.ts';
import { fixed } from '../measure/rounding.ts';
import type { Measurement } from './envelope.ts';
import { decided, NO_FRAME, originOf, standingBy } from './measured.ts';
import { unitText } from './render/unit-text.ts';

type Given = Partial<Omit<Measurement, 'concept' | 'label' | 'unit' | 'method' | 'value'>>;

/** Creates a measurement of a concept with the unit and label of the concept table. */
export function createMeasurement(
  id: string,
  key: ConceptKey,
  value: number,
  method: MethodKey,
  given: Given = {},
): Measurement {
  return decided({
    id,
    section: 'biometry',
    concept: measurementConcept(key),
    label: CONCEPTS[key].label,
    value,
    unit: CONCEPTS[key].unit,
    method,
    derivation: 'calculated',
    source: NO_FRAME,
    site: CONCEPTS[key].site?.meaning ?? null,
    laterality: null,
    fetus: null,
    phase: null,
    confidence: null,
    uncertainty: null,
    quality: 'accepted',
    reference: null,
    interpretation: null,
    inputs: [],
    origin: originOf(given.source ?? NO_FRAME),
    standing: standingBy(given.quality),
    remarks: [],
    note: null,
    ...given,
  });
}

/**
 * Returns a value as a person reads it: with the decimals of the concept table, and with its unit.
 */
export function format(key: ConceptKey, value: number): string {
  const { unit, decimals } = CONCEPTS[key];
  return `${fixed(value, decimals)} ${unitText(unit)}`.trimEnd();
}
