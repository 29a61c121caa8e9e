import type { Resource } from '@medplum/fhirtypes';

/** Every `reference` of a value, at any depth. */
export function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([member, inner]) =>
    member === 'reference' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  );
}

/** A copy of a resource whose references are those of `targets`, where it has them. */
export function withReferences<Of extends Resource>(
  resource: Of,
  targets: ReadonlyMap<string, string>,
): Of {
  return JSON.parse(JSON.stringify(resource), (member, value) =>
    member === 'reference' ? (targets.get(value) ?? value) : value,
  );
}
