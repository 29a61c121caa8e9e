import type { Measurement } from './envelope.ts';
import { fetusKey, isOfMachine, isSummary, standingBy } from './measured.ts';

/**
 * Returns true if two names do not contradict each other. A missing name agrees with any name,
 * because a single fetus or a side may be unnamed.
 */
const agree = (one: string | null, other: string | null) =>
  one === null || other === null || one === other;

const namedFetus = ({ fetus }: Measurement) => (fetus === null ? null : fetusKey(fetus));

const isSameQuantity = (one: Measurement, other: Measurement) =>
  one.concept.key === other.concept.key &&
  agree(one.laterality, other.laterality) &&
  agree(namedFetus(one), namedFetus(other));

/**
 * Sets the `standing` (envelope.ts) of every measurement in a result: how the value is used.
 *
 * Sections mark repeated values of a quantity as `repeat` if they chose another value. The mark is
 * kept only if the chosen value was accepted. A repeat that needs review also keeps it if the chosen
 * value needs review: if a person confirmed the repeat, the other value would still be chosen, so
 * the repeat must not be proposed.
 *
 * A machine value is a comparison if we have an accepted value for the same side and fetus: the
 * machine sends its own report, and a receiver should use only one value per quantity.
 */
export function withStanding(measurements: readonly Measurement[]): Measurement[] {
  const accepted = measurements.filter(({ quality }) => quality === 'accepted');
  const ours = accepted.filter((one) => !isOfMachine(one));
  const partsOf = (some: readonly Measurement[]) =>
    new Set(some.filter(isSummary).flatMap(({ inputs }) => inputs));
  const parts = { ofAny: partsOf(measurements), ofAccepted: partsOf(accepted) };
  const proposed = measurements.filter(({ quality }) => quality === 'review');
  // If a mean was not accepted, its accepted parts are used individually.
  const isPart = ({ id, quality }: Measurement) =>
    (quality === 'accepted' ? parts.ofAccepted : parts.ofAny).has(id);
  const isComparison = (one: Measurement) =>
    isOfMachine(one) && ours.some((other) => isSameQuantity(one, other));
  const chosen = accepted.filter((one) => one.standing !== 'repeat' && !isComparison(one));
  const chosenToReview = proposed.filter(({ standing }) => standing !== 'repeat');
  const chosenOf = (quality: Measurement['quality']) =>
    quality === 'review' ? [...chosen, ...chosenToReview] : chosen;
  const isPassedOver = (one: Measurement) =>
    one.standing === 'repeat' &&
    chosenOf(one.quality).some(
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
    return standingBy(one.quality);
  };
  return measurements.map((one) => ({ ...one, standing: standingOf(one) }));
}

/** Returns all measurements except machine values that are shown only for comparison. */
export function withoutComparisons(measurements: readonly Measurement[]): Measurement[] {
  return measurements.filter(({ standing }) => standing !== 'comparison');
}

const LISTED: ReadonlySet<Measurement['standing']> = new Set(['counts', 'proposed', 'withheld']);

const quantityOf = ({ section, concept, label, laterality, fetus, phase, site }: Measurement) =>
  JSON.stringify([section, concept.key, label, laterality, fetus, phase, site]);

/**
 * Returns one measurement per quantity: the only value, the one chosen among several, or the mean
 * or median of repeated values. Values that were not accepted or need review are included, so that
 * documents can mention them: a withheld value only if its quantity has no other, and of several
 * withheld ones the first.
 */
export function countingValues(measurements: readonly Measurement[]): Measurement[] {
  const listed = measurements.filter(({ standing }) => LISTED.has(standing));
  const mentioned = new Set(
    listed.filter(({ standing }) => standing !== 'withheld').map(quantityOf),
  );
  return listed.filter((one) => {
    if (one.standing !== 'withheld') return true;
    const isFirst = !mentioned.has(quantityOf(one));
    mentioned.add(quantityOf(one));
    return isFirst;
  });
}

/**
 * Returns the values that are used, followed by the parts of each mean or median, for documents
 * that contain calipers. The values that are used come first, because some receivers take the first
 * value of a quantity.
 */
export function countingFirst(measurements: readonly Measurement[]): Measurement[] {
  const counting = countingValues(measurements);
  const parts = measurements.filter(({ standing }) => standing === 'part-of-mean');
  return [...counting, ...parts];
}

/**
 * Sections whose values are inputs to other values. They come last, because readers look for the
 * other values first.
 */
export const INTERMEDIATE: ReadonlySet<string> = new Set(['segment-chambers']);
