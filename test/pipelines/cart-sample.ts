import { type CartMeasurement, NOTHING_STATED } from '../../pipelines/contract/study.ts';

/** Creates a value as found in the machine's structured report, with only the given modifiers. */
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
