import type { Measurement } from './envelope.ts';
import { fetusKey, isOfMachine } from './measured.ts';

/** Repeated values are summarised by a mean or a median, whose `inputs` they are. */
const SUMMARIES: ReadonlySet<Measurement['derivation']> = new Set(['mean', 'median']);

/** Equal, or not stated by one of the two: a single fetus, or a side that nobody named. */
const agree = (one: string | null, other: string | null) =>
  one === null || other === null || one === other;

const namedFetus = ({ fetus }: Measurement) => (fetus === null ? null : fetusKey(fetus));

const isSameQuantity = (one: Measurement, other: Measurement) =>
  one.concept.key === other.concept.key &&
  agree(one.laterality, other.laterality) &&
  agree(namedFetus(one), namedFetus(other));

/**
 * Decides for every measurement of a result whether it counts (`standing` of envelope.ts).
 *
 * Sections mark their repeats; a repeat stays one only beside an accepted value that its section chose.
 * The machine's value is a comparison beside an accepted one of ours of the same side and fetus,
 * because the machine sends its own report and a receiver takes one value for each quantity.
 */
export function withStanding(measurements: readonly Measurement[]): Measurement[] {
  const accepted = measurements.filter(({ quality }) => quality === 'accepted');
  const ours = accepted.filter((one) => !isOfMachine(one));
  const partsOf = (some: readonly Measurement[]) =>
    new Set(
      some.filter(({ derivation }) => SUMMARIES.has(derivation)).flatMap(({ inputs }) => inputs),
    );
  const parts = { ofAny: partsOf(measurements), ofAccepted: partsOf(accepted) };
  // An accepted value counts by itself where the mean of which it is part was not accepted.
  const isPart = ({ id, quality }: Measurement) =>
    (quality === 'accepted' ? parts.ofAccepted : parts.ofAny).has(id);
  const isComparison = (one: Measurement) =>
    isOfMachine(one) && ours.some((other) => isSameQuantity(one, other));
  const chosen = accepted.filter((one) => one.standing !== 'repeat' && !isComparison(one));
  const isPassedOver = (one: Measurement) =>
    one.standing === 'repeat' &&
    chosen.some(
      (other) =>
        other.section === one.section &&
        other.concept.key === one.concept.key &&
        other.laterality === one.laterality &&
        other.fetus === one.fetus,
    );
  const standingOf = (one: Measurement): Measurement['standing'] => {
    if (isComparison(one)) return 'comparison';
    if (isPart(one)) return 'part-of-mean';
    if (isPassedOver(one)) return 'repeat';
    return one.quality === 'accepted' ? 'counts' : 'withheld';
  };
  return measurements.map((one) => ({ ...one, standing: standingOf(one) }));
}

/** The measurements without the machine's values that are only shown for comparison. */
export function withoutComparisons(measurements: readonly Measurement[]): Measurement[] {
  return measurements.filter(({ standing }) => standing !== 'comparison');
}

/**
 * One measurement for each quantity: single values, the one that was chosen of several, and the mean
 * or median of repeated ones. Values that were not accepted are among them, to be named as such.
 */
export function countingValues(measurements: readonly Measurement[]): Measurement[] {
  return measurements.filter(({ standing }) => standing === 'counts' || standing === 'withheld');
}

/**
 * The same followed by the parts of each mean or median, for documents that carry calipers: a
 * receiver that takes the first value of a quantity takes the one that counts.
 */
export function countingFirst(measurements: readonly Measurement[]): Measurement[] {
  const counting = countingValues(measurements);
  const parts = measurements.filter(({ standing }) => standing === 'part-of-mean');
  return [...counting, ...parts];
}
