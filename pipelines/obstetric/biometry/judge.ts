import type { ObstetricConcept } from '../../concepts/obstetric.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isConfirmed, isOfMachine } from '../../result/measured.ts';
import { remarkOfBiometry, say } from '../../result/render/obstetric/biometry.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import {
  acceptedValue,
  IN_PLACE_OF_OURS,
  ifPlausible,
  machineUnused,
  ofNamedFetuses,
  ofSeveralFetuses,
  REPEATABILITY,
  remarked,
  TAD_TO_APAD,
  withMachineValues,
} from '../shared/measurement.ts';
import { finding, type MachineQuantity } from '../shared/section.ts';
import { WEIGHTS_DIFFER, weightsApart } from './derive.ts';
import {
  CIRCUMFERENCE_SHARE,
  circumferenceOfDiameters,
  expectedHeadAbdomenRatio,
} from './formulas.ts';
import type { BiometryEvidence } from './measure.ts';

/**
 * A length that other lengths of the same fetus can contradict (obstetric 0.6). A contradicted
 * length is withheld before anything is calculated from it, so no age, weight, ratio, centile or
 * category depends on a wrong length.
 */

type Whole = 'hc' | 'ac' | 'fl';
const WHOLES = ['hc', 'ac', 'fl'] as const satisfies readonly Whole[];

/** Lengths from the same outline or line. They are withheld together. */
export const LENGTHS_OF = {
  hc: ['hc', 'bpd', 'ofd'],
  ac: ['ac', 'tad', 'apad'],
  fl: ['fl'],
} as const satisfies Record<Whole, readonly string[]>;

interface Range {
  low: number;
  high: number;
}

interface PlausibleRatio {
  id: string;
  /** The ratio is the first length divided by the second. */
  of: readonly [Whole, Whole];
  /** Limits if the age is unknown or below the first week of `expected`. */
  always: Range;
  /** Limits that replace `always` if the second length is below `belowMm`. */
  small?: { belowMm: number; range: Range };
  /** The expected ratio at an age in weeks, and the maximum deviation from it. */
  expected?: { fromWeeks: number; at(weeks: number): number; within: number };
}

/**
 * Limits of the ratios, chosen by this project. The lengths of an asymmetric fetus must not be
 * withheld. From 15 weeks on, the limits therefore allow lengths that are two standard deviations
 * from the median on opposite sides (INTERGROWTH-21st, Lancet 2014;384:869-879); a test checks
 * this. The expected ratios are regressions from online calculators. The calculators agree with
 * each other, but the regressions were not compared with a published table (grade X; obstetric
 * 0.1). They are used for limits, never for categories.
 */
export const PLAUSIBLE_RATIOS: readonly PlausibleRatio[] = [
  {
    id: 'hc-ac',
    of: ['hc', 'ac'],
    always: { low: 0.7, high: 1.5 },
    expected: { fromWeeks: 14, at: expectedHeadAbdomenRatio, within: 0.32 },
  },
  {
    // Hadlock 1983: 0.20 to 0.24 from 21 weeks; before about 18 weeks the femur is shorter.
    id: 'fl-ac',
    of: ['fl', 'ac'],
    always: { low: 0.15, high: 0.28 },
    small: { belowMm: 130, range: { low: 0.1, high: 0.28 } },
  },
  {
    // Hadlock 1984; the regression is not valid before 18 weeks.
    id: 'fl-hc',
    of: ['fl', 'hc'],
    always: { low: 0.1, high: 0.26 },
    expected: { fromWeeks: 18, at: (weeks) => 0.138 + 0.00216 * weeks, within: 0.06 },
  },
];

/** Returns the limits of a ratio, given its second length in mm and the age, if known. */
export function plausibleRange(
  { always, small, expected }: PlausibleRatio,
  mm: number,
  gaDays: number | null,
): Range {
  const weeks = gaDays === null ? null : gaDays / 7;
  if (expected && weeks !== null && weeks >= expected.fromWeeks) {
    const middle = expected.at(weeks);
    return { low: middle - expected.within, high: middle + expected.within };
  }
  return small && mm < small.belowMm ? small.range : always;
}

/** Two lengths whose ratio is outside its limits. */
export interface Contradiction extends Range {
  id: string;
  ratio: number;
  of: readonly [Measurement, Measurement];
}

/** Returns every pair of accepted lengths that contradict each other. */
export function contradictions(
  lengths: readonly Measurement[],
  gaDays: number | null,
): Contradiction[] {
  return PLAUSIBLE_RATIOS.flatMap((one) => {
    const [first, second] = [acceptedValue(lengths, one.of[0]), acceptedValue(lengths, one.of[1])];
    if (!first || !second) return [];
    const range = plausibleRange(one, second.value, gaDays);
    const ratio = first.value / second.value;
    if (ratio >= range.low && ratio <= range.high) return [];
    return [{ id: one.id, ratio, of: [first, second] as const, ...range }];
  });
}

/**
 * Returns the lengths to withhold, each with the first contradiction that involves it.
 *
 * If one length contradicts both of the others, only that length is withheld. If only two lengths
 * contradict each other, both are withheld, because either may be wrong. A machine value is never
 * withheld, because a person placed its calipers, and neither is a value that a person confirmed in
 * a review.
 */
function atFault(found: readonly Contradiction[]): Map<string, Contradiction> {
  const keyOf = (one: Measurement) => one.concept.key;
  const count = (key: string) =>
    found.filter(({ of }) => of.some((one) => keyOf(one) === key)).length;
  const isOfPerson = (one: Measurement) => isOfMachine(one) || isConfirmed(one);
  const isBlamed = (one: Measurement, other: Measurement) =>
    !isOfPerson(one) && (isOfPerson(other) || count(keyOf(one)) >= count(keyOf(other)));
  const faults = found.flatMap((pair) => {
    const [first, second] = pair.of;
    return [
      ...(isBlamed(first, second) ? [[keyOf(first), pair] as const] : []),
      ...(isBlamed(second, first) ? [[keyOf(second), pair] as const] : []),
    ];
  });
  return new Map(faults.toReversed());
}

/**
 * Returns our lengths. Those that are probably at fault in a contradiction are marked as withheld.
 */
export function withoutContradicted(
  own: readonly Measurement[],
  found: readonly Contradiction[],
): Measurement[] {
  const faults = atFault(found);
  return own.map((one) => {
    const whole = WHOLES.find((key) => LENGTHS_OF[key].some((of) => of === one.concept.key));
    const fault = whole && faults.get(whole);
    if (!fault || one.quality !== 'accepted') return one;
    const { id, ratio, low, high } = fault;
    const remark = remarkOfBiometry('biometry.contradicts', { id, ratio, low, high });
    const standing = one.standing === 'counts' ? 'withheld' : one.standing;
    return remarked({ ...one, quality: 'inadequate', standing }, remark);
  });
}

/** Returns true if a length is withheld because it contradicts another length. */
export const isContradicted = ({ remarks }: Measurement) =>
  remarks.some(({ code }) => code === 'biometry.contradicts');

/**
 * Returns a finding for each contradiction. It asks for the measurements to be checked and does not
 * call the fetus abnormal.
 */
export function contradictionFindings(found: readonly Contradiction[]): FindingDraft[] {
  return found.map(({ id, ratio, of }) =>
    doubt(id, say.gap('biometry.ratio-inconsistent', { ratio }, of)),
  );
}

const doubt = (id: string, said: Statement, evidence = [...said.about]) =>
  finding(`consistency-${id}`, 'repeatability', said, 'abnormal', { evidence });

/** Returns a finding if TAD and APAD of an abdomen do not fit each other (obstetric 0.6). */
function abdomenDoubt(tad: Measurement | null, apad: Measurement | null): FindingDraft[] {
  if (!tad || !apad) return [];
  const ratio = tad.value / apad.value;
  const { low, high } = TAD_TO_APAD;
  if (ratio >= low && ratio <= high) return [];
  return [doubt('tad-apad', say.gap('biometry.ratio-inconsistent', { ratio }, [tad, apad]))];
}

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
  const said = say.gap('biometry.circumference-inconsistent', { percent }, about);
  return [doubt(circumference.id, said)];
}

function headDoubt(bpd: Measurement | null, ofd: Measurement | null): FindingDraft[] {
  if (!bpd || !ofd || bpd.value < ofd.value) return [];
  return [doubt('bpd-ofd', say.gap('biometry.bpd-not-shorter', {}, [bpd, ofd]))];
}

function weightDoubt(lengths: readonly Measurement[]): FindingDraft[] {
  const apart = weightsApart(lengths);
  if (!apart) return [];
  const [full, reduced] = apart;
  const used = lengths.map(({ id }) => id).filter((id) => ['hc', 'ac', 'fl'].includes(id));
  return [doubt('efw', say.gap('biometry.weights-inconsistent', { full, reduced }), used)];
}

/**
 * Returns findings for lengths that contradict each other. They suggest a measurement error rather
 * than an abnormal fetus (obstetric 0.6).
 */
export function consistencyFindings(measurements: readonly Measurement[]): FindingDraft[] {
  const value = (key: ObstetricConcept) => acceptedValue(measurements, key);
  return [
    ...abdomenDoubt(value('tad'), value('apad')),
    ...headDoubt(value('bpd'), value('ofd')),
    ...circumferenceDoubt(value('hc'), value('bpd'), value('ofd')),
    ...circumferenceDoubt(value('ac'), value('tad'), value('apad')),
    ...weightDoubt(measurements),
  ];
}

export const LENGTHS = ['bpd', 'ofd', 'hc', 'tad', 'apad', 'ac', 'fl'] as const;
type LengthKey = (typeof LENGTHS)[number];

/** Lengths to use after the comparison with the machine values, and the resulting findings. */
export interface CartComparison {
  /**
   * Our lengths and, for each quantity of which we have none, the machine's. The one that is used
   * has the plain id (`hc`).
   */
  lengths: Measurement[];
  /** Machine lengths listed beside ours, with ids such as `cart-hc`. */
  beside: Measurement[];
  findings: FindingDraft[];
  /** Reason why the machine values are not used; null if they are used or do not exist. */
  unused: Statement | null;
}

/**
 * Returns the remark that machines by default measure the BPD outer to inner, whereas we measure it
 * outer to outer (obstetric 2.1). Empty for other lengths.
 */
const placementRemarks = (key: LengthKey) =>
  key === 'bpd' ? [remarkOfBiometry('biometry.machine-bpd', {})] : [];

const inPlaceOfOurs = (key: LengthKey, value: Measurement): Measurement =>
  remarked({ ...value, id: key }, ...placementRemarks(key), IN_PLACE_OF_OURS);

/**
 * Returns the maximum accepted difference, in mm, between repeated measurements of a length of this
 * size (obstetric 2.6).
 */
const repeatability = (key: LengthKey, mm: number) =>
  key === 'fl' ? REPEATABILITY.femurMm : REPEATABILITY.circumferenceShare * mm;

const disagrees = (key: LengthKey, ours: number, machine: number) =>
  Math.abs(machine - ours) > repeatability(key, (ours + machine) / 2);

/**
 * Lengths whose repeated machine values are compared with each other, as our own repeats are
 * (obstetric 2.6).
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
  const said = say.gap('biometry.repeats-differ', { key, spread: apart, machine: true });
  const given = { evidence: [id] };
  return [finding(`repeatability-cart-${key}`, 'repeatability', said, 'abnormal', given)];
}

const besideOurs = (key: LengthKey, value: Measurement, ours: Measurement): Measurement =>
  remarked(
    value,
    ...placementRemarks(key),
    remarkOfBiometry('biometry.beside-ours', { ours: ours.value }),
  );

function comparisonFinding(key: LengthKey, value: Measurement, ours: Measurement): FindingDraft {
  const far = disagrees(key, ours.value, value.value);
  const said = say.value('biometry.machine-length', { far }, [ours, value]);
  return finding(`cart-${key}`, 'repeatability', said, far ? 'abnormal' : 'info');
}

/**
 * Compares our lengths with those in the machine's reports. Where we have no accepted value, the
 * machine value is used. With several fetuses no machine value is used, because the images do not
 * show which fetus it belongs to; values that name a fetus are listed for that fetus. An
 * implausible value is listed but not compared (obstetric 0.6).
 */
export function compareWithCart(
  evidence: BiometryEvidence,
  ours: readonly Measurement[],
): CartComparison {
  const quantities = evidence.machine.quantities('biometry', LENGTHS);
  const values = quantities.map(({ measurement }) => measurement);
  const comparison: CartComparison = { lengths: [...ours], beside: [], findings: [], unused: null };
  const unused = machineUnused(values, evidence);
  if (unused) return { ...comparison, unused, beside: ofNamedFetuses(values) };
  for (const quantity of quantities) {
    const value = ifPlausible(quantity.measurement);
    const key = LENGTHS.find((length): length is LengthKey => length === value.concept.key);
    if (!key) continue;
    const own = acceptedValue(ours, key);
    const implausible = value.quality === 'inadequate' ? [value] : [];
    // Without an accepted length of ours, these values are listed in its place, because their
    // remarks explain why the length is missing.
    (own ? comparison.beside : comparison.lengths).push(...implausible, ...quantity.unused);
    if (implausible.length > 0) continue;
    const shown = own ? besideOurs(key, value, own) : inPlaceOfOurs(key, value);
    // The machine value now has the plain id, so our withheld length gets a different id.
    comparison.lengths = comparison.lengths.map((one) =>
      one.id === shown.id ? { ...one, id: `${one.id}-traced` } : one,
    );
    (own ? comparison.beside : comparison.lengths).push(shown);
    if (own) comparison.findings.push(comparisonFinding(key, shown, own));
    comparison.findings.push(...spreadFinding(key, quantity, shown.id));
  }
  return comparison;
}

/** Adds a remark to each value calculated from machine lengths, listing those lengths. */
export function withCartInputs(
  derived: readonly Measurement[],
  lengths: readonly Measurement[],
): Measurement[] {
  const used = (key: LengthKey, { inputs }: Measurement) => {
    const length = acceptedValue(lengths, key);
    return length?.origin === 'machine' && inputs.includes(length.id);
  };
  return derived.map((one) => {
    const keys = LENGTHS.filter((key) => used(key, one));
    return keys.length === 0
      ? one
      : remarked(one, remarkOfBiometry('biometry.with-machine-lengths', { keys }));
  });
}

/**
 * Compares our weight with the machine's. Different formulas can produce different weights from the
 * same lengths. If the difference is too large for that explanation, the finding is abnormal and
 * asks for a check (obstetric 0.6).
 */
function comparison(own: Measurement, machine: Measurement): FindingDraft {
  const percent = (100 * Math.abs(machine.value - own.value)) / own.value;
  const limit = 100 * WEIGHTS_DIFFER;
  const far = percent > limit;
  const said = say.value('biometry.machine-weight', { far, limit }, [own, machine]);
  return finding('cart-efw', 'repeatability', said, far ? 'abnormal' : 'info');
}

/**
 * Adds the machine's weight to the calculated values: for comparison with ours or, if we have none,
 * as the weight to use. With several fetuses no machine weight is used, because the images do not
 * show which fetus it belongs to.
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
