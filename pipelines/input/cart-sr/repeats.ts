import type { CartCode, CartMeasurement } from '../../contract/study.ts';
import { keyOf } from './vocabulary.ts';

/**
 * Number of leading digits in which two values must agree to count as equal. Reports use different
 * units and formats.
 */
const SAME_DIGITS = 6;

const code = (given: CartCode | null) => (given ? keyOf(given) : '');

/**
 * Returns a key for what was measured, regardless of the value: concept, subject, place and moment.
 */
function quantityKey(one: CartMeasurement): string {
  return [
    one.key ?? code(one.concept),
    one.fetus ?? '',
    one.laterality ?? '',
    // A concept in the table implies its site. Some carts write the site and others omit it, so it
    // is not part of the key.
    one.key ? '' : code(one.site),
    code(one.of),
    code(one.phase),
    code(one.respiration),
    code(one.imageMode),
    code(one.imageView),
    code(one.flowDirection),
    code(one.method),
    code(one.property),
    code(one.divisor),
    code(one.stage),
  ].join(' ');
}

/** Ranks a value by how much detail the cart gives for it. A selection outweighs a derivation. */
function weight({ selection, derivation, image }: CartMeasurement): number {
  return (selection ? 4 : 0) + (derivation ? 2 : 0) + (image ? 1 : 0);
}

const valueKey = (one: CartMeasurement) =>
  `${quantityKey(one)} ${one.value.toPrecision(SAME_DIGITS)} ${one.unit}${one.derivation === 'other' ? ' other' : ''}`;

const imageKey = ({ image }: CartMeasurement) =>
  image ? `${image.sopInstanceUid} ${image.frame}` : null;

const mostSaidFirst = (values: readonly CartMeasurement[]) =>
  values.toSorted((one, other) => weight(other) - weight(one));

/**
 * Merges equal values in one place. Values from the same image are one measurement. The others are
 * separate measurements if they have the same derivation, but may be one measurement if their
 * derivations differ: the mean of a single value equals the value. The number of values kept is
 * therefore that of the most frequent derivation; the most detailed are kept.
 */
function inOnePlace(same: readonly CartMeasurement[]): CartMeasurement[] {
  const sorted = mostSaidFirst(same);
  const onImages = sorted.filter((one, index) => {
    const image = imageKey(one);
    return image === null || sorted.findIndex((other) => imageKey(other) === image) === index;
  });
  const byDerivation = [...Map.groupBy(onImages, ({ derivation }) => derivation).values()];
  return onImages.slice(0, Math.max(...byDerivation.map(({ length }) => length)));
}

/**
 * Merges values repeated in several places (sections, reports). Two equal values in one place were
 * measured twice, and both count, unless they come from the same image: the median of 175, 175 and
 * 190 is 175. The most detailed values of each group are kept, at the position of the group's first
 * value.
 */
export function mergedRepeats(places: readonly (readonly CartMeasurement[])[]): CartMeasurement[] {
  const kept = new Map<string, CartMeasurement[]>();
  for (const place of places) {
    for (const [key, same] of Map.groupBy(place, valueKey)) {
      const before = kept.get(key) ?? [];
      const here = inOnePlace(same);
      const count = Math.max(before.length, here.length);
      kept.set(key, mostSaidFirst([...before, ...here]).slice(0, count));
    }
  }
  return [...kept.values()].flat();
}

/**
 * Returns the values of all reports of a study. A value repeated in several reports is returned
 * once.
 */
export function withoutRepeats(measurements: readonly CartMeasurement[]): CartMeasurement[] {
  return mergedRepeats([...Map.groupBy(measurements, ({ file }) => file).values()]);
}
