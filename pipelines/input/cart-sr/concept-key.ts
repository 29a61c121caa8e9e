import type { CartCode, CartMeasurement } from '../../contract/cart.ts';
import { CONCEPTS, type ConceptKey, type MeasurementConcept } from '../../result/concepts.ts';
import { convert } from './units.ts';
import { keyOf } from './vocabulary.ts';

/**
 * Ages name their inputs, which a code alone does not: (18185-9, LN) is the age by HC only in the
 * biometry group of HC (TID 5008), and (11888-5, LN) may come from any equation.
 */
const AGES: ReadonlySet<ConceptKey> = new Set(['ga-by-hc', 'ga-by-hc-ac-fl']);

const CONCEPT_LIST = Object.keys(CONCEPTS).filter((key): key is ConceptKey => key in CONCEPTS);

const entryOf = (key: ConceptKey): MeasurementConcept => CONCEPTS[key];

const BY_CODE: ReadonlyMap<string, ConceptKey> = new Map(
  CONCEPT_LIST.filter((key) => !AGES.has(key)).flatMap((key) =>
    entryOf(key).codings.map((coding) => [keyOf(coding), key] as const),
  ),
);

function ageOf(concept: CartCode, group: CartCode | null): ConceptKey | null {
  const quantity = group && BY_CODE.get(keyOf(group));
  const age = CONCEPT_LIST.find((key) => AGES.has(key) && key === `ga-by-${quantity}`);
  const isAge = age && entryOf(age).codings.some((coding) => keyOf(coding) === keyOf(concept));
  return isAge ? age : null;
}

type Named = Pick<CartMeasurement, 'concept' | 'of' | 'derivation' | 'divisor' | 'value' | 'unit'>;

/**
 * The key of the concept table for a value, and the value in the unit of the table. The key is null,
 * and the value as it was written, for a concept that the table does not hold, a derivation that is
 * no value of the quantity (a standard deviation), an indexed value, or a unit of another kind.
 */
export function inTable(named: Named): Pick<CartMeasurement, 'key' | 'value' | 'unit'> {
  const { concept, of, derivation, divisor, value, unit } = named;
  const key = of ? ageOf(concept, of) : (BY_CODE.get(keyOf(concept)) ?? null);
  const written = { key: null, value, unit };
  if (!key || divisor || derivation === 'other') return written;
  const converted = convert(value, unit, entryOf(key).unit);
  return converted === null ? written : { key, value: converted, unit: entryOf(key).unit };
}
