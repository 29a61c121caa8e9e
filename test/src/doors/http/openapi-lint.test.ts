import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { echoEndpoint } from '../../../../pipelines/echo/endpoint.ts';
import { obstetricEndpoint } from '../../../../pipelines/obstetric/endpoint.ts';
import { describeApi, describeEndpoint } from '../../../../src/doors/http/openapi/document.ts';
import { exampleOf } from '../../../../src/doors/http/openapi/examples.ts';

const ADDRESS = 'https://ultrasound.hospital';
const ENDPOINTS = [obstetricEndpoint, echoEndpoint];

/** Every rule that its authors recommend, and that descriptions and examples are not forgotten. */
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
    // Counts by the name of a plane are described by `propertyNames`.
    'no-required-schema-properties-undefined': 'off',
    // An artifact is answered by a redirect.
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

  it('finds a planted fault', async () => {
    const document = describeApi(ENDPOINTS, ADDRESS);
    const { '/v1/usage': usage } = document.paths;
    const paths = {
      '/v1/usage': { get: { ...(usage?.get as object), tags: undefined, summary: '' } },
    };
    expect(await complaints({ ...document, paths })).not.toEqual([]);
  });
});

type Json = Record<string, unknown>;

/** Places of a schema of input that say nothing about a field, or show no value. */
function undescribed(schema: Json, place: string): string[] {
  const { properties = {} } = schema;
  return Object.entries(properties as Record<string, Json>).flatMap(([name, field]) => {
    const here = `${place}/${name}`;
    const shown = exampleOf(field, () => ({})) !== undefined;
    return [
      ...(field.description ? [] : [`${here}: no description`]),
      ...(shown ? [] : [`${here}: no example`]),
      ...undescribed(field, here),
    ];
  });
}

interface Described {
  parameters?: { name: string; description?: string; schema: Json }[];
  requestBody?: { content: Record<string, { schema: Json; example?: unknown }> };
  responses: Record<string, { content?: Record<string, { example?: unknown; examples?: object }> }>;
  security: { key?: string[] }[];
  'x-codeSamples': { label: string }[];
}

describe('every call of the description', () => {
  const document = describeApi(ENDPOINTS, ADDRESS);
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, call]) => [`${method} ${path}`, call as Described] as const,
    ),
  );

  it.each(calls)('%s: explains and shows each field of its input', (_name, call) => {
    const bodies = Object.entries(call.requestBody?.content ?? {});
    const wrong = bodies.flatMap(([media, { schema }]) => undescribed(schema, media));
    for (const { name, description, schema } of call.parameters ?? []) {
      if (!description) wrong.push(`${name}: no description`);
      if (exampleOf(schema, () => ({})) === undefined) wrong.push(`${name}: no example`);
    }
    expect(wrong).toEqual([]);
  });

  it.each(calls)('%s: shows each of its answers, and each error by code', (_name, call) => {
    const without = Object.entries(call.responses).flatMap(([status, { content = {} }]) =>
      Object.entries(content).flatMap(([media, { example, examples }]) =>
        example !== undefined || examples || media === 'application/octet-stream'
          ? []
          : [`${status} ${media}`],
      ),
    );
    expect(without).toEqual([]);
  });

  it.each(calls)('%s: names the scope of its key, and has samples', (_name, call) => {
    expect(call.security.every(({ key }) => key?.length === 1)).toBe(true);
    expect(call['x-codeSamples'].map(({ label }) => label)).toEqual([
      'curl',
      'TypeScript',
      'Python',
    ]);
  });

  it('describes the webhooks', () => {
    expect(Object.keys(document.webhooks)).toEqual([
      'request.succeeded',
      'request.failed',
      'request.triage',
      'request.verified',
    ]);
  });
});
