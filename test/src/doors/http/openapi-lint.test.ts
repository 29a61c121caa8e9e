import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { echoEndpoint } from '../../../../pipelines/echo/endpoint.ts';
import { obstetricEndpoint } from '../../../../pipelines/obstetric/endpoint.ts';
import { describeApi, describeEndpoint } from '../../../../src/doors/http/openapi/document.ts';
import { exampleOf } from '../../../../src/doors/http/openapi/examples.ts';

const ADDRESS = 'https://ultrasound.hospital';
const ENDPOINTS = [obstetricEndpoint, echoEndpoint];

/**
 * Every rule that the linter's authors recommend, and rules that require descriptions and examples.
 */
const RULES: Parameters<typeof createConfig>[0] = {
  extends: ['recommended-strict'],
  rules: {
    'operation-description': 'error',
    'parameter-description': 'error',
    'tag-description': 'error',
    'operation-operationId-unique': 'error',
    'no-invalid-media-type-examples': 'error',
    'no-invalid-schema-examples': 'error',
    'no-unused-components': 'error',
    // Counts by plane name are described with `propertyNames`, which this rule does not support.
    'no-required-schema-properties-undefined': 'off',
    // A request for an artifact is answered with a redirect.
    'operation-2xx-response': 'off',
  },
};

async function complaints(document: object): Promise<string[]> {
  const config = await createConfig(RULES);
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.map(
    ({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`,
  );
}

describe('the linter of OpenAPI documents', () => {
  it.each<[string, object]>([
    ['the whole API', describeApi(ENDPOINTS, ADDRESS, 5_000_000_000)],
    ['one endpoint', describeEndpoint(obstetricEndpoint, ADDRESS)],
  ])('finds nothing in the description of %s', async (_what, document) => {
    expect(await complaints(document)).toEqual([]);
  });

  it('finds an error planted in it', async () => {
    const document = describeApi(ENDPOINTS, ADDRESS);
    const { '/v1/usage': usage } = document.paths;
    const paths = {
      '/v1/usage': { get: { ...(usage?.get as object), tags: undefined, summary: '' } },
    };
    expect(await complaints({ ...document, paths })).not.toEqual([]);
  });
});

type Json = Record<string, unknown>;

const DOCUMENT = JSON.parse(JSON.stringify(describeApi(ENDPOINTS, ADDRESS)));
const { schemas } = DOCUMENT.components as { schemas: Record<string, Json> };
const resolve = (ref: string): Json => schemas[ref.split('/').at(-1) ?? ''] ?? {};

/**
 * Returns the fields of a schema that have no description or no example, at any depth (including
 * lists, alternatives and maps). A field with one fixed value, such as the `kind` of a change,
 * needs neither.
 */
function undescribed(schema: Json, place: string, seen = new Set<Json>()): string[] {
  const { $ref, properties = {}, items, prefixItems, anyOf, oneOf, allOf } = schema;
  if (typeof $ref === 'string') {
    const target = resolve($ref);
    if (seen.has(target)) return [];
    return undescribed(target, place, seen.add(target));
  }
  const fields = Object.entries(properties as Record<string, Json>).flatMap(([name, field]) => {
    const here = `${place}/${name}`;
    const target = typeof field.$ref === 'string' ? resolve(field.$ref) : field;
    const explained = field.description ?? target.description;
    const shown = exampleOf(field, resolve) !== undefined;
    return [
      ...(explained || 'const' in target ? [] : [`${here}: no description`]),
      ...(shown ? [] : [`${here}: no example`]),
      ...undescribed(field, here, seen),
    ];
  });
  const inner = [items, prefixItems, anyOf, oneOf, allOf, schema.additionalProperties].flat();
  return [
    ...fields,
    ...inner.flatMap((one) =>
      one && typeof one === 'object' ? undescribed(one as Json, place, seen) : [],
    ),
  ];
}

/** Returns true if an empty body is the only possible example. */
const isEmptyObject = (schema: Json): boolean => {
  const target = typeof schema.$ref === 'string' ? resolve(schema.$ref) : schema;
  return target.additionalProperties === false && Object.keys(target.properties ?? {}).length === 0;
};

interface Described {
  parameters?: { name: string; description?: string; schema: Json }[];
  requestBody?: { content: Record<string, { schema: Json; example?: unknown }> };
  responses: Record<
    string,
    {
      description?: string;
      content?: Record<string, { schema: Json; example?: unknown; examples?: object }>;
    }
  >;
  security: { key?: string[] }[];
  'x-codeSamples': { label: string }[];
}

describe('every call of the description', () => {
  const paths = DOCUMENT.paths as Record<string, Record<string, Described>>;
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, call]) => [`${method} ${path}`, call] as const),
  );

  it.each(calls)('%s: explains and shows each field of its input', (_name, call) => {
    const bodies = Object.entries(call.requestBody?.content ?? {});
    const wrong = bodies.flatMap(([media, { schema, example }]) => [
      ...undescribed(schema, media),
      ...(example === undefined ? [`${media}: no example`] : []),
    ]);
    for (const { name, description, schema } of call.parameters ?? []) {
      if (!description) wrong.push(`${name}: no description`);
      if (exampleOf(schema, resolve) === undefined) wrong.push(`${name}: no example`);
    }
    expect(wrong).toEqual([]);
  });

  it.each(calls)('%s: shows each of its answers, and each error by code', (_name, call) => {
    const without = Object.entries(call.responses).flatMap(([status, { description, content }]) => [
      ...(description ? [] : [`${status}: no description`]),
      ...Object.entries(content ?? {}).flatMap(([media, { schema, example, examples }]) => {
        const shown = examples ?? example;
        if (shown === undefined) return [`${status} ${media}: no example`];
        if (JSON.stringify(shown) !== '{}' || isEmptyObject(schema)) return [];
        return [`${status} ${media}: empty example`];
      }),
    ]);
    expect(without).toEqual([]);
  });

  it.each(calls)('%s: states the required scope, and has samples', (_name, call) => {
    expect(call.security.every(({ key }) => key?.length === 1)).toBe(true);
    expect(call['x-codeSamples'].map(({ label }) => label)).toEqual([
      'curl',
      'TypeScript',
      'Python',
    ]);
  });

  it.each(Object.entries(schemas))(
    '%s: explains and shows each field of the answer',
    (name, schema) => {
      expect(undescribed(schema, name, new Set([schema]))).toEqual([]);
    },
  );

  it('states where search and retrieval by DICOMweb are described', () => {
    const { description } = DOCUMENT.tags.find(({ name }: Json) => name === 'DICOMweb');
    expect(description).toContain('QIDO-RS and WADO-RS');
  });

  it('describes the webhooks', () => {
    expect(Object.keys(DOCUMENT.webhooks)).toEqual([
      'request.succeeded',
      'request.failed',
      'request.triage',
      'request.verified',
      'request.withdrawn',
    ]);
  });
});
