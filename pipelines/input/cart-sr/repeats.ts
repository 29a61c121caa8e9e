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

/**
 * Values that were written twice (in two sections, in two reports, as a single value and as the mean
 * of one) once: of each the one about which most is said, in the place of the first.
 */
export function withoutRepeats(measurements: readonly CartMeasurement[]): CartMeasurement[] {
  const kept = new Map<string, CartMeasurement>();
  for (const one of measurements) {
    const own = `${quantityKey(one)} ${one.value.toPrecision(SAME_DIGITS)} ${one.unit}`;
    const derived = one.derivation === 'other' ? `${own} other` : own;
    const before = kept.get(derived);
    if (!before || weight(one) > weight(before)) kept.set(derived, one);
  }
  return [...kept.values()];
}
