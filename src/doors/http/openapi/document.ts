import { z } from 'zod';
import type { ReceiverState, WithdrawalReason } from '../../../../pipelines/contract/withdrawal.ts';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../../core/requests/announce.ts';
import type { Endpoint } from '../../../core/requests/endpoint.ts';
import { catalogueEntry, type ErrorCode } from '../../../platform/errors/catalogue.ts';
import { problem } from '../../../platform/errors/problem.ts';
import { LONGEST_URL } from '../../../platform/outbound/url-guard.ts';
import {
  ALREADY_COMPLETED_STATUS,
  alreadyCompleted,
  compatibleError,
} from '../compatible-queue/answers.ts';
import { FILE_ID, MOST_FILES, submitBody } from '../submission.ts';
import { EXAMPLE, exampleOf } from './examples.ts';
import { GROUPS, INTRODUCTION } from './guides.ts';
import * as objects from './objects.ts';
import { type Operation, SUBMIT_ERRORS } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { codeSamples } from './samples.ts';

/** Version of the HTTP API and of its clients. */
export const API_VERSION = '1.0.0';

/** Errors that any call with a key can return. */
const KEY_ERRORS: readonly ErrorCode[] = [
  'unauthenticated',
  'invalid_key',
  'forbidden',
  'rate_limited',
];

const LICENCE = { name: 'Apache-2.0', identifier: 'Apache-2.0' };
const SECURITY = {
  key: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A key made with `npx sonogate keys create`: `sg_live_…`, or `sg_test_…` for the mock backend. `Key` also works in place of `Bearer`. The description of each call states the scope that the key must have.',
  },
};

type Json = Record<string, unknown>;

/** Converts a schema to JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
function schemaOf(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}

/** An element of `files` or `prior_files`: an upload, or a hosted file. */
const FILE_ELEMENT = {
  type: 'string',
  description: 'Id of an upload, or the URL of a hosted file',
  examples: [EXAMPLE.file],
  anyOf: [{ pattern: FILE_ID.source }, { pattern: '^https?://[^\\s/?#@]+(?:[/?#]\\S*)?$' }],
  maxLength: LONGEST_URL,
};

/** Adds the HTTP API's own requirements for files to the input schema of an endpoint. */
function withFileElements(input: Json): Json {
  const properties = Object.entries(input.properties as Json).map(([name, property]) => [
    name,
    name === 'files' || name === 'prior_files'
      ? { ...(property as Json), items: FILE_ELEMENT, maxItems: MOST_FILES }
      : property,
  ]);
  return { ...input, properties: Object.fromEntries(properties) };
}

function submitSchema(endpoint: Endpoint): Json {
  const body = schemaOf(submitBody(endpoint));
  const { description } = (body.properties as { input: Json }).input;
  const input = withFileElements(schemaOf(endpoint.input));
  return withProperty(body, 'input', { description, ...input });
}

/** Returns a reference to a schema of objects.ts by its name in `components`. */
const refer = (name: string) => ({ $ref: REF + schemaName(name) });
const REF = '#/components/schemas/';
const schemaName = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** Key under which the converter puts schemas that have an id but are not components. */
const SHARED = '__shared';

/** Returns `components.schemas`. The `output` of a request can be the result of any endpoint. */
function componentSchemas(endpoints: readonly Endpoint[]): Record<string, Json> {
  const registry = z.registry<{ id: string }>();
  const add = (id: string, schema: z.ZodType) => registry.add(schema, { id });
  for (const [name, schema] of Object.entries(objects)) add(schemaName(name), schema);
  for (const { operation, output } of endpoints) add(`${operation}Output`, output);
  const converted = z.toJSONSchema(registry, {
    io: 'output',
    unrepresentable: 'any',
    uri: (id) => (id === SHARED ? SHARED : REF + id),
  }).schemas as Record<string, Json>;
  const { [SHARED]: shared, ...own } = JSON.parse(
    JSON.stringify(converted, (name, value) =>
      name === '$ref' ? String(value).replace(`${SHARED}#/$defs/`, REF) : value,
    ),
  ) as Record<string, Json>;
  const all = { ...own, ...((shared?.$defs ?? {}) as Record<string, Json>) };
  const outputs = endpoints.map(({ operation }) => refer(`${operation}Output`));
  const found = Object.entries(all).map(([name, { $schema: _, $id: __, id: ___, ...schema }]) => {
    switch (name) {
      case 'Request':
        return [
          name,
          withProperty(schema, 'output', {
            description: 'The result envelope of the endpoint; null unless succeeded',
            anyOf: [...outputs, { type: 'null' }],
          }),
        ];
      case 'QueueResult':
        return [name, { description: 'The result envelope of the endpoint', anyOf: outputs }];
      default:
        return [name, schema];
    }
  });
  return Object.fromEntries(found);
}

/** Returns the component schemas to which a description refers, directly or indirectly. */
function usedOf(schemas: Record<string, Json>, description: unknown): Record<string, Json> {
  const used = new Set<string>();
  const visit = (part: unknown) => {
    const refs = JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
    for (const [, name = ''] of refs) {
      if (used.has(name)) continue;
      used.add(name);
      visit(schemas[name]);
    }
  };
  visit(description);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
}

function withProperty(schema: Json, name: string, property: Json): Json {
  return { ...schema, properties: { ...(schema.properties as Json), [name]: property } };
}

/**
 * Returns one response for each HTTP status. Each response lists the possible error codes, with an
 * example of each.
 */
function errorResponses(codes: readonly ErrorCode[], compatible: boolean): Json {
  const isCompleted = (code: ErrorCode) => compatible && code === 'already_finished';
  const byStatus = Map.groupBy(
    new Set<ErrorCode>([...codes, 'invalid_host', 'database_unreachable', 'internal']),
    (code) =>
      String(isCompleted(code) ? ALREADY_COMPLETED_STATUS : (catalogueEntry(code).http ?? 500)),
  );
  const media = compatible ? 'application/json' : 'application/problem+json';
  const schema = refer(compatible ? 'queueError' : 'problem');
  const sample = (code: ErrorCode) => {
    const { title } = catalogueEntry(code);
    const body = problem(code, `${title}.`, EXAMPLE.address, { request_id: EXAMPLE.call });
    if (isCompleted(code)) return [code, { summary: title, value: alreadyCompleted(`${title}.`) }];
    return [code, { summary: title, value: compatible ? compatibleError(body) : body }];
  };
  return Object.fromEntries(
    [...byStatus].map(([status, found]) => {
      const meanings = found.map((code) => `\`${code}\`: ${catalogueEntry(code).title}`);
      const examples = Object.fromEntries(found.map(sample));
      return [
        status,
        { description: meanings.join('. '), content: { [media]: { schema, examples } } },
      ];
    }),
  );
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A call repeated with the same key within 24 hours is carried out only once.',
  schema: { type: 'string', minLength: 1, maxLength: 255, examples: ['exam-4711'] },
};

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: true,
  description: '`etag` of the review on which the call is based.',
  schema: { type: 'string', examples: ['"r3"'] },
};

function parameters({
  path,
  query,
  uncheckedQuery = query,
  headers = [],
  once,
  ifMatch,
  pathExamples = {},
}: Operation): Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const [description, example] = PATH_PARAMETERS[name] ?? ['', ''];
    const examples = [pathExamples[name] ?? example];
    return {
      name,
      in: 'path',
      required: true,
      description,
      schema: { type: 'string', examples },
    };
  });
  const { properties = {} } = uncheckedQuery ? schemaOf(uncheckedQuery) : {};
  const inQuery = Object.entries(properties as Record<string, Json>).map(
    ([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      required: false,
      description,
      schema,
    }),
  );
  return [
    ...inPath,
    ...inQuery,
    ...(once ? [IDEMPOTENCY_KEY] : []),
    ...(ifMatch ? [IF_MATCH] : []),
    ...headers.map((header) => ({ in: 'header', ...header })),
  ];
}

const PATH_PARAMETERS: Readonly<Record<string, readonly [description: string, example: string]>> = {
  id: ['Id of the request', EXAMPLE.request],
  name: ['Name of the artifact', 'report.pdf'],
  number: ['Number of the part, from 1', '1'],
  ns: ['First part of the name of an endpoint', 'us'],
  model: ['Second part of the name of an endpoint', 'obstetric'],
  endpoint: ['Third part of the name of an endpoint', 'interpret'],
  study: ['Study Instance UID', '1.2.826.0.1.3680043.8.498.1'],
};

type Resolve = (ref: string) => Json;

/** Describes a response: its schema, and an example composed of its fields' examples. */
function answerContent(
  { answer, mediaType = 'application/json', example }: Operation,
  resolve: Resolve,
): Json {
  switch (answer) {
    case 'empty':
      return {};
    case 'bytes':
      return {
        content: {
          'application/octet-stream': {
            schema: { type: 'string', format: 'binary' },
            example: '%PDF-1.7 …',
          },
        },
      };
    case 'json':
      return { content: { [mediaType]: { schema: {}, example } } };
    default:
      return {
        content: {
          [mediaType]: { schema: refer(answer), example: exampleOf(refer(answer), resolve) },
        },
      };
  }
}

/**
 * Returns the schema of a call's body. The schema for creating an upload includes the maximum size
 * in the installation's settings.
 */
function bodySchema({ id, body }: Operation, mostBytes?: number): Json | null {
  if (!body) return null;
  const schema = schemaOf(body);
  if (id !== 'createUpload' || mostBytes === undefined) return schema;
  const { bytes } = schema.properties as { bytes: Json };
  return withProperty(schema, 'bytes', { ...bytes, maximum: mostBytes });
}

function describe(operation: Operation, resolve: Resolve, mostBytes?: number): Json {
  const { id, group, summary, scope, bodyOptional, bodyType, status, errors = [] } = operation;
  const schema = bodySchema(operation, mostBytes);
  const example = schema && exampleOf(schema, resolve);
  const others = Object.entries(operation.otherStatuses ?? {});
  const codes = scope === null ? errors : [...KEY_ERRORS, ...errors];
  const said = [operation.description, scope && `Required scope: \`${scope}\`.`];
  const description = said.filter(Boolean).join('\n\n');
  const content = answerContent(operation, resolve);
  const described = {
    operationId: id,
    tags: [group],
    summary,
    description: description || `${summary}.`,
    security: scope === null ? [] : [{ key: [scope] }],
    parameters: parameters(operation),
    ...(schema && {
      requestBody: {
        required: !bodyOptional,
        content: { 'application/json': { schema, example } },
      },
    }),
    ...(bodyType && {
      requestBody: {
        required: true,
        content: {
          [bodyType]: {
            schema: { type: 'string', format: 'binary' },
            example: operation.bodyExample,
          },
        },
      },
    }),
    responses: {
      [status]: { description: summary, ...content },
      ...Object.fromEntries(
        others.map(([code, other]) => [
          code,
          { description: other.description, ...answerContent({ ...operation, ...other }, resolve) },
        ]),
      ),
      ...(id === 'followRequest' && { 204: { description: 'Nothing follows' } }),
      ...errorResponses(codes, group === 'Compatible queue'),
    },
  };
  const samples = codeSamples({ ...operation, parameters: described.parameters, example });
  return { ...described, 'x-codeSamples': samples };
}

function submitOperation(endpoint: Endpoint, door: 'api' | 'queue', resolve: Resolve): Json {
  const { operation: name } = endpoint;
  const input = withFileElements(schemaOf(endpoint.input));
  const schema = door === 'api' ? submitSchema(endpoint) : input;
  const example = exampleOf(schema, resolve);
  const answer = door === 'api' ? 'request' : 'queueStatus';
  const own = {
    method: 'post' as const,
    scope: 'run' as const,
    once: true,
    ...(door === 'api'
      ? {
          id: `${name.charAt(0).toLowerCase()}${name.slice(1)}`,
          path: `/v1/run/${endpoint.id}`,
          group: 'Requests' as const,
        }
      : {
          id: `queue${name}`,
          path: `/queue/${endpoint.id}`,
          group: 'Compatible queue' as const,
        }),
  };
  const parameters = door === 'api' ? [IDEMPOTENCY_KEY] : [...QUEUE_PARAMETERS, IDEMPOTENCY_KEY];
  const made = exampleOf(refer(answer), resolve) as Json;
  const queued = { ...QUEUED, model: endpoint.model, endpoint: endpoint.id };
  return {
    operationId: own.id,
    tags: [own.group],
    summary: `Submit to ${endpoint.title}`,
    description:
      door === 'api'
        ? `Required scope: \`run\`. \`${endpoint.model}\` is short for \`${endpoint.id}\`; append \`@${endpoint.version}\` to pin the version. The call returns before the result is available: follow the request.`
        : 'Required scope: `run`. The body is the input itself.',
    security: [{ key: [own.scope] }],
    parameters,
    requestBody: { required: true, content: { 'application/json': { schema, example } } },
    responses: {
      [door === 'api' ? 202 : 200]: {
        description:
          door === 'api'
            ? 'Accepted; returns the request object. Follow the request at `Location`.'
            : 'Accepted',
        ...(door === 'api' && { headers: LOCATION }),
        content: {
          'application/json': {
            schema: refer(answer),
            example: door === 'api' ? { ...made, ...queued } : made,
          },
        },
      },
      ...errorResponses([...KEY_ERRORS, ...SUBMIT_ERRORS], door === 'queue'),
    },
    'x-codeSamples': codeSamples({ ...own, parameters, example }),
  };
}

/** The fields in which a new request differs from the example of a finished one. */
const QUEUED = {
  status: 'queued',
  stage: { name: 'received', label: 'Received', progress: 0, eta_s: null },
  started_at: null,
  ended_at: null,
  output: null,
};

const LOCATION = {
  Location: {
    description: 'URL of the request',
    schema: { type: 'string', examples: [`/v1/requests/${EXAMPLE.request}`] },
  },
};

const QUEUE_PARAMETERS = [
  {
    name: 'fal_webhook',
    in: 'query',
    required: false,
    description: 'URL to notify when the request ends',
    schema: {
      type: 'string',
      format: 'uri',
      pattern: '^https?://',
      maxLength: LONGEST_URL,
      examples: [EXAMPLE.receiver],
    },
  },
  {
    name: 'X-Fal-Queue-Priority',
    in: 'header',
    required: false,
    description: 'Priority among waiting requests',
    schema: { enum: ['low', 'normal', 'high'], examples: ['normal'] },
  },
];

const WEBHOOK_SUMMARIES: Readonly<Record<WebhookEvent, string>> = {
  'request.succeeded': 'A request has succeeded, and its result is available',
  'request.failed': 'A request ended without a result: `failed` or `rejected`',
  'request.triage': 'A critical flag was raised; sent immediately, before the result',
  'request.verified': 'A person has signed the result',
  'request.withdrawn': 'A person has withdrawn the result, which must no longer be used',
};

const WEBHOOK_HEADERS = [
  ['webhook-id', 'Id of the delivery, the same on every attempt', EXAMPLE.delivery],
  [
    'webhook-timestamp',
    'When the message was signed, in seconds since 1970 (Unix time)',
    '1795339800',
  ],
  ['webhook-signature', 'One signature for each secret in use', 'v1,…'],
] as const;

function webhooks(resolve: Resolve): Json {
  const schema = refer('webhookMessage');
  const base = exampleOf(schema, resolve) as Json;
  const described = (event: WebhookEvent) => ({
    post: {
      operationId: `on${event.split('.').map(schemaName).join('')}`,
      tags: ['Webhooks'],
      summary: WEBHOOK_SUMMARIES[event],
      description: 'Signed as Standard Webhooks 1.0.0; see the guide on webhooks.',
      security: [],
      parameters: WEBHOOK_HEADERS.map(([name, description, example]) => ({
        name,
        in: 'header',
        required: true,
        description,
        schema: { type: 'string', examples: [example] },
      })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema, example: { ...base, ...eventOf(event) } } },
      },
      responses: {
        '2XX': { description: 'Received' },
        410: { description: 'The gateway stops calling this URL' },
        default: { description: 'Any other status is a failure; the delivery is tried again' },
      },
    },
  });
  return Object.fromEntries(WEBHOOK_EVENTS.map((event) => [event, described(event)]));
}

const WITHDRAWN = {
  at: EXAMPLE.time,
  by: 'Dr Kim',
  reason: 'wrong-patient' satisfies WithdrawalReason,
  text: null,
  receivers: [{ destination: 'ehr', state: 'pending' satisfies ReceiverState }],
};

/** Returns the fields in which the example of this event differs from the common example. */
function eventOf(event: WebhookEvent): Json {
  switch (event) {
    case 'request.succeeded':
    case 'request.verified':
      return { event };
    case 'request.failed':
      return {
        event,
        status: 'rejected',
        error: problem('no_readable_image', 'None of the files could be read.', EXAMPLE.address),
        triage: [],
      };
    case 'request.withdrawn':
      return { event, withdrawal: WITHDRAWN };
    case 'request.triage':
      return { event, status: 'running', ended_at: null };
  }
}

function componentsOf(endpoints: readonly Endpoint[]) {
  const schemas = componentSchemas(endpoints);
  const resolve: Resolve = (ref) => schemas[ref.slice(REF.length)] ?? {};
  return { schemas, resolve };
}

/**
 * Returns the OpenAPI 3.1 description of one endpoint: its submit call with the input and output
 * schemas.
 */
export function describeEndpoint(endpoint: Endpoint, address: string) {
  const { schemas, resolve } = componentsOf([endpoint]);
  const paths = { [`/v1/run/${endpoint.id}`]: { post: submitOperation(endpoint, 'api', resolve) } };
  return {
    openapi: '3.1.0',
    info: { title: endpoint.title, version: endpoint.version, license: LICENCE },
    servers: [{ url: address }],
    security: [{ key: [] }],
    tags: GROUPS.filter(({ name }) => name === 'Requests'),
    paths,
    components: { securitySchemes: SECURITY, schemas: usedOf(schemas, paths) },
  };
}

/**
 * Returns the OpenAPI 3.1 description of the whole API, derived from the schemas that validate its
 * calls.
 * @param mostBytes maximum size of an uploaded file in bytes.
 */
export function describeApi(endpoints: readonly Endpoint[], address: string, mostBytes?: number) {
  const { schemas, resolve } = componentsOf(endpoints);
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    paths[`/v1/run/${endpoint.id}`] = { post: submitOperation(endpoint, 'api', resolve) };
    paths[`/queue/${endpoint.id}`] = { post: submitOperation(endpoint, 'queue', resolve) };
  }
  for (const operation of OPERATIONS) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method]: describe(operation, resolve, mostBytes),
    };
  }
  const calls = { paths, webhooks: webhooks(resolve) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sonogate',
      version: API_VERSION,
      summary: 'Accepts ultrasound studies and returns structured draft reports.',
      description: INTRODUCTION,
      license: LICENCE,
    },
    servers: [{ url: address }],
    security: [{ key: [] }],
    tags: GROUPS,
    ...calls,
    components: { securitySchemes: SECURITY, schemas: usedOf(schemas, calls) },
  };
}
