import { type ConceptKey, findingConcept } from '../result/concepts.ts';
import type { Finding, Measurement } from '../result/envelope.ts';
import { CIRCUMFERENCE_SHARE, circumferenceOfDiameters } from './charts/ratios.ts';
import { weightsApart } from './derived-biometry.ts';
import { format, standing } from './measurement.ts';
import { SOFT_RATIOS } from './plausibility.ts';

function doubt(id: string, text: string, evidence: readonly Measurement[]): Finding {
  return {
    id: `consistency-${id}`,
    section: 'biometry',
    concept: findingConcept('repeatability'),
    text,
    severity: 'abnormal',
    confidence: null,
    evidence: evidence.map((one) => one.id),
  };
}

function ratioDoubt(
  id: string,
  numerator: Measurement | null,
  denominator: Measurement | null,
  range: { low: number; high: number },
): Finding[] {
  if (!numerator || !denominator) return [];
  const ratio = numerator.value / denominator.value;
  if (ratio >= range.low && ratio <= range.high) return [];
  const text = `${numerator.label} and ${denominator.label} are inconsistent (ratio ${ratio.toFixed(2)}); check both measurements.`;
  return [doubt(id, text, [numerator, denominator])];
}

/** A circumference of the machine beside diameters of ours, or the reverse. */
function circumferenceDoubt(
  circumference: Measurement | null,
  first: Measurement | null,
  second: Measurement | null,
): Finding[] {
  if (!circumference || !first || !second) return [];
  const expected = circumferenceOfDiameters(first.value, second.value);
  if (Math.abs(circumference.value - expected) <= CIRCUMFERENCE_SHARE * expected) return [];
  const text = `${circumference.label} differs by more than ${100 * CIRCUMFERENCE_SHARE} % from that of its two diameters; check the measurements.`;
  return [doubt(circumference.id, text, [circumference, first, second])];
}

function headDoubt(bpd: Measurement | null, ofd: Measurement | null): Finding[] {
  if (!bpd || !ofd || bpd.value < ofd.value) return [];
  const text = `${bpd.label} is not shorter than ${ofd.label}; check both measurements.`;
  return [doubt('bpd-ofd', text, [bpd, ofd])];
}

function weightDoubt(lengths: readonly Measurement[]): Finding[] {
  const apart = weightsApart(lengths);
  if (!apart) return [];
  const [full, reduced] = apart.map((grams) => format('efw', grams));
  const text = `The weight is ${full} by HC, AC and FL and ${reduced} by AC and FL: the head is inconsistent with the rest; check the measurements.`;
  return [
    doubt(
      'efw',
      text,
      lengths.filter(({ id }) => ['hc', 'ac', 'fl'].includes(id)),
    ),
  ];
}

/** Values that do not fit each other point at a measurement, not at the fetus (reference 0.6). */
export function consistencyFindings(measurements: readonly Measurement[]): Finding[] {
  const of = (key: ConceptKey) => standing(measurements, key);
  return [
    ...ratioDoubt('fl-ac', of('fl'), of('ac'), SOFT_RATIOS.flToAc),
    ...ratioDoubt('fl-hc', of('fl'), of('hc'), SOFT_RATIOS.flToHc),
    ...ratioDoubt('tad-apad', of('tad'), of('apad'), SOFT_RATIOS.tadToApad),
    ...headDoubt(of('bpd'), of('ofd')),
    ...circumferenceDoubt(of('hc'), of('bpd'), of('ofd')),
    ...circumferenceDoubt(of('ac'), of('tad'), of('apad')),
    ...weightDoubt(measurements),
  ];
}
