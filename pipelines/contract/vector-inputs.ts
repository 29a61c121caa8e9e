/** Inputs of a test vector, read by name; a missing input is an error of the vector. */
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

/** `name` as a key of a table; throws where the table has no such key. */
export function member<Key extends string>(
  table: Readonly<Record<Key, unknown>>,
  name: string,
): Key {
  if (!Object.hasOwn(table, name)) throw new Error(`unknown input "${name}"`);
  return name as Key;
}

/** The entry of a table under `name`; throws where the table has no such entry. */
export function known<Value>(table: Readonly<Record<string, Value>>, name: string): Value {
  const value = table[name];
  if (value === undefined) throw new Error(`unknown input "${name}"`);
  return value;
}
