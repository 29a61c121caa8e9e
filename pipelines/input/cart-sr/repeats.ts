import type { CartCode, CartMeasurement } from '../../contract/study.ts';
import { keyOf } from './vocabulary.ts';

/**
 * Number of digits in which equal values must agree, because reports use different units and
 * formats.
 */
const SAME_DIGITS = 6;

const code = (given: CartCode | null) => (given ? keyOf(given) : '');

/** Returns a key for what was measured, without the value: concept, subject, place and moment. */
function quantityKey(one: CartMeasurement): string {
  return [
    one.key ?? code(one.concept),
    one.fetus ?? '',
    one.laterality ?? '',
    // A concept of the table implies its site, which carts may write or leave out.
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

/**
 * Returns how much the cart states about a value. A statement that the value was chosen counts more
 * than a statement of how it was obtained.
 */
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
 * Merges equal values from one place, counting each image once. A single value and its mean are
 * also equal; therefore only as many values are kept as share one derivation. The values with the
 * most details are kept.
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
 * Merges values that several places (sections, reports) repeat. The same value twice in one place
 * was measured twice, unless both values are from the same image; the median of 175, 175 and 190 is
 * 175. Of each group the values with the most details are kept, in the position of the first.
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

/** Returns the values of all reports of a study without the repetitions between reports. */
export function withoutRepeats(measurements: readonly CartMeasurement[]): CartMeasurement[] {
  return mergedRepeats([...Map.groupBy(measurements, ({ file }) => file).values()]);
}
