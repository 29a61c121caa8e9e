import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Endpoint } from '../../../core/requests/endpoint.ts';
import { catalogueEntry, type ErrorCode } from '../../../platform/errors/catalogue.ts';
import { submitBody } from '../submission.ts';
import * as objects from './objects.ts';
import { type Operation, SUBMIT_ERRORS } from './operation.ts';
import { OPERATIONS } from './operations.ts';

const API_VERSION = '1';

/** Answers that any call with a key may get. */
const KEY_ERRORS: readonly ErrorCode[] = [
  'unauthenticated',
  'invalid_key',
  'forbidden',
  'rate_limited',
];

const LICENCE = { name: 'Apache-2.0', identifier: 'Apache-2.0' };
const SECURITY = {
  key: { type: 'http', scheme: 'bearer', description: '`Key` works in place of `Bearer` too.' },
};

type Json = Record<string, unknown>;

/** Converts a schema to JSON Schema 2020-12, as in OpenAPI 3.1. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

/** Refers to an object of objects.ts, under its name in `components`. */
const refer = (name: string) => ({ $ref: `#/components/schemas/${schemaName(name)}` });
const schemaName = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** Objects that are a whole answer, not only a part of another object. */
const ANSWERS: ReadonlySet<string> = new Set([
  ...OPERATIONS.map(({ answer }) => answer),
  'problem',
  'queueError',
]);

/** `components.schemas`; the `output` of a request is the result of one of the endpoints. */
function componentSchemas(outputs: Readonly<Record<string, Endpoint>>): Json {
  const answers = Object.entries(objects).filter(([name]) => ANSWERS.has(name));
  const anyOf = [...Object.keys(outputs).map(refer), { type: 'null' }];
  return {
    ...Object.fromEntries(
      answers.map(([name, schema]) => [schemaName(name), schemaOf(schema, 'output')]),
    ),
    Request: withProperty(schemaOf(objects.request, 'output'), 'output', { anyOf }),
    ...Object.fromEntries(
      Object.entries(outputs).map(([name, { output }]) => [name, schemaOf(output, 'output')]),
    ),
  };
}

function withProperty(schema: Json, name: string, property: Json): Json {
  return { ...schema, properties: { ...(schema.properties as Json), [name]: property } };
}

/** One response for each HTTP status, with the error codes that it may carry. */
function errorResponses(codes: readonly ErrorCode[], compatible: boolean): Json {
  const byStatus = Map.groupBy(
    new Set([...codes, 'database_unreachable' as const, 'internal' as const]),
    (code) => String(catalogueEntry(code).http ?? 500),
  );
  const media = compatible ? 'application/json' : 'application/problem+json';
  const schema = refer(compatible ? 'queueError' : 'problem');
  return Object.fromEntries(
    [...byStatus].map(([status, found]) => [
      status,
      { description: found.join(', '), content: { [media]: { schema } } },
    ]),
  );
}

function parameters({ path, query }: Operation): Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const { properties = {} } = query ? schemaOf(query, 'input') : {};
  const inQuery = Object.entries(properties as Json).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema,
  }));
  return [...inPath, ...inQuery];
}

function answerContent({ answer, mediaType = 'application/json' }: Operation): Json {
  switch (answer) {
    case 'empty':
      return {};
    case 'bytes':
      return { content: { 'application/octet-stream': {} } };
    case 'json':
      return { content: { [mediaType]: { schema: {} } } };
    default:
      return { content: { [mediaType]: { schema: refer(answer) } } };
  }
}

function describe(operation: Operation): Json {
  const {
    id,
    group,
    summary,
    scope,
    body,
    bodyOptional,
    bodyType,
    status,
    errors = [],
  } = operation;
  const others = Object.entries(operation.otherStatuses ?? {});
  const codes = scope === null ? errors : [...KEY_ERRORS, ...errors];
  return {
    operationId: id,
    tags: [group],
    summary,
    ...(scope === null
      ? { security: [] }
      : { security: [{ key: [] }], description: `Scope: \`${scope}\`.` }),
    parameters: parameters(operation),
    ...(body && {
      requestBody: {
        required: !bodyOptional,
        content: { 'application/json': { schema: schemaOf(body, 'input') } },
      },
    }),
    ...(bodyType && { requestBody: { required: true, content: { [bodyType]: {} } } }),
    responses: {
      [status]: { description: summary, ...answerContent(operation) },
      ...Object.fromEntries(
        others.map(([code, description]) => [code, { description, ...answerContent(operation) }]),
      ),
      ...(id === 'followRequest' && { 204: { description: 'Nothing follows' } }),
      ...errorResponses(codes, group === 'Compatible queue'),
    },
  };
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A call that is repeated within 24 hours is done once.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

function runOperation(endpoint: Endpoint): Json {
  return {
    operationId: endpoint.id.replaceAll('/', '-'),
    tags: ['Requests'],
    summary: `Submit to ${endpoint.title}`,
    description: `Scope: \`run\`. \`${endpoint.model}\` is short for it, and \`@${endpoint.version}\` at the end pins the version.`,
    security: [{ key: [] }],
    parameters: [IDEMPOTENCY_KEY],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaOf(submitBody(endpoint), 'input') } },
    },
    responses: {
      202: {
        description: 'Accepted: the request object. Follow it at `Location`.',
        headers: { Location: { schema: { type: 'string' } } },
        content: { 'application/json': { schema: refer('request') } },
      },
      ...errorResponses([...KEY_ERRORS, ...SUBMIT_ERRORS], false),
    },
  };
}

function queueOperation(endpoint: Endpoint): Json {
  return {
    operationId: `queue-${endpoint.id.replaceAll('/', '-')}`,
    tags: ['Compatible queue'],
    summary: `Submit to ${endpoint.title}`,
    description: 'Scope: `run`. The body is the input itself.',
    security: [{ key: [] }],
    parameters: [
      { name: 'fal_webhook', in: 'query', required: false, schema: { type: 'string' } },
      {
        name: 'X-Fal-Queue-Priority',
        in: 'header',
        required: false,
        schema: { enum: ['low', 'normal', 'high'] },
      },
      IDEMPOTENCY_KEY,
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaOf(endpoint.input, 'input') } },
    },
    responses: {
      200: {
        description: 'Accepted',
        content: { 'application/json': { schema: refer('queueStatus') } },
      },
      ...errorResponses([...KEY_ERRORS, ...SUBMIT_ERRORS], true),
    },
  };
}

/** OpenAPI 3.1 of one endpoint: its submit call with the schemas of input and output. */
export function describeEndpoint(endpoint: Endpoint, address: string) {
  return {
    openapi: '3.1.0',
    info: { title: endpoint.title, version: endpoint.version, license: LICENCE },
    servers: [{ url: address }],
    security: [{ key: [] }],
    paths: { [`/v1/run/${endpoint.id}`]: { post: runOperation(endpoint) } },
    components: {
      securitySchemes: SECURITY,
      schemas: componentSchemas({ Output: endpoint }),
    },
  };
}

/** OpenAPI 3.1 of the whole API, from the schemas that its calls are validated with. */
export function describeApi(endpoints: readonly Endpoint[], address: string) {
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    paths[`/v1/run/${endpoint.id}`] = { post: runOperation(endpoint) };
    paths[`/queue/${endpoint.id}`] = { post: queueOperation(endpoint) };
  }
  for (const operation of OPERATIONS) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) };
  }
  const outputs = endpoints.map((each) => [`Output-${each.id.replaceAll('/', '-')}`, each]);
  const groups = new Set(OPERATIONS.map(({ group }) => group));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sonogate',
      version: API_VERSION,
      description: 'Takes ultrasound studies and returns structured draft reports.',
      license: LICENCE,
    },
    servers: [{ url: address }],
    security: [{ key: [] }],
    tags: [...groups].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: SECURITY,
      schemas: componentSchemas(Object.fromEntries(outputs)),
    },
  };
}

const STYLE = `
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; color: #1f2933; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #cbd2d9; }
summary { cursor: pointer; padding: 0.3rem 0; }
code, pre { font: 14px/1.4 ui-monospace, monospace; }
pre { background: #f5f7fa; padding: 1rem; overflow-x: auto; }
b { display: inline-block; min-width: 4.5rem; }
`;

/** Allows the page its own style and nothing else. */
export const DOCS_PAGE_POLICY = `default-src 'none'; frame-ancestors 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

interface Call {
  summary: string;
  description?: string;
  tags: string[];
  parameters?: { name: string; in: string }[];
  requestBody?: unknown;
  responses: Record<string, { description: string }>;
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function callHtml(method: string, path: string, call: Call): string {
  const { summary, description = '', parameters = [], requestBody, responses } = call;
  const given = parameters.map(({ name, in: place }) => `<code>${name}</code> (${place})`);
  const body = requestBody
    ? `<p>Body</p><pre>${escapeHtml(JSON.stringify(requestBody, null, 2))}</pre>`
    : '';
  const answers = Object.entries(responses).map(
    ([status, answer]) => `<li><code>${status}</code> ${escapeHtml(answer.description)}</li>`,
  );
  return `<details><summary><b>${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code> ${escapeHtml(summary)}</summary>
<p>${escapeHtml(description)}</p>${given.length > 0 ? `<p>Parameters: ${given.join(', ')}</p>` : ''}${body}<ul>${answers.join('')}</ul></details>`;
}

/** The description of the API as a page without external resources. */
export function renderDocsPage(endpoints: readonly Endpoint[], address: string): string {
  const { info, tags, paths } = describeApi(endpoints, address);
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, call]) => ({ path, method, call: call as Call })),
  );
  const groups = tags.map(({ name }) => {
    const own = calls.filter(({ call }) => call.tags.includes(name));
    return `<h2>${name}</h2>${own.map(({ method, path, call }) => callHtml(method, path, call)).join('\n')}`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${info.title} API</title><style>${STYLE}</style></head>
<body><h1>${info.title} API</h1>
<p>${escapeHtml(info.description)} The same as <a href="/v1/openapi.json">OpenAPI 3.1</a>.</p>
${groups.join('\n')}
</body></html>
`;
}
