import type { CartCode, CartMeasurement } from '../../contract/cart.ts';
import { keyOf } from './vocabulary.ts';

/** Digits in which the same value agrees, whatever units and formats it was written in. */
const SAME_DIGITS = 6;

const code = (given: CartCode | null) => (given ? keyOf(given) : '');

/** What was measured, without the value: concept, subject, place and moment. */
export function quantityKey(one: CartMeasurement): string {
  return [
    one.key ?? code(one.concept),
    one.fetus ?? '',
    one.laterality ?? '',
    // A concept of the table names its site; carts write it or leave it out.
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

/** How much the cart says about a value: its choice goes before its origin. */
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
 * Of the same values of one place, those of the same image once. A single value and the mean of it
 * are the same as well: as many stand as one derivation has, those about which most is said.
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
 * Values that several places (sections, reports) repeat, once. The same value twice in one place was
 * measured twice, unless it is of the same image: a median of 175, 175 and 190 is 175. Of each those
 * stand about which most is said, in the place of the first.
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

/** What the reports of a study say; the reports repeat each other. */
export function withoutRepeats(measurements: readonly CartMeasurement[]): CartMeasurement[] {
  return mergedRepeats([...Map.groupBy(measurements, ({ file }) => file).values()]);
}
