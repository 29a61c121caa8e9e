import { CONCEPTS, type ConceptKey } from '../concepts/concepts.ts';
import type { CartMeasurement } from '../contract/study.ts';
import { median } from '../measure/statistics.ts';
import type { Measurement } from './envelope.ts';
import { fetusKey, isSummary, MACHINE_METHOD, machineValueId } from './measured.ts';
import { createMeasurement } from './measurement.ts';
import { cutOffsOf, isPlausible } from './obstetric/limits.ts';
import { remark } from './render/remarks.ts';
import type { Remark } from './statement.ts';

/** Derivations in order of preference, for quantities of which the machine selected no value. */
const PREFERENCE: readonly CartMeasurement['derivation'][] = ['best', 'mean', 'median'];

/**
 * Quantities for which the highest or the lowest of the repeated values is used instead of their
 * median.
 * - Highest, because the lower values were not parallel to the jet, not in the middle of the
 *   vessel, or measured in inspiration: AV Vmax (echo 0.5, 11.1), LVOT diameter ("largest of 3",
 *   11.1), TR Vmax ("best of", 12.1), IVC (maximum, 12.1).
 * - Highest by definition: NT (maximum that meets the criteria, obstetric 6.1) and the deepest
 *   pocket (4).
 * - Highest, because absent or reversed end-diastolic flow in one loop must not be averaged with
 *   another loop, or with another fetus: the RI of the umbilical artery (obstetric 13.1).
 * - Lowest: the cervix ("the shortest technically best", obstetric 10).
 */
const END: Readonly<Partial<Record<ConceptKey, 'highest' | 'lowest'>>> = {
  'av-vmax': 'highest',
  'tr-vmax': 'highest',
  'lvot-diameter': 'highest',
  'ivc-diameter': 'highest',
  'nuchal-translucency': 'highest',
  'deepest-vertical-pocket': 'highest',
  'umbilical-artery-ri': 'highest',
  'cervical-length': 'lowest',
};

/**
 * Quantities for which a mean or median is used only if the machine sent no single value. Cardiac
 * quantities are not included, because in an irregular rhythm a mean is the usual measure.
 */
const NEVER_AVERAGED: ReadonlySet<ConceptKey> = new Set([
  'nuchal-translucency',
  'deepest-vertical-pocket',
  'cervical-length',
]);

/**
 * Number of diameters averaged for a mean sac diameter: length, height and width (obstetric 5.1).
 */
const SAC_DIAMETERS = 3;

const DERIVED = {
  measured: 'measured',
  best: 'measured',
  minimum: 'measured',
  maximum: 'measured',
  calculated: 'calculated',
  estimated: 'calculated',
  mean: 'mean',
  median: 'median',
  other: 'calculated',
} as const satisfies Record<NonNullable<CartMeasurement['derivation']>, Measurement['derivation']>;

/** One or more repeated values of a quantity. */
type Values = readonly [CartMeasurement, ...CartMeasurement[]];

interface CartStanding {
  from: CartMeasurement;
  value: number;
  derivation: Measurement['derivation'];
  quality: 'accepted' | 'inadequate';
  remarks: readonly Remark[];
}

interface Spread {
  low: number;
  high: number;
}

interface CartChoice {
  standing: CartStanding;
  /** Range of the values from which one was chosen or the median was taken; otherwise null. */
  spread: Spread | null;
  /** Values that are not used, each with a remark giving the reason. */
  unused: CartStanding[];
}

/** Units of values read directly from an image or a display: lengths, areas, velocities, times, angles. */
const MEASURED_UNITS: ReadonlySet<string> = new Set([
  ...['mm', 'cm', 'mm2', 'cm2', 'm/s', 'cm/s', 'ms', 's', 'deg'],
]);

/**
 * Returns the derivation of a value. If the report does not state it, a value without an equation
 * counts as measured if its unit is that of a direct reading; volumes, weights, ages, ratios and
 * pressures count as calculated.
 */
function derivationOf({ unit, derivation, equation }: CartMeasurement): Measurement['derivation'] {
  if (derivation) return DERIVED[derivation];
  return equation === null && MEASURED_UNITS.has(unit) ? 'measured' : 'calculated';
}

const asWritten = (from: CartMeasurement): CartStanding => ({
  from,
  value: from.value,
  derivation: derivationOf(from),
  quality: 'accepted',
  remarks: from.selection ? [remark('machine.selected', { selection: from.selection })] : [],
});

const notUsed = (from: CartMeasurement, reason: Remark): CartStanding => ({
  ...asWritten(from),
  quality: 'inadequate',
  remarks: [reason],
});

/** Begins a value that is derived from several others and therefore belongs to no single image. */
const fromSeveral = (first: CartMeasurement) => ({
  from: { ...first, image: null },
  quality: 'accepted' as const,
});

/**
 * Returns the value that the machine selected, or otherwise its best value, mean or median; null if
 * there is none of these.
 */
function chosenByMachine(key: ConceptKey, values: Values): CartMeasurement | null {
  const selected = values.find(({ selection }) => selection !== null);
  if (selected) return selected;
  const single = values.some(({ derivation }) => derivation !== 'mean' && derivation !== 'median');
  const kinds = NEVER_AVERAGED.has(key) && single ? PREFERENCE.slice(0, 1) : PREFERENCE;
  return (
    kinds
      .map((kind) => values.find(({ derivation }) => derivation === kind))
      .find((value) => value !== undefined) ?? null
  );
}

/**
 * Chooses one of several values if the machine selected none: the highest or lowest for quantities
 * in `END`, and the median for all others.
 */
function ofRepeats(key: ConceptKey, values: Values): Pick<CartChoice, 'standing' | 'spread'> {
  const [first] = values;
  const sorted = values.toSorted((one, other) => one.value - other.value);
  const [lowest, highest] = [sorted[0] ?? first, sorted.at(-1) ?? first];
  const spread = { low: lowest.value, high: highest.value };
  const repeats = { key, count: values.length, ...spread };
  const end = END[key];
  if (end) {
    const from = end === 'highest' ? highest : lowest;
    const remarks = [remark('machine.end-of-repeats', { end, ...repeats })];
    return { standing: { ...asWritten(from), remarks }, spread };
  }
  const value = median(values.map((one) => one.value));
  const remarks = [remark('machine.median-of-repeats', repeats)];
  return { standing: { ...fromSeveral(first), value, derivation: 'median', remarks }, spread };
}

/**
 * Returns true if repeated values are too far apart to be reduced to one. This applies to heart
 * rates on both sides of a limit, whose median might not be the rate of any beat (105 for 70 and
 * 140).
 */
function areApart(key: ConceptKey, values: readonly CartMeasurement[]): boolean {
  const [low, high] = [Math.min, Math.max].map((end) => end(...values.map(({ value }) => value)));
  if (key !== 'fetal-heart-rate' || low === undefined || high === undefined) return false;
  return low < high && cutOffsOf(key).some((cutOff) => low <= cutOff && cutOff <= high);
}

/**
 * Groups values such that one value can be chosen from each group. Normally there is one group; if
 * the values are too far apart, each plausible value is a separate group.
 */
function comparable(key: ConceptKey, values: Values): Values[] {
  const plausible = values.filter(({ value }) => isPlausible(key, value));
  const [first, ...others] = plausible;
  if (!first || !areApart(key, plausible) || chosenByMachine(key, [first, ...others])) {
    return [values];
  }
  const absurd = values.filter((one) => !plausible.includes(one));
  return [[first, ...absurd], ...others.map((one): Values => [one])];
}

/**
 * Returns a remark on a machine's mean or median of a quantity for which `END` prescribes the
 * highest or lowest value. The remark states the number and range of the machine's single values,
 * because some of them may come from oblique views.
 */
function behindAverage(key: ConceptKey, chosen: CartMeasurement, values: Values): Remark[] {
  const single = values.filter((one) => !isSummary(one)).map(({ value }) => value);
  if (!END[key] || !isSummary(chosen) || chosen.selection || single.length === 0) return [];
  const [low, high] = [Math.min(...single), Math.max(...single)];
  return [remark('machine.average-of', { key, count: single.length, low, high })];
}

function ofPlausible(key: ConceptKey, values: Values): CartChoice {
  const chosen = chosenByMachine(key, values);
  const [first, ...others] = values;
  if (chosen || others.length === 0) {
    const own = asWritten(chosen ?? first);
    const remarks = [...own.remarks, ...(chosen ? behindAverage(key, chosen, values) : [])];
    return { standing: { ...own, remarks }, spread: null, unused: [] };
  }
  const single = values.filter((one) => !isSummary(one));
  const [one, ...rest] = NEVER_AVERAGED.has(key) ? single : values;
  return one && rest.length > 0
    ? { ...ofRepeats(key, [one, ...rest]), unused: [] }
    : { standing: asWritten(one ?? first), spread: null, unused: [] };
}

/**
 * Chooses the mean sac diameter: the machine's own mean, or otherwise the mean of three diameters.
 * One or two diameters are not enough.
 */
function meanSac(values: Values): CartChoice {
  const [first, ...others] = values;
  const isMean = ({ derivation, selection }: CartMeasurement) =>
    derivation === 'mean' || selection === 'mean';
  const given = values.find(isMean);
  if (given) return { standing: asWritten(given), spread: null, unused: [] };
  if (values.length === SAC_DIAMETERS) {
    const value = values.reduce((sum, one) => sum + one.value, 0) / SAC_DIAMETERS;
    const remarks = [remark('machine.mean-sac', { count: SAC_DIAMETERS })];
    const standing: CartStanding = { ...fromSeveral(first), value, derivation: 'mean', remarks };
    return { standing, spread: null, unused: [] };
  }
  // Machines use the code for the mean (LN 11850-5) for any diameter of the sac.
  const noMean = remark('machine.no-mean-sac', {});
  return {
    standing: notUsed(first, noMean),
    spread: null,
    unused: others.map((one) => notUsed(one, noMean)),
  };
}

/**
 * Chooses the value to use for a quantity among those within the hard limits (obstetric 0.6): the
 * one that the cart selected (PS3.16 CID 224, CID 12301), otherwise its best value, mean or median.
 * If there is none of these, a single value is used as it is. Of several values, the one determined
 * by `END` is used, otherwise their median. Values beyond the limits are listed with the reason and
 * not used.
 */
function chooseCartValue(key: ConceptKey, values: Values): CartChoice {
  const implausible = remark('value.implausible', { key });
  const absurd = values
    .filter(({ value }) => !isPlausible(key, value))
    .map((one) => notUsed(one, implausible));
  const [first, ...others] = values.filter(({ value }) => isPlausible(key, value));
  if (first) {
    const choice =
      key === 'mean-sac-diameter'
        ? meanSac([first, ...others])
        : ofPlausible(key, [first, ...others]);
    return { ...choice, unused: [...choice.unused, ...absurd] };
  }
  const [standing = notUsed(values[0], implausible), ...unused] = absurd;
  return { standing, spread: null, unused };
}

/** Returns the source of a machine value: the file and, if the report refers to one, the image. */
export const cartSource = (from: CartMeasurement): Measurement['source'] => ({
  provenance: 'cart-sr',
  file: from.file,
  sop_instance_uid: from.image?.sopInstanceUid ?? from.sopInstanceUid,
  frame: from.image?.frame ?? null,
  calipers: [],
});

function toMeasurement(
  section: string,
  key: ConceptKey,
  { from, value, derivation, quality, remarks }: CartStanding,
): Measurement {
  const equation = from.equation
    ? [remark('machine.equation', { equation: from.equation.meaning })]
    : [];
  return createMeasurement(machineValueId(key, from), key, value, MACHINE_METHOD, {
    section,
    derivation,
    source: cartSource(from),
    site: CONCEPTS[key].site?.meaning ?? from.site?.meaning ?? null,
    laterality: from.laterality,
    fetus: from.fetus,
    phase: from.phase?.meaning ?? null,
    quality,
    remarks: [...equation, ...remarks],
  });
}

/** The machine value that is used for one quantity of one fetus and side, and the unused ones. */
interface CartQuantity {
  measurement: Measurement;
  /** Range of the values from which one was chosen or the median was taken; otherwise null. */
  spread: Spread | null;
  /** Values that are not used. Their ids are that of `measurement` followed by `-unused-<n>`. */
  unused: Measurement[];
}

function quantityOf(
  section: string,
  key: ConceptKey,
  values: Values,
  index: number,
  count: number,
): CartQuantity {
  const { standing, spread, unused } = chooseCartValue(key, values);
  const own = toMeasurement(section, key, standing);
  const measurement = {
    ...own,
    id: index === 0 ? own.id : `${own.id}-${index + 1}`,
    remarks: count > 1 ? [...own.remarks, remark('machine.too-far-apart', { count })] : own.remarks,
  };
  return {
    measurement,
    spread,
    unused: unused.map((one, at) => ({
      ...toMeasurement(section, key, one),
      id: `${measurement.id}-unused-${at + 1}`,
      fetus: measurement.fetus,
    })),
  };
}

/** Returns the values of `cartMeasurements`, each with the spread of its repeats. */
export function cartQuantities(
  cart: readonly CartMeasurement[],
  section: string,
  keys: readonly ConceptKey[],
): CartQuantity[] {
  return keys.flatMap((key) => {
    const own = cart.filter((one) => one.key === key);
    const quantities = Map.groupBy(
      own,
      ({ fetus, laterality }) => `${fetusKey(fetus)} ${laterality}`,
    );
    return [...quantities.values()].flatMap(([first, ...others]) => {
      if (!first) return [];
      const groups = comparable(key, [first, ...others]);
      return groups.map((values, index) => quantityOf(section, key, values, index, groups.length));
    });
  });
}

/**
 * Returns the machine-reported values of these concepts with provenance `cart-sr`, in the units of
 * the concept table and in the order of `keys`. One measurement per concept, fetus and side is
 * accepted, except that all heart rates are accepted if they are on both sides of a limit. Ids are
 * `cart-<key>`, followed by fetus and side. Implausible values follow with quality `inadequate`.
 */
export function cartMeasurements(
  cart: readonly CartMeasurement[],
  section: string,
  keys: readonly ConceptKey[],
): Measurement[] {
  const quantities = cartQuantities(cart, section, keys);
  return [
    ...quantities.map(({ measurement }) => measurement),
    ...quantities.flatMap(({ unused }) => unused),
  ];
}
