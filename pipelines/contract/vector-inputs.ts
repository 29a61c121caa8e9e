/** Inputs of a test vector, read by name. A missing input is an error in the vector. */
export interface VectorInputs {
  number(name: string): number;
  text(name: string): string;
  optionalNumber(name: string): number | null;
  optionalText(name: string): string | null;
  optionalFlag(name: string): boolean | null;
  isText(name: string): boolean;
  numbers(name: string): readonly number[];
  texts(name: string): readonly string[];
}

export type CheckValue = number | string | boolean | null | readonly (number | string)[];

export type CheckFormula = (inputs: VectorInputs) => CheckValue;

/** Returns the check of a formula whose arguments are the numbers with these names, in this order. */
export const ofNumbers =
  (formula: (...numbers: number[]) => CheckValue, ...names: readonly string[]): CheckFormula =>
  (inputs) =>
    formula(...names.map((name) => inputs.number(name)));

/**
 * Returns `name` as a key of a table.
 * @throws if the table lacks this key.
 */
export function member<Key extends string>(
  table: Readonly<Record<Key, unknown>>,
  name: string,
): Key {
  if (!Object.hasOwn(table, name)) throw new Error(`unknown input "${name}"`);
  return name as Key;
}

/**
 * Returns the entry of a table with this `name`.
 * @throws if the table lacks it.
 */
export function known<Value>(table: Readonly<Record<string, Value>>, name: string): Value {
  const value = table[name];
  if (value === undefined) throw new Error(`unknown input "${name}"`);
  return value;
}
