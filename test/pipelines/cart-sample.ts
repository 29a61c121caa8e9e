import { type CartMeasurement, NOTHING_STATED } from '../../pipelines/contract/study.ts';

/** A value as a structured report of the machine holds it, with only the given modifiers. */
export function cartValue(
  given: Partial<CartMeasurement> & Pick<CartMeasurement, 'concept' | 'value' | 'unit'>,
): CartMeasurement {
  return {
    key: null,
    ...NOTHING_STATED,
    file: 'report.dcm',
    ...given,
  };
}
