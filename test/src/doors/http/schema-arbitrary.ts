import fc, { type Arbitrary } from 'fast-check';

/** The parts of JSON Schema 2020-12 that occur in the described schemas. */
export interface JsonSchema {
  type?: string;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  propertyNames?: JsonSchema;
  items?: JsonSchema;
  minItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
}

/** Text that often breaks parsers, paths and databases. */
export const HOSTILE_TEXT = [
  '',
  '\0',
  'a\0b',
  '\ud800',
  '🫀',
  '../../etc/passwd',
  "'; DROP TABLE requests; --",
  '__proto__',
  'constructor',
  '0000-01-01T00:00:00Z',
  '9'.repeat(30),
  'x'.repeat(3000),
  'https://127.0.0.1/\0',
  'http://169.254.169.254/latest/meta-data/',
];

/**
 * Generates values for a schema. Most of them are valid, but any part is occasionally replaced.
 * @param known text that means something to the server, such as ids. It is tried wherever text is
 * allowed.
 */
export function valuesOf(schema: JsonSchema, known: readonly string[]): Arbitrary<unknown> {
  const anything = fc.oneof(fc.jsonValue(), fc.constantFrom(...HOSTILE_TEXT));
  return fc.oneof(
    { weight: 14, arbitrary: validOf(schema, known) },
    { weight: 1, arbitrary: anything },
  );
}

function validOf(schema: JsonSchema, known: readonly string[]): Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((each) => valuesOf(each, known)));
  switch (schema.type) {
    case 'object':
      return objectOf(schema, known);
    case 'array': {
      const { items = {}, minItems = 0 } = schema;
      return fc.array(valuesOf(items, known), { minLength: minItems, maxLength: minItems + 2 });
    }
    case 'string':
      return textOf(schema, known);
    case 'boolean':
      return fc.boolean();
    case 'integer': {
      const { minimum: min = Number.MIN_SAFE_INTEGER, maximum: max = Number.MAX_SAFE_INTEGER } =
        schema;
      return fc.integer({ min, max });
    }
    case 'number': {
      const { minimum, exclusiveMinimum, maximum: max = 1e308 } = schema;
      const min = minimum ?? exclusiveMinimum ?? -1e308;
      return fc.double({ min, max, noNaN: true, minExcluded: minimum === undefined });
    }
    default:
      return fc.jsonValue();
  }
}

function objectOf(schema: JsonSchema, known: readonly string[]): Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties, propertyNames = {} } = schema;
  if (typeof additionalProperties === 'object') {
    const names = textOf(propertyNames, []);
    return fc.dictionary(names, valuesOf(additionalProperties, known), { maxKeys: 3 });
  }
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, each]) => [name, valuesOf(each, known)]),
  );
  const strict = fc.record(fields, { requiredKeys: required });
  const unknownField = fc
    .tuple(strict, fc.string(), fc.jsonValue())
    .map(([value, name, extra]) => ({ ...value, [name]: extra }));
  return fc.oneof(
    { weight: 19, arbitrary: strict },
    { weight: 1, arbitrary: fc.record(fields, { requiredKeys: [] }) },
    { weight: 1, arbitrary: unknownField },
  );
}

function textOf(schema: JsonSchema, known: readonly string[]): Arbitrary<string> {
  const { minLength = 0, maxLength = minLength + 40, pattern, format } = schema;
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  if (format === 'uri') return fc.webUrl({ validSchemes: ['https', 'http'] });
  const text = fc.string({ minLength, maxLength: Math.min(maxLength, 200), unit: 'grapheme' });
  return known.length === 0
    ? text
    : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: text });
}
