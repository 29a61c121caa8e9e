import type { CartMeasurement } from '../../contract/cart.ts';
import { CONCEPTS, type ConceptKey, type MeasurementConcept } from '../../result/concepts.ts';
import { convert } from './units.ts';
import { keyOf, PROPERTIES } from './vocabulary.ts';

/**
 * (18185-9, LN, "Gestational Age") does not say what the age was taken from: the biometry group does
 * in which it stands (TID 5008).
 */
const AGE_OF: Readonly<Partial<Record<ConceptKey, ConceptKey>>> = {
  hc: 'ga-by-hc',
  crl: 'ga-by-crl',
  'mean-sac-diameter': 'ga-by-sac',
};

/** (11888-5, LN, "Composite Ultrasound Age") may come from any equation: it has no key. */
const AGES: ReadonlySet<ConceptKey> = new Set([...Object.values(AGE_OF), 'ga-by-hc-ac-fl']);

const KEYS = Object.keys(CONCEPTS).filter((key): key is ConceptKey => key in CONCEPTS);

const entryOf = (key: ConceptKey): MeasurementConcept => CONCEPTS[key];

/** The keys that a code can mean. */
const KEYS_OF_CODE: ReadonlyMap<string, ConceptKey[]> = KEYS.filter((key) => !AGES.has(key))
  .flatMap((key) => entryOf(key).codings.map((coding) => ({ code: keyOf(coding), key })))
  .reduce(
    (all, { code, key }) => all.set(code, [...(all.get(code) ?? []), key]),
    new Map<string, ConceptKey[]>(),
  );

type Named = Pick<
  CartMeasurement,
  'concept' | 'of' | 'site' | 'derivation' | 'divisor' | 'value' | 'unit'
>;

/** The one concept that a value names; a general name (a diameter, a PI) needs its site for it. */
function quantityOf({ concept, site }: Pick<Named, 'concept' | 'site'>): ConceptKey | null {
  const code = keyOf(concept);
  const keys = KEYS_OF_CODE.get(code) ?? [];
  const general = PROPERTIES.has(code) || keys.length > 1;
  const meant = keys.filter((key) => {
    const own = entryOf(key).site;
    return !general || (own && site && keyOf(own) === keyOf(site));
  });
  return meant.length === 1 ? (meant[0] ?? null) : null;
}

function ageOf({ concept, of, site }: Named): ConceptKey | null {
  const quantity = of && quantityOf({ concept: of, site });
  const age = quantity && AGE_OF[quantity];
  const isAge = age && entryOf(age).codings.some((coding) => keyOf(coding) === keyOf(concept));
  return isAge ? age : null;
}

/**
 * The key of the concept table for a value, and the value in the unit of the table. The key is null,
 * and the value as it was written, for a concept that the table does not hold, a derivation that is
 * no value of the quantity (a standard deviation), an indexed value, or a unit of another kind.
 */
export function inTable(named: Named): Pick<CartMeasurement, 'key' | 'value' | 'unit'> {
  const { of, derivation, divisor, value, unit } = named;
  const key = of ? ageOf(named) : quantityOf(named);
  const written = { key: null, value, unit };
  if (!key || divisor || derivation === 'other') return written;
  const converted = convert(value, unit, entryOf(key).unit);
  return converted === null ? written : { key, value: converted, unit: entryOf(key).unit };
}
