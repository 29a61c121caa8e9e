import type { CartMeasurement } from '../contract/cart.ts';
import { fetusKey } from '../contract/fetus-name.ts';
import {
  type CartStanding,
  chooseCartValue,
  comparable,
  type Spread,
  type Values,
} from './cart-standing.ts';
import { CONCEPTS, type ConceptKey, measurementConcept } from './concepts.ts';
import type { Measurement } from './envelope.ts';

function toMeasurement(
  section: string,
  key: ConceptKey,
  { from, value, derivation, quality, note }: CartStanding,
): Measurement {
  const { label, unit, site } = CONCEPTS[key];
  const equation = from.equation ? `by ${from.equation.meaning}` : null;
  return {
    id: ['cart', key, from.fetus, from.laterality].filter(Boolean).join('-'),
    section,
    concept: measurementConcept(key),
    label,
    value,
    unit,
    method: 'cart-sr',
    derivation,
    source: {
      provenance: 'cart-sr',
      file: from.file,
      sop_instance_uid: from.image?.sopInstanceUid ?? from.sopInstanceUid,
      frame: from.image?.frame ?? null,
      calipers: [],
    },
    site: site?.meaning ?? from.site?.meaning ?? null,
    laterality: from.laterality,
    fetus: from.fetus,
    phase: from.phase?.meaning ?? null,
    confidence: null,
    uncertainty: null,
    quality,
    reference: null,
    interpretation: null,
    inputs: [],
    note: [equation, note].filter(Boolean).join('; ') || null,
  };
}

/** What the machine's reports say of one quantity of one fetus and side. */
export interface CartQuantity {
  measurement: Measurement;
  /** Of repeated values of which the machine chose none; null where there is only one. */
  spread: Spread | null;
  /** Values that do not count, as `cart-<key>-unused-<n>`. */
  unused: Measurement[];
}

/** Said of each of several values that are too far apart for one of all of them. */
const APART_NOTE = 'of which the machine chose none, too far apart for their median';

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
    note:
      [own.note, count > 1 ? `one of ${count} values, ${APART_NOTE}` : null]
        .filter(Boolean)
        .join('; ') || null,
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

/** The same with the spread of what was measured several times. */
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
 * What the machine's own reports say about these concepts: one accepted measurement for each concept,
 * fetus and side, and several only of heart rates in different bands; with provenance `cart-sr`, in the units of the concept table and in the order of
 * `keys`. Ids are `cart-<key>`, with the fetus and the side behind. Values that cannot be follow as
 * inadequate ones.
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
