export const EXAMPLE = {
  address: 'https://ultrasound.hospital.example',
  receiver: 'https://ris.hospital.example/hooks/ultrasound',
  request: 'req_06dvq2m1k8r7n3p5s9t0w4x6yz',
  file: 'file_06dvq2kz7h5m1n3p8r0s2t4v6w',
  key: 'key_06dvq2e9c4d8f2g6h0j3k7m1n5',
  delivery: 'whd_06dvq2n5p9q3r7s1t5v9w3x7y1',
  call: '5b6f2c1e-7d0a-4f7e-9a51-2f4f1f1b9c11',
  time: '2026-11-22T09:30:00.000Z',
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
} as const;

type Json = Record<string, unknown>;

/**
 * Returns an example for a JSON Schema, composed of its fields' examples.
 * @param resolve returns the schema for a `$ref`
 * @returns undefined if the schema contains no examples
 */
export function exampleOf(schema: Json, resolve: (ref: string) => Json): unknown {
  const { examples, const: only, enum: allowed, properties, items, $ref } = schema;
  if (Array.isArray(examples)) return examples[0];
  if (only !== undefined) return only;
  if (typeof $ref === 'string') return exampleOf(resolve($ref), resolve);
  if (Array.isArray(allowed)) return allowed[0];
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return exampleOf(choices[0], resolve);
  if (properties) {
    const fields = Object.entries(properties as Record<string, Json>).map(
      ([name, property]) => [name, exampleOf(property, resolve)] as const,
    );
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  }
  if (items) {
    const item = exampleOf(items as Json, resolve);
    return item === undefined ? [] : [item];
  }
  return undefined;
}
