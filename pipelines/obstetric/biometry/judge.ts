import { findingConcept, type ObstetricConcept } from '../../concepts/obstetric.ts';
import type { Measurement } from '../../result/envelope.ts';
import { remarkOfBiometry, say } from '../../result/render/obstetric/biometry.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import {
  acceptedValue,
  IN_PLACE_OF_OURS,
  ifPlausible,
  isOfMachine,
  machineUnused,
  ofSeveralFetuses,
  REPEATABILITY,
  remarked,
  SOFT_RATIOS,
  withMachineValues,
} from '../shared/measurement.ts';
import type { MachineQuantity } from '../shared/section.ts';
import { WEIGHTS_DIFFER, weightsApart } from './derive.ts';
import type { BiometryEvidence } from './evidence.ts';
import { CIRCUMFERENCE_SHARE, circumferenceOfDiameters } from './formulas.ts';

function doubt(id: string, statement: Statement, evidence: readonly Measurement[]): FindingDraft {
  return {
    id: `consistency-${id}`,
    section: 'biometry',
    concept: findingConcept('repeatability'),
    statement,
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
  const about = [numerator, denominator];
  return [doubt(id, say.gap('biometry.ratio-inconsistent', { ratio }, about), about)];
}

/**
 * The finding that a circumference does not fit its diameters; empty where it does. Machine values
 * and ours may be mixed.
 */
function circumferenceDoubt(
  circumference: Measurement | null,
  first: Measurement | null,
  second: Measurement | null,
): FindingDraft[] {
  if (!circumference || !first || !second) return [];
  const expected = circumferenceOfDiameters(first.value, second.value);
  if (Math.abs(circumference.value - expected) <= CIRCUMFERENCE_SHARE * expected) return [];
  const about = [circumference, first, second];
  const percent = 100 * CIRCUMFERENCE_SHARE;
  const statement = say.gap('biometry.circumference-inconsistent', { percent }, about);
  return [doubt(circumference.id, statement, about)];
}

function headDoubt(bpd: Measurement | null, ofd: Measurement | null): FindingDraft[] {
  if (!bpd || !ofd || bpd.value < ofd.value) return [];
  const about = [bpd, ofd];
  return [doubt('bpd-ofd', say.gap('biometry.bpd-not-shorter', {}, about), about)];
}

function weightDoubt(lengths: readonly Measurement[]): FindingDraft[] {
  const apart = weightsApart(lengths);
  if (!apart) return [];
  const [full, reduced] = apart;
  return [
    doubt(
      'efw',
      say.gap('biometry.weights-inconsistent', { full, reduced }),
      lengths.filter(({ id }) => ['hc', 'ac', 'fl'].includes(id)),
    ),
  ];
}

/**
 * Findings for lengths that contradict each other, which points to a measurement error and not to
 * the fetus (obstetric 0.6).
 */
export function consistencyFindings(measurements: readonly Measurement[]): FindingDraft[] {
  const value = (key: ObstetricConcept) => acceptedValue(measurements, key);
  return [
    ...ratioDoubt('fl-ac', value('fl'), value('ac'), SOFT_RATIOS.flToAc),
    ...ratioDoubt('fl-hc', value('fl'), value('hc'), SOFT_RATIOS.flToHc),
    ...ratioDoubt('tad-apad', value('tad'), value('apad'), SOFT_RATIOS.tadToApad),
    ...headDoubt(value('bpd'), value('ofd')),
    ...circumferenceDoubt(value('hc'), value('bpd'), value('ofd')),
    ...circumferenceDoubt(value('ac'), value('tad'), value('apad')),
    ...weightDoubt(measurements),
  ];
}

export const LENGTHS = ['bpd', 'ofd', 'hc', 'tad', 'apad', 'ac', 'fl'] as const;
type LengthKey = (typeof LENGTHS)[number];

/**
 * The lengths in use once the machine's own values are known, and the findings of the comparison.
 */
export interface CartComparison {
  /**
   * Our lengths, and the machine's where we have no accepted one, each under the plain id (`hc`).
   */
  lengths: Measurement[];
  /** The machine's lengths that are shown beside ours, as `cart-hc`. */
  beside: Measurement[];
  findings: FindingDraft[];
  /** Why the machine's values are not used; null where they are used or where there are none. */
  unused: Statement | null;
}

/**
 * The remark that machines by default measure BPD outer to inner, while we measure outer to outer
 * (obstetric 2.1); empty for other lengths.
 */
const placementRemarks = (key: LengthKey) =>
  key === 'bpd' ? [remarkOfBiometry('biometry.machine-bpd', {})] : [];

const inPlaceOfOurs = (key: LengthKey, value: Measurement): Measurement =>
  remarked({ ...value, id: key }, ...placementRemarks(key), IN_PLACE_OF_OURS);

/**
 * Largest difference accepted between repeated values of a length of this size, mm (obstetric 2.6).
 */
const repeatability = (key: LengthKey, mm: number) =>
  key === 'fl' ? REPEATABILITY.femurMm : REPEATABILITY.circumferenceShare * mm;

/** Whether our value and the machine's differ by more than repeated values of a length may. */
const disagrees = (key: LengthKey, ours: number, machine: number) =>
  Math.abs(machine - ours) > repeatability(key, (ours + machine) / 2);

/**
 * Lengths whose repeated values by the machine are compared with each other, as ours are (obstetric
 * 2.6).
 */
const REPEATED: ReadonlySet<string> = new Set(['hc', 'ac', 'fl'] satisfies LengthKey[]);

function spreadFinding(
  key: LengthKey,
  { measurement, spread }: MachineQuantity,
  id: string,
): FindingDraft[] {
  if (!spread || !REPEATED.has(key)) return [];
  const apart = spread.high - spread.low;
  if (apart <= repeatability(key, measurement.value)) return [];
  return [
    {
      id: `repeatability-cart-${key}`,
      section: 'biometry',
      concept: findingConcept('repeatability'),
      statement: say.gap('biometry.repeats-differ', { key, spread: apart, machine: true }),
      severity: 'abnormal',
      confidence: null,
      evidence: [id],
    },
  ];
}

const besideOurs = (key: LengthKey, value: Measurement, ours: Measurement): Measurement =>
  remarked(
    value,
    ...placementRemarks(key),
    remarkOfBiometry('biometry.beside-ours', { ours: ours.value }),
  );

function comparisonFinding(key: LengthKey, value: Measurement, ours: Measurement): FindingDraft {
  const far = disagrees(key, ours.value, value.value);
  return {
    id: `cart-${key}`,
    section: 'biometry',
    concept: findingConcept('repeatability'),
    statement: say.value('biometry.machine-length', { far }, [ours, value]),
    severity: far ? 'abnormal' : 'info',
    confidence: null,
    evidence: [ours.id, value.id],
  };
}

/**
 * Compares our lengths with those in the machine's reports, and uses the machine's where we have
 * none. With several fetuses no machine value is used, because the images do not show which fetus
 * they are of. An implausible value is listed, but not compared (obstetric 0.6).
 */
export function compareWithCart(
  evidence: BiometryEvidence,
  ours: readonly Measurement[],
): CartComparison {
  const quantities = evidence.machine.quantities('biometry', LENGTHS);
  const values = quantities.map(({ measurement }) => measurement);
  const comparison: CartComparison = { lengths: [...ours], beside: [], findings: [], unused: null };
  const unused = machineUnused(values, evidence);
  if (unused) return { ...comparison, unused };
  for (const quantity of quantities) {
    const value = ifPlausible(quantity.measurement);
    const key = LENGTHS.find((length): length is LengthKey => length === value.concept.key);
    if (!key) continue;
    const own = acceptedValue(ours, key);
    const implausible = value.quality === 'inadequate' ? [value] : [];
    // Where we did not measure the value, the remarks on the machine's value say why the length is
    // missing.
    (own ? comparison.beside : comparison.lengths).push(...implausible, ...quantity.unused);
    if (implausible.length > 0) continue;
    const shown = own ? besideOurs(key, value, own) : inPlaceOfOurs(key, value);
    (own ? comparison.beside : comparison.lengths).push(shown);
    if (own) comparison.findings.push(comparisonFinding(key, shown, own));
    comparison.findings.push(...spreadFinding(key, quantity, shown.id));
  }
  return comparison;
}

/** The names of the lengths for which the accepted value is the machine's. */
export function fromMachine(measurements: readonly Measurement[]): ObstetricConcept[] {
  return LENGTHS.filter((key) => acceptedValue(measurements, key)?.origin === 'machine');
}

/** Adds to each value calculated from the machine's lengths a remark that names those lengths. */
export function withCartInputs(
  derived: readonly Measurement[],
  lengths: readonly Measurement[],
): Measurement[] {
  const machine: readonly string[] = fromMachine(lengths);
  return derived.map((one) => {
    const keys = LENGTHS.filter((key) => machine.includes(key) && one.inputs.includes(key));
    return keys.length === 0
      ? one
      : remarked(one, remarkOfBiometry('biometry.with-machine-lengths', { keys }));
  });
}

/**
 * Compares our weight with the machine's. A difference larger than two formulas may show on the
 * same lengths is reported as one to check (obstetric 0.6).
 */
function comparison(own: Measurement, machine: Measurement): FindingDraft {
  const percent = (100 * Math.abs(machine.value - own.value)) / own.value;
  const limit = 100 * WEIGHTS_DIFFER;
  const far = percent > limit;
  return {
    id: 'cart-efw',
    section: 'biometry',
    concept: findingConcept('repeatability'),
    statement: say.value('biometry.machine-weight', { far, limit }, [own, machine]),
    severity: far ? 'abnormal' : 'info',
    confidence: null,
    evidence: [own.id, machine.id],
  };
}

/**
 * The calculated values together with the weight in the machine's reports: beside ours, or in its
 * place where we have none. With several fetuses no machine weight is used: the images do not show
 * which fetus they are of.
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
