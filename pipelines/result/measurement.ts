import { fixed } from '../measure/rounding.ts';
import { CONCEPTS, type ConceptKey, type MethodKey, measurementConcept } from './concepts.ts';
import type { Measurement } from './envelope.ts';
import { unitText } from './unit-text.ts';

type Given = Partial<Omit<Measurement, 'concept' | 'label' | 'unit' | 'method' | 'value'>>;

/** The source of a value that belongs to no single frame. */
export const NO_FRAME: Measurement['source'] = {
  provenance: 'model',
  file: null,
  sop_instance_uid: null,
  frame: null,
  calipers: [],
};

/** A measurement of a concept with the unit and label of the concept table. */
export function createMeasurement(
  id: string,
  key: ConceptKey,
  value: number,
  method: MethodKey,
  given: Given = {},
): Measurement {
  return {
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
    note: null,
    ...given,
  };
}

/** A value as a person reads it: rounded as the concept table says, with its unit. */
export function format(key: ConceptKey, value: number): string {
  const { unit, decimals } = CONCEPTS[key];
  return `${fixed(value, decimals)} ${unitText(unit)}`.trimEnd();
}
