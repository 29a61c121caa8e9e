import { cartMeasurements } from '../result/cart-measurements.ts';
import { type ConceptKey, findingConcept } from '../result/concepts.ts';
import type { Finding, Measurement } from '../result/envelope.ts';
import { abbreviations, format, standing } from './measurement.ts';
import { implausibleNote, isPlausible, REPEATABILITY } from './plausibility.ts';
import type { ObstetricEvidence } from './section.ts';

const LENGTHS = ['bpd', 'ofd', 'hc', 'tad', 'apad', 'ac', 'fl'] as const;
type LengthKey = (typeof LENGTHS)[number];

const STANDS_IN = 'taken from the report of the ultrasound machine, for want of an accepted one';

/** The lengths that stand once the machine's own values are known, and what is said about them. */
export interface CartComparison {
  /** Ours, and the machine's where we have none accepted: those under the plain id (`hc`). */
  lengths: Measurement[];
  /** The machine's beside ours, as `cart-hc`. */
  beside: Measurement[];
  findings: Finding[];
  /** Why the machine's values are not used; null where they are or where there are none. */
  unused: string | null;
}

/** Machines place BPD outer to inner by default, we outer to outer (reference 2.1). */
const BPD_NOTE = 'the machine may have measured outer to inner';

const joined = (...notes: readonly (string | null)[]) => notes.filter(Boolean).join('; ') || null;

const placementNote = (key: LengthKey) => (key === 'bpd' ? BPD_NOTE : null);

function standIn(key: LengthKey, value: Measurement): Measurement {
  const plausible = isPlausible(key, value.value);
  return {
    ...value,
    id: plausible ? key : value.id,
    quality: plausible ? 'accepted' : 'inadequate',
    note: joined(value.note, placementNote(key), plausible ? STANDS_IN : implausibleNote(key)),
  };
}

/** Whether two values of a length differ by more than repeated ones may (reference 2.6). */
function disagrees(key: LengthKey, ours: number, machine: number): boolean {
  const limit =
    key === 'fl'
      ? REPEATABILITY.femurMm
      : REPEATABILITY.circumferenceShare * ((ours + machine) / 2);
  return Math.abs(machine - ours) > limit;
}

function differenceText(key: LengthKey, ours: number, machine: number): string {
  const difference = format(key, Math.abs(machine - ours));
  const share = ((100 * Math.abs(machine - ours)) / ours).toFixed(1);
  const side = machine < ours ? 'below' : 'above';
  return `${difference} (${share} %) ${side} the measured ${format(key, ours)}`;
}

function besideOurs(key: LengthKey, value: Measurement, ours: Measurement): Measurement {
  const difference = differenceText(key, ours.value, value.value);
  const note = joined(value.note, placementNote(key), difference);
  return { ...value, note };
}

function comparisonFinding(key: LengthKey, value: Measurement, ours: Measurement): Finding {
  const far = disagrees(key, ours.value, value.value);
  const name = abbreviations([key]);
  const difference = differenceText(key, ours.value, value.value);
  const advice = far ? '; check both measurements' : '';
  return {
    id: `cart-${key}`,
    section: 'biometry',
    concept: findingConcept('repeatability'),
    text: `${name} of the ultrasound machine ${format(key, value.value)}: ${difference}${advice}.`,
    severity: far ? 'abnormal' : 'info',
    confidence: null,
    evidence: [ours.id, value.id],
  };
}

/**
 * Compares our lengths with those of the machine's reports, and lets the machine's stand where we
 * have none. With several fetuses in the reports none is used: the images do not say whose they are.
 */
export function compareWithCart(
  evidence: ObstetricEvidence,
  ours: readonly Measurement[],
): CartComparison {
  const values = cartMeasurements(evidence.study.cart ?? [], 'biometry', LENGTHS);
  const fetuses = new Set(values.map(({ fetus }) => fetus));
  if (fetuses.size > 1) {
    const unused =
      'The values of the ultrasound machine were not used: its reports name several fetuses.';
    return { lengths: [...ours], beside: [], findings: [], unused };
  }
  const comparison: CartComparison = { lengths: [...ours], beside: [], findings: [], unused: null };
  for (const value of values) {
    const key = LENGTHS.find((length): length is LengthKey => length === value.concept.key);
    if (!key) continue;
    const own = standing(ours, key);
    if (!own) {
      comparison.lengths.push(standIn(key, value));
      continue;
    }
    comparison.beside.push(besideOurs(key, value, own));
    comparison.findings.push(comparisonFinding(key, value, own));
  }
  return comparison;
}

/** The lengths of a list that the machine measured and not we. */
export function fromMachine(measurements: readonly Measurement[]): ConceptKey[] {
  return LENGTHS.filter((key) => standing(measurements, key)?.source.provenance === 'cart-sr');
}

/** A value calculated from the machine's lengths says so. */
export function withCartInputs(
  derived: readonly Measurement[],
  lengths: readonly Measurement[],
): Measurement[] {
  const machine: readonly string[] = fromMachine(lengths);
  return derived.map((one) => {
    const used = LENGTHS.filter((key) => machine.includes(key) && one.inputs.includes(key));
    if (used.length === 0) return one;
    const note = joined(one.note, `with ${abbreviations(used)} of the ultrasound machine`);
    return { ...one, note };
  });
}
