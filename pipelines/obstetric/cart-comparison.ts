import { type CartQuantity, cartQuantities } from '../result/cart-measurements.ts';
import { type ConceptKey, findingConcept } from '../result/concepts.ts';
import type { Finding, Measurement } from '../result/envelope.ts';
import { machineUnused } from './machine-unused.ts';
import { ifPlausible, joined, STANDS_IN } from './machine-values.ts';
import { abbreviations, format, standing } from './measurement.ts';
import { REPEATABILITY } from './plausibility.ts';
import type { ObstetricEvidence } from './section.ts';
import { severalFetuses } from './several-fetuses.ts';

const LENGTHS = ['bpd', 'ofd', 'hc', 'tad', 'apad', 'ac', 'fl'] as const;
type LengthKey = (typeof LENGTHS)[number];

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

const placementNote = (key: LengthKey) => (key === 'bpd' ? BPD_NOTE : null);

function standIn(key: LengthKey, value: Measurement): Measurement {
  return { ...value, id: key, note: joined(value.note, placementNote(key), STANDS_IN) };
}

/** How far values of a length of this size may lie apart (reference 2.6), mm. */
const repeatability = (key: LengthKey, mm: number) =>
  key === 'fl' ? REPEATABILITY.femurMm : REPEATABILITY.circumferenceShare * mm;

/** Whether two values of a length differ by more than repeated ones may. */
const disagrees = (key: LengthKey, ours: number, machine: number) =>
  Math.abs(machine - ours) > repeatability(key, (ours + machine) / 2);

/** What repeated values of the machine are told of, as ours are (reference 2.6). */
const REPEATED: ReadonlySet<string> = new Set(['hc', 'ac', 'fl'] satisfies LengthKey[]);

function spreadFinding(
  key: LengthKey,
  { measurement, spread }: CartQuantity,
  standsAs: string,
): Finding[] {
  if (!spread || !REPEATED.has(key)) return [];
  const apart = spread.high - spread.low;
  if (apart <= repeatability(key, measurement.value)) return [];
  return [
    {
      id: `repeatability-cart-${key}`,
      section: 'biometry',
      concept: findingConcept('repeatability'),
      text: `Repeated values of ${abbreviations([key])} of the ultrasound machine differ by ${format(key, apart)}; measure again.`,
      severity: 'abnormal',
      confidence: null,
      evidence: [standsAs],
    },
  ];
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
 * have none. Of several fetuses none is used: the images do not say whose they are. What is
 * implausible is listed and compared with nothing (reference 0.6).
 */
export function compareWithCart(
  evidence: ObstetricEvidence,
  ours: readonly Measurement[],
): CartComparison {
  const quantities = cartQuantities(evidence.study.cart ?? [], 'biometry', LENGTHS);
  const values = quantities.map(({ measurement }) => measurement);
  const comparison: CartComparison = { lengths: [...ours], beside: [], findings: [], unused: null };
  const unused = machineUnused(values, severalFetuses(evidence));
  if (unused) return { ...comparison, unused };
  for (const quantity of quantities) {
    const value = ifPlausible(quantity.measurement);
    const key = LENGTHS.find((length): length is LengthKey => length === value.concept.key);
    if (!key) continue;
    const own = standing(ours, key);
    const implausible = value.quality === 'inadequate' ? [value] : [];
    // Where we have none they say why the length is missing.
    (own ? comparison.beside : comparison.lengths).push(...implausible, ...quantity.unused);
    if (implausible.length > 0) continue;
    const shown = own ? besideOurs(key, value, own) : standIn(key, value);
    (own ? comparison.beside : comparison.lengths).push(shown);
    if (own) comparison.findings.push(comparisonFinding(key, shown, own));
    comparison.findings.push(...spreadFinding(key, quantity, shown.id));
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
