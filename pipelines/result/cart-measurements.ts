import type { CartMeasurement } from '../contract/cart.ts';
import { median } from '../measure/statistics.ts';
import { CONCEPTS, type ConceptKey, measurementConcept } from './concepts.ts';
import type { Measurement } from './envelope.ts';

/** Of several values without the cart's choice, those of the first kind that is there stand. */
const PREFERENCE: readonly CartMeasurement['derivation'][] = ['best', 'mean', 'median'];

/**
 * Of repeated values of these the highest is the measure, as the others were not parallel to the
 * jet, not in the middle of the vessel, or taken in inspiration: AV Vmax (echo reference 0.5,
 * 11.1), LVOT diameter ("largest of 3", 11.1), TR Vmax ("best of", 12.1), IVC (maximum, 12.1).
 */
const HIGHEST: ReadonlySet<ConceptKey> = new Set([
  'av-vmax',
  'tr-vmax',
  'lvot-diameter',
  'ivc-diameter',
]);

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

const SELECTED = {
  user: 'chosen by the operator on the machine',
  'most-recent': 'the most recent value, chosen on the machine',
  mean: 'the mean, chosen on the machine',
  minimum: 'the smallest value, chosen on the machine',
  maximum: 'the largest value, chosen on the machine',
} as const satisfies Record<NonNullable<CartMeasurement['selection']>, string>;

interface Standing {
  from: CartMeasurement;
  value: number;
  derivation: Measurement['derivation'];
  note: string | null;
}

/** A value without a derivation is a measured one, unless its concept is a calculated one. */
function derivationOf({ key, derivation, equation }: CartMeasurement): Measurement['derivation'] {
  if (derivation) return DERIVED[derivation];
  const measured = key !== null && CONCEPTS[key].group === 'biometry' && equation === null;
  return measured ? 'measured' : 'calculated';
}

/**
 * The value that stands for a quantity: the one that the cart selected (PS3.16 CID 224, CID 12301),
 * else its best value, mean or median, else the only one; of several that the cart did not choose
 * between, the highest where the quantity is one of maxima, and their median elsewhere.
 */
function standingOf(
  key: ConceptKey,
  values: readonly [CartMeasurement, ...CartMeasurement[]],
): Standing {
  const [first] = values;
  const selected = values.find(({ selection }) => selection !== null);
  const preferred = PREFERENCE.map((kind) =>
    values.find(({ derivation }) => derivation === kind),
  ).find((value) => value !== undefined);
  const from = selected ?? preferred ?? first;
  if (selected || preferred || values.length === 1) {
    const note = from.selection ? SELECTED[from.selection] : null;
    return { from, value: from.value, derivation: derivationOf(from), note };
  }
  if (HIGHEST.has(key)) {
    const highest = values.reduce((most, one) => (one.value > most.value ? one : most));
    const note = `highest of ${values.length} values, of which the machine chose none`;
    return { from: highest, value: highest.value, derivation: derivationOf(highest), note };
  }
  return {
    from: { ...first, image: null },
    value: median(values.map(({ value }) => value)),
    derivation: 'median',
    note: `median of ${values.length} values, of which the machine chose none`,
  };
}

function toMeasurement(
  section: string,
  key: ConceptKey,
  { from, value, derivation, note }: Standing,
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
    quality: 'accepted',
    reference: null,
    interpretation: null,
    inputs: [],
    note: [equation, note].filter(Boolean).join('; ') || null,
  };
}

/**
 * What the machine's own reports say about these concepts: one measurement for each concept, fetus
 * and side, with provenance `cart-sr`, in the units of the concept table and in the order of `keys`.
 * Ids are `cart-<key>`, with the fetus and the side behind.
 */
export function cartMeasurements(
  cart: readonly CartMeasurement[],
  section: string,
  keys: readonly ConceptKey[],
): Measurement[] {
  return keys.flatMap((key) => {
    const own = cart.filter((one) => one.key === key);
    const quantities = Map.groupBy(own, ({ fetus, laterality }) => `${fetus} ${laterality}`);
    return [...quantities.values()].flatMap(([first, ...others]) =>
      first ? [toMeasurement(section, key, standingOf(key, [first, ...others]))] : [],
    );
  });
}
