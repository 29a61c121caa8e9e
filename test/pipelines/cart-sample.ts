import type { CartMeasurement } from '../../pipelines/contract/study.ts';

/** A value as a structured report of the machine holds it, with only the given modifiers. */
export function cartValue(
  given: Partial<CartMeasurement> & Pick<CartMeasurement, 'concept' | 'value' | 'unit'>,
): CartMeasurement {
  return {
    key: null,
    derivation: null,
    selection: null,
    of: null,
    equation: null,
    method: null,
    site: null,
    laterality: null,
    fetus: null,
    phase: null,
    respiration: null,
    imageMode: null,
    imageView: null,
    flowDirection: null,
    stage: null,
    property: null,
    divisor: null,
    file: 'report.dcm',
    sopInstanceUid: null,
    image: null,
    ...given,
  };
}
