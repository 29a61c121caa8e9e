import { conceptEntry } from '../../concepts/concepts.ts';
import { fixed } from '../../measure/rounding.ts';
import type { Measurement } from '../envelope.ts';
import { decimalsOf, numberText } from './number-text.ts';
import { weeksAndDays } from './obstetric/shared.ts';
import { withSubject } from './report-lines.ts';
import { withUnit } from './unit-text.ts';

/** Returns a value with its unit for documents. */
export function valueText(measurement: Measurement): string {
  const { value, unit } = measurement;
  if (unit === 'd') return `${weeksAndDays(value)} weeks`;
  return withUnit(numberText(measurement), unit);
}

/**
 * Returns a margin or limit with the decimals of the measurement's concept. `numberText` gives a
 * value near its cut-off further decimals, but no cut-off applies to a margin or limit.
 */
export const plainNumber = ({ concept }: Measurement, value: number): string =>
  fixed(value, decimalsOf(concept.key));

/**
 * Returns name and value, such as "HC 262.4 mm". For a value that was not accepted, the number is
 * left out. A value that needs review is marked.
 */
export function shortText(measurement: Measurement): string {
  const name = conceptEntry(measurement.concept.key)?.abbreviation ?? measurement.label;
  const subject = withSubject(name, measurement);
  if (measurement.quality === 'review') return `${subject} ${valueText(measurement)}, needs review`;
  return measurement.quality === 'accepted'
    ? `${subject} ${valueText(measurement)}`
    : `${subject} not accepted`;
}
