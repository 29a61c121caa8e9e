import { fixed } from '../measure/rounding.ts';
import { weeksAndDays } from '../obstetric/charts/dates.ts';
import { conceptEntry } from '../result/concepts.ts';
import type { Measurement } from '../result/envelope.ts';
import { unitText } from '../result/unit-text.ts';

/** A value with the decimals of its concept; the logic has used the unrounded one. */
export function valueText(measurement: Measurement): string {
  const { value, unit, concept } = measurement;
  if (unit === 'd') return `${weeksAndDays(value)} wk`;
  const decimals = conceptEntry(concept.key)?.decimals ?? 1;
  return `${fixed(value, decimals)} ${unitText(unit)}`.trimEnd();
}

/** A name with the side and the fetus it belongs to: two values of one name must not be mixed up. */
export function withSubject(name: string, { laterality, fetus }: Measurement): string {
  const whose = [laterality, fetus && `fetus ${fetus}`].filter(Boolean).join(', ');
  return whose ? `${name} (${whose})` : name;
}

/** "HC 262.4 mm"; a value that was not accepted is named without its number. */
export function shortText(measurement: Measurement): string {
  const name = conceptEntry(measurement.concept.key)?.abbreviation ?? measurement.label;
  const subject = withSubject(name, measurement);
  return measurement.quality === 'accepted'
    ? `${subject} ${valueText(measurement)}`
    : `${subject} not accepted`;
}
