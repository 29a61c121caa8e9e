import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { echoEndpoint } from '../../../../pipelines/echo/endpoint.ts';
import { obstetricEndpoint } from '../../../../pipelines/obstetric/endpoint.ts';
import { describeApi, describeEndpoint } from '../../../../src/doors/http/openapi/document.ts';
import * as objects from '../../../../src/doors/http/openapi/objects.ts';
import { OPERATIONS } from '../../../../src/doors/http/openapi/operations.ts';
import { type Gateway, startGateway } from './gateway.ts';

describe('the published validator of OpenAPI documents', () => {
  const endpoints = [obstetricEndpoint, echoEndpoint];

  it.each<[string, object]>([
    ['the whole API', describeApi(endpoints, 'https://ward.example')],
    ...endpoints.map((each): [string, object] => [
      each.id,
      describeEndpoint(each, 'https://ward.example'),
    ]),
  ])('finds nothing wrong with the description of %s', async (_what, document) => {
    const found = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    expect(found.errors ?? []).toEqual([]);
    expect(found.valid).toBe(true);
  });

  it.each([
    [obstetricEndpoint, 'planes', 'frames'],
    [obstetricEndpoint, 'nt', 'structures'],
    [obstetricEndpoint, 'labor-progress', 'structures'],
    [echoEndpoint, 'views', 'clips'],
  ] as const)('defines types for the section data that clients read', (endpoint, section, key) => {
    const { sections } = z.toJSONSchema(endpoint.output, { io: 'output' }).properties ?? {};
    const typed = z.object({ items: z.object({ anyOf: z.array(z.json()) }) }).parse(sections);
    expect(typed.items.anyOf).toContainEqual(
      expect.objectContaining({
        properties: expect.objectContaining({
          id: { type: 'string', const: section },
          data: expect.objectContaining({
            properties: expect.objectContaining({ [key]: expect.anything() }),
          }),
        }),
      }),
    );
  });

  it('finds a planted error', async () => {
    const document = { ...describeApi(endpoints, 'https://ward.example'), paths: { runs: {} } };
    expect(await new Validator().validate(document)).toMatchObject({ valid: false });
  });
});

describe('the description of the API', () => {
  let gateway: Gateway;
  let id: string;

  beforeAll(async () => {
    gateway = await startGateway();
    id = await gateway.submit();
  });
  afterAll(() => gateway.stop());

  const get = async (path: string, key?: string) =>
    (await gateway.call(path, key ? { key } : {})).json();

  it('is served without a key, as JSON and as a page that needs nothing from elsewhere', async () => {
    const answer = await gateway.call('/v1/openapi.json', { key: null });
    expect(await answer.json()).toMatchObject({ openapi: '3.1.0' });
    const page = await gateway.call('/docs', { key: null });
    expect(page.headers.get('Content-Type')).toContain('text/html');
    const html = await page.text();
    expect(html).toContain('/docs/reference.js');
    expect(html).not.toMatch(/(src|href)="(https?:)?\/\//);
  });

  it('lists no call that is not served', async () => {
    for (const { method, path } of OPERATIONS) {
      const address = path.replaceAll(/\{\w+\}/g, 'x');
      const answer = await gateway.call(address, { method: method.toUpperCase(), key: null });
      const { code, detail } = (await answer.json().catch(() => ({}))) as Record<string, string>;
      expect([method, path, code]).not.toEqual([method, path, 'method_not_allowed']);
      expect(detail).not.toBe('There is nothing at this path.');
    }
  });

  it('has the logs of a queue status as a parameter', () => {
    const queries = OPERATIONS.filter(({ id }) => id.startsWith('queueStatus')).map(
      ({ uncheckedQuery }) => uncheckedQuery && Object.keys(uncheckedQuery.shape),
    );
    expect(queries).toEqual([['logs'], ['logs']]);
  });

  it.each<[string, z.ZodType, () => string]>([
    ['a request', objects.request, () => `/v1/requests/${id}`],
    ['a page of requests', objects.requestPage, () => '/v1/requests'],
    ['artifacts', objects.artifactList, () => `/v1/requests/${id}/artifacts`],
    ['models', objects.modelList, () => '/v1/models'],
    ['a model', objects.modelDetail, () => '/v1/models/us/obstetric'],
    ['usage', objects.usage, () => '/v1/usage'],
    ['a problem', objects.problem, () => '/v1/requests/req_none'],
    [
      'a queue status',
      objects.queueStatus,
      () => `/queue/us/obstetric/requests/${id}/status?logs=1`,
    ],
    ['a queue error', objects.queueError, () => '/queue/us/obstetric/requests/req_none'],
  ])('has the schema of %s as in the response', async (_what, schema, path) => {
    expect(schema.safeParse(await get(path())).error?.issues ?? []).toEqual([]);
  });

  it('has the refusal to cancel an ended queue request as in the response', async () => {
    const cancel = () =>
      gateway.call(`/queue/us/obstetric/requests/${id}/cancel`, { method: 'PUT' });
    await cancel();
    const answer = await cancel();
    const body = (await answer.json()) as Record<string, unknown>;
    expect(objects.queueError.strict().safeParse(body).error?.issues ?? []).toEqual([]);
    const document = z
      .object({ paths: z.record(z.string(), z.record(z.string(), z.json())) })
      .parse(await get('/v1/openapi.json'));
    const { put, post } = document.paths['/queue/{ns}/{model}/requests/{id}/cancel'] ?? {};
    for (const described of [put, post]) {
      expect(described).toMatchObject({
        responses: {
          [answer.status]: {
            content: {
              'application/json': {
                examples: {
                  [String(body.code)]: { value: { status: body.status, code: body.code } },
                },
              },
            },
          },
        },
      });
    }
  });

  it('has the schemas of keys and webhooks as in the responses', async () => {
    const admin = await gateway.key({ scopes: ['admin'] });
    const answers: [z.ZodType, string][] = [
      [objects.keyList, '/v1/keys'],
      [objects.webhookSecret, '/v1/webhooks/secret'],
      [objects.webhookDeliveries, '/v1/webhooks/deliveries'],
    ];
    for (const [schema, path] of answers) {
      expect(schema.safeParse(await get(path, admin)).error?.issues ?? []).toEqual([]);
    }
  });
});
