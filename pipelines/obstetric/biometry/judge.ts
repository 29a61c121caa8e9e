import { type ConceptKey, findingConcept } from '../../concepts/concepts.ts';
import { fixedOffCutOffs } from '../../measure/rounding.ts';
import type { CartQuantity } from '../../result/cart-values.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isOfMachine } from '../../result/measurement.ts';
import { abbreviations, acceptedValue, formatValue } from '../../result/render/number-text.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import {
  ifPlausible,
  joined,
  machineUnused,
  ofSeveralFetuses,
  STANDS_IN,
  withMachineValues,
} from '../shared/machine-values.ts';
import { REPEATABILITY, SOFT_RATIOS } from '../shared/plausibility.ts';
import { WEIGHTS_DIFFER, weightsApart } from './derive.ts';
import type { BiometryEvidence } from './evidence.ts';
import { CIRCUMFERENCE_SHARE, circumferenceOfDiameters } from './formulas.ts';

function doubt(id: string, text: string, evidence: readonly Measurement[]): FindingDraft {
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
): FindingDraft[] {
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
): FindingDraft[] {
  if (!circumference || !first || !second) return [];
  const expected = circumferenceOfDiameters(first.value, second.value);
  if (Math.abs(circumference.value - expected) <= CIRCUMFERENCE_SHARE * expected) return [];
  const text = `${circumference.label} differs by more than ${100 * CIRCUMFERENCE_SHARE} % from that of its two diameters; check the measurements.`;
  return [doubt(circumference.id, text, [circumference, first, second])];
}

function headDoubt(bpd: Measurement | null, ofd: Measurement | null): FindingDraft[] {
  if (!bpd || !ofd || bpd.value < ofd.value) return [];
  const text = `${bpd.label} is not shorter than ${ofd.label}; check both measurements.`;
  return [doubt('bpd-ofd', text, [bpd, ofd])];
}

function weightDoubt(lengths: readonly Measurement[]): FindingDraft[] {
  const apart = weightsApart(lengths);
  if (!apart) return [];
  const [full, reduced] = apart.map((grams) => formatValue('efw', grams));
  const text = `The weight is ${full} by HC, AC and FL and ${reduced} by AC and FL: the head is inconsistent with the rest; check the measurements.`;
  return [
    doubt(
      'efw',
      text,
      lengths.filter(({ id }) => ['hc', 'ac', 'fl'].includes(id)),
    ),
  ];
}

/** Values that do not fit each other point at a measurement, not at the fetus (obstetric 0.6). */
export function consistencyFindings(measurements: readonly Measurement[]): FindingDraft[] {
  const of = (key: ConceptKey) => acceptedValue(measurements, key);
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

const LENGTHS = ['bpd', 'ofd', 'hc', 'tad', 'apad', 'ac', 'fl'] as const;
type LengthKey = (typeof LENGTHS)[number];

/** The lengths that stand once the machine's own values are known, and what is said about them. */
export interface CartComparison {
  /** Ours, and the machine's where we have none accepted: those under the plain id (`hc`). */
  lengths: Measurement[];
  /** The machine's beside ours, as `cart-hc`. */
  beside: Measurement[];
  findings: FindingDraft[];
  /** Why the machine's values are not used; null where they are or where there are none. */
  unused: string | null;
}

/** Machines place BPD outer to inner by default, we outer to outer (obstetric 2.1). */
const BPD_NOTE = 'the machine may have measured outer to inner';

const placementNote = (key: LengthKey) => (key === 'bpd' ? BPD_NOTE : null);

function standIn(key: LengthKey, value: Measurement): Measurement {
  return { ...value, id: key, note: joined(value.note, placementNote(key), STANDS_IN) };
}

/** How far values of a length of this size may lie apart (obstetric 2.6), mm. */
const repeatability = (key: LengthKey, mm: number) =>
  key === 'fl' ? REPEATABILITY.femurMm : REPEATABILITY.circumferenceShare * mm;

/** Whether two values of a length differ by more than repeated ones may. */
const disagrees = (key: LengthKey, ours: number, machine: number) =>
  Math.abs(machine - ours) > repeatability(key, (ours + machine) / 2);

/** What repeated values of the machine are told of, as ours are (obstetric 2.6). */
const REPEATED: ReadonlySet<string> = new Set(['hc', 'ac', 'fl'] satisfies LengthKey[]);

function spreadFinding(
  key: LengthKey,
  { measurement, spread }: CartQuantity,
  standsAs: string,
): FindingDraft[] {
  if (!spread || !REPEATED.has(key)) return [];
  const apart = spread.high - spread.low;
  if (apart <= repeatability(key, measurement.value)) return [];
  return [
    {
      id: `repeatability-cart-${key}`,
      section: 'biometry',
      concept: findingConcept('repeatability'),
      text: `Repeated values of ${abbreviations([key])} of the ultrasound machine differ by ${formatValue(key, apart)}; measure again.`,
      severity: 'abnormal',
      confidence: null,
      evidence: [standsAs],
    },
  ];
}

function differenceText(key: LengthKey, ours: number, machine: number): string {
  const difference = formatValue(key, Math.abs(machine - ours));
  const share = ((100 * Math.abs(machine - ours)) / ours).toFixed(1);
  const side = machine < ours ? 'below' : 'above';
  return `${difference} (${share} %) ${side} the measured ${formatValue(key, ours)}`;
}

function besideOurs(key: LengthKey, value: Measurement, ours: Measurement): Measurement {
  const difference = differenceText(key, ours.value, value.value);
  const note = joined(value.note, placementNote(key), difference);
  return { ...value, note };
}

function comparisonFinding(key: LengthKey, value: Measurement, ours: Measurement): FindingDraft {
  const far = disagrees(key, ours.value, value.value);
  const name = abbreviations([key]);
  const difference = differenceText(key, ours.value, value.value);
  const advice = far ? '; check both measurements' : '';
  return {
    id: `cart-${key}`,
    section: 'biometry',
    concept: findingConcept('repeatability'),
    text: `${name} of the ultrasound machine ${formatValue(key, value.value)}: ${difference}${advice}.`,
    severity: far ? 'abnormal' : 'info',
    confidence: null,
    evidence: [ours.id, value.id],
  };
}

/**
 * Compares our lengths with those of the machine's reports, and lets the machine's stand where we
 * have none. Of several fetuses none is used: the images do not say whose they are. What is
 * implausible is listed and compared with nothing (obstetric 0.6).
 */
export function compareWithCart(
  evidence: BiometryEvidence,
  ours: readonly Measurement[],
): CartComparison {
  const quantities = evidence.machine.quantities('biometry', LENGTHS);
  const values = quantities.map(({ measurement }) => measurement);
  const comparison: CartComparison = { lengths: [...ours], beside: [], findings: [], unused: null };
  const unused = machineUnused(values, evidence.severalFetuses);
  if (unused) return { ...comparison, unused };
  for (const quantity of quantities) {
    const value = ifPlausible(quantity.measurement);
    const key = LENGTHS.find((length): length is LengthKey => length === value.concept.key);
    if (!key) continue;
    const own = acceptedValue(ours, key);
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
  return LENGTHS.filter((key) => acceptedValue(measurements, key)?.source.provenance === 'cart-sr');
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

/** A difference beyond that of two formulas of the same lengths asks to check (obstetric 0.6). */
function comparison(own: Measurement, machine: Measurement): FindingDraft {
  const percent = (100 * Math.abs(machine.value - own.value)) / own.value;
  const limit = 100 * WEIGHTS_DIFFER;
  const far = percent > limit;
  const side = machine.value < own.value ? 'below' : 'above';
  const advice = far ? '; check the measurements and the formula of the machine' : '';
  return {
    id: 'cart-efw',
    section: 'biometry',
    concept: findingConcept('repeatability'),
    text: `EFW of the ultrasound machine ${formatValue('efw', machine.value)}: ${fixedOffCutOffs(percent, 1, [limit])} % ${side} the ${formatValue('efw', own.value)} calculated here${advice}.`,
    severity: far ? 'abnormal' : 'info',
    confidence: null,
    evidence: [own.id, machine.id],
  };
}

/**
 * The calculated values with the weight that the machine's reports give: beside ours, or in place of
 * it where there is none. Of several fetuses none is used: the images do not say whose they are.
 */
export function withCartWeight(
  { machine: report }: Pick<BiometryEvidence, 'machine'>,
  derived: readonly Measurement[],
): { derived: Measurement[]; findings: FindingDraft[] } {
  const given = report.values('biometry', ['efw']);
  if (given.length === 0 || ofSeveralFetuses(given)) return { derived: [...derived], findings: [] };
  const isWeight = ({ concept }: Measurement) => concept.key === 'efw';
  const weights = withMachineValues(given, derived.filter(isWeight));
  const own = acceptedValue(derived, 'efw');
  const machine = weights.find((one) => isOfMachine(one) && one.quality === 'accepted');
  return {
    derived: [...derived.filter((one) => !isWeight(one)), ...weights],
    findings: own && machine ? [comparison(own, machine)] : [],
  };
}
