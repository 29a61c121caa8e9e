import type { CartMeasurement } from '../contract/cart.ts';
import { keyOf } from '../input/cart-sr/vocabulary.ts';
import type { ConceptKey, MethodKey } from '../result/concepts.ts';
import type { Measurement } from '../result/envelope.ts';

/** CID 12224. */
const TWO_DIMENSIONAL = 'SCT|399064001';
const M_MODE = 'SCT|399155008';

/** Codes of CID 12300 that say the mode themselves (echo reference 18.4). */
const MODES: Readonly<Record<string, string>> = {
  'LN|79969-2': TWO_DIMENSIONAL,
  'LN|80007-8': TWO_DIMENSIONAL,
  'LN|80011-0': TWO_DIMENSIONAL,
  'LN|80031-8': TWO_DIMENSIONAL,
  'LN|80019-3': TWO_DIMENSIONAL,
  'LN|80020-1': TWO_DIMENSIONAL,
  'LN|29434-8': TWO_DIMENSIONAL,
  'LN|77891-0': TWO_DIMENSIONAL,
  'LN|79975-9': TWO_DIMENSIONAL,
  'LN|79968-4': M_MODE,
  'LN|80008-6': M_MODE,
  'LN|80012-8': M_MODE,
  'LN|80032-6': M_MODE,
  'LN|80022-7': M_MODE,
  'LN|80023-5': M_MODE,
  'LN|29435-5': M_MODE,
  'LN|18049-7': M_MODE,
  'LN|79977-5': M_MODE,
};

/** Quantities that are measured in both modes, 2D preferred (reference 5.1, 6). */
const IN_BOTH_MODES: ReadonlySet<ConceptKey | null> = new Set<ConceptKey>([
  'ivsd',
  'lvidd',
  'lvids',
  'lvpwd',
  'lv-mass',
  'lv-mass-index',
  'fractional-shortening',
  'lvef-teichholz',
  'la-diameter',
]);

/** What the method of a value says of it, the preferred first (CID 12227; reference 4.2, 5.2). */
const STATED: Readonly<
  Partial<Record<ConceptKey, Readonly<Record<string, { rank: number; method: MethodKey }>>>>
> = {
  lvef: {
    'DCM|125204': { rank: 0, method: 'cart-area-length-biplane' },
    'DCM|125205': { rank: 1, method: 'cart-area-length' },
    'DCM|125206': { rank: 4, method: 'cart-cube' },
  },
  // The cube formula of linear dimensions stands first: partitions and geometry are for it.
  'lv-mass': {
    'DCM|125222': { rank: 4, method: 'cart-mass-2d' },
    'DCM|125270': { rank: 4, method: 'cart-mass-2d' },
  },
  'lv-mass-index': {
    'DCM|125222': { rank: 4, method: 'cart-mass-2d' },
    'DCM|125270': { rank: 4, method: 'cart-mass-2d' },
  },
};
/** Of an EF whose method is named and not listed, and of one without. */
const OTHER_STATED = 2;
const NOT_STATED = 3;

/** Mass over height is another quantity under the same name. */
const BY_HEIGHT: ReadonlySet<string> = new Set(['DCM|125271', 'DCM|125272', 'DCM|125273']);

export const isMassByHeight = ({ method }: CartMeasurement) =>
  method !== null && BY_HEIGHT.has(keyOf(method));

function modeOf({ key, concept, imageMode }: CartMeasurement): string | null {
  if (!IN_BOTH_MODES.has(key)) return null;
  return MODES[keyOf(concept)] ?? (imageMode && keyOf(imageMode));
}

function rankOf(value: CartMeasurement): number {
  const { key, method } = value;
  const listed = key && method ? STATED[key]?.[keyOf(method)]?.rank : undefined;
  const ofMethod = listed ?? (method ? OTHER_STATED : NOT_STATED);
  const mode = modeOf(value);
  const ofMode = mode === TWO_DIMENSIONAL ? 0 : mode === M_MODE ? 2 : 1;
  return 10 * (key !== null && STATED[key] ? ofMethod : 0) + ofMode;
}

/** (125316, DCM, "Directly measured") says no more than a value without a method does. */
const DIRECT = 'DCM|125316';

/** Values of one concept, method and mode: only these are repetitions of one measurement. */
function groupOf(value: CartMeasurement): string {
  const method = value.method && keyOf(value.method);
  return `${method === DIRECT ? '' : (method ?? '')} ${modeOf(value) ?? ''}`;
}

/**
 * Of each quantity the values of one method and mode alone, so that no median is one of methods
 * (reference 19, rule 2): those of the value that the operator chose, else the preferred ones.
 */
export function ofPreferredMethods(values: readonly CartMeasurement[]): CartMeasurement[] {
  const standing = new Map<string, CartMeasurement>();
  const precedes = (one: CartMeasurement, other: CartMeasurement) => {
    const [chosen, before] = [one.selection === 'user', other.selection === 'user'];
    return chosen === before ? rankOf(one) < rankOf(other) : chosen;
  };
  for (const value of values) {
    const known = value.key && standing.get(value.key);
    if (value.key && (!known || precedes(value, known))) standing.set(value.key, value);
  }
  return values.filter((value) => {
    const known = value.key && standing.get(value.key);
    return !known || groupOf(known) === groupOf(value);
  });
}

/** The machine's value with the method that its report states, where that decides what it is worth. */
export function withStatedMethod(
  measurement: Measurement,
  cart: readonly CartMeasurement[],
): Measurement {
  const key = measurement.concept.key as ConceptKey;
  const methods = STATED[key];
  const stated = cart.find((value) => value.key === key)?.method;
  if (!methods || !stated) return measurement;
  const method = methods[keyOf(stated)]?.method ?? (key === 'lvef' ? 'cart-stated' : null);
  return method ? { ...measurement, method } : measurement;
}
