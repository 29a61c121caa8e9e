import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { echoEndpoint } from '../pipelines/echo/endpoint.ts';
import { obstetricEndpoint } from '../pipelines/obstetric/endpoint.ts';
import { describeApi } from '../src/doors/http/openapi/document.ts';

/**
 * Generates the types and calls of both clients from the API description, and the blocking Python
 * client from the asynchronous one: `node clients/generate.ts`. A test fails if the committed files
 * differ from the output.
 */

interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  prefixItems?: Schema[];
  description?: string;
}

interface Described {
  operationId: string;
  summary: string;
  tags: string[];
  security: { key: string[] }[];
  parameters: { name: string; in: string; description?: string; schema: Schema }[];
  requestBody?: { required: boolean; content: { 'application/json'?: { schema: Schema } } };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

interface Call {
  id: string;
  method: string;
  path: string;
  summary: string;
  inPath: Described['parameters'];
  inQuery: Described['parameters'];
  /** True if the call accepts an Idempotency-Key. */
  once: boolean;
  /** True if the call must state the revision on which it is based (`If-Match`). */
  ifMatch: boolean;
  body: { name: string; schema: Schema; required: boolean } | null;
  /** Null for a response without a body. */
  answer: Schema | null;
}

const GROUPS: ReadonlySet<string> = new Set([
  'Requests',
  'Uploads',
  'Models',
  'Account',
  'Webhooks',
]);
const HEAD = 'Written by clients/generate.ts from the description of the API. Do not edit.';

const document = describeApi([obstetricEndpoint, echoEndpoint], 'https://sonogate.example');
const components = document.components.schemas as Record<string, Schema>;
const upper = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/**
 * Returns the calls that need a key and use JSON or no body at all. The client methods for all
 * other calls are written by hand.
 */
function readCalls(): Call[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, described]) => {
      const call = described as unknown as Described;
      const { operationId: id, summary, parameters, requestBody } = call;
      const [success, answer] =
        Object.entries(call.responses).find(([status]) => /^2/.test(status)) ?? [];
      const json = answer?.content?.['application/json'];
      const ownGroup = call.tags.some((tag) => GROUPS.has(tag));
      if (!ownGroup || call.security.length === 0 || !(json || success === '204')) return [];
      const body = requestBody?.content['application/json'];
      const named = (place: string) => parameters.filter((each) => each.in === place);
      return [
        {
          id,
          method: method.toUpperCase(),
          path,
          summary,
          inPath: named('path'),
          inQuery: named('query'),
          once: named('header').some(({ name }) => name === 'Idempotency-Key'),
          ifMatch: named('header').some(({ name }) => name === 'If-Match'),
          body: body
            ? {
                name: `${upper(id)}Body`,
                schema: body.schema,
                required: requestBody?.required ?? true,
              }
            : null,
          answer: json?.schema ?? null,
        },
      ];
    }),
  );
}

/**
 * Returns the alternatives of a schema, which may be several types. Returns null if it has none, or
 * if they are only patterns for a string.
 */
function alternatives({ anyOf, oneOf = anyOf, type, ...rest }: Schema): Schema[] | null {
  if (Array.isArray(type)) return type.map((one) => ({ ...rest, type: one }));
  return oneOf && type === undefined ? oneOf : null;
}

const refName = (ref: string) => ref.split('/').at(-1) ?? '';
const literals = ({ const: only, enum: allowed }: Schema): unknown[] | null =>
  only !== undefined ? [only] : (allowed ?? null);

/** Returns the components to which calls refer, directly or indirectly. */
function usedComponents(calls: readonly Call[]): [string, Schema][] {
  const used = new Set(['WebhookMessage', 'TriageFlag', 'Stage', 'Problem']);
  const visit = (part: unknown) => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(components[name]);
    }
  };
  for (const name of [...used]) visit(components[name]);
  visit(calls);
  return Object.entries(components)
    .filter(([name]) => used.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

// TypeScript

const comment = (text: string | undefined, indent = '') =>
  text ? `${indent}/** ${text.replaceAll('*/', '* /')} */\n` : '';
const isName = (name: string) => /^[A-Za-z_$][\w$]*$/.test(name);

function typescriptType(schema: Schema, indent = ''): string {
  if (schema.$ref) return refName(schema.$ref);
  const values = literals(schema);
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ');
  const choices = alternatives(schema);
  if (choices) return [...new Set(choices.map((each) => typescriptType(each, indent)))].join(' | ');
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'array':
      if (schema.prefixItems) {
        return `[${schema.prefixItems.map((each) => typescriptType(each, indent)).join(', ')}]`;
      }
      return `Array<${typescriptType(schema.items ?? {}, indent)}>`;
    case 'object':
      return typescriptObject(schema, indent);
    default:
      return 'unknown';
  }
}

function typescriptObject(schema: Schema, indent: string): string {
  const { properties, required = [], additionalProperties } = schema;
  if (!properties) {
    const value = typeof additionalProperties === 'object' ? additionalProperties : {};
    return `Record<string, ${typescriptType(value, indent)}>`;
  }
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, field]) => {
    const key = isName(name) ? name : JSON.stringify(name);
    const mark = required.includes(name) ? '' : '?';
    return `${comment(field.description, inner)}${inner}${key}${mark}: ${typescriptType(field, inner)};\n`;
  });
  const open = additionalProperties !== undefined && additionalProperties !== false;
  if (open) fields.push(`${inner}[name: string]: unknown;\n`);
  return `{\n${fields.join('')}${indent}}`;
}

function typescriptCall(call: Call): string {
  const { id, method, path, summary, inPath, inQuery, body, answer, once, ifMatch } = call;
  const fields = [
    ...inPath.map(({ name, description }) => [name, 'string', description, true] as const),
    ...inQuery.map(
      ({ name, description, schema }) =>
        [name, typescriptType(schema, '    '), description, false] as const,
    ),
    ...(ifMatch ? [['ifMatch', 'string', '`etag` of the review', true] as const] : []),
    ...(body ? [['body', body.name, 'Body of the call', body.required] as const] : []),
  ];
  const type = fields
    .map(
      ([name, of, text, needed]) =>
        `${comment(text, '      ')}      ${name}${needed ? '' : '?'}: ${of};\n`,
    )
    .join('');
  const needed = fields.some(([, , , must]) => must);
  const given = fields.length > 0 ? `given: {\n${type}    }${needed ? '' : ' = {}'},\n    ` : '';
  const filled = path.replaceAll(
    /\{(\w+)\}/g,
    (_, name) => `\${encodeURIComponent(given.${name})}`,
  );
  const quoted = filled === path ? `'${path}'` : `\`${filled}\``;
  const query = inQuery.map(({ name }) => `${name}: given.${name}`).join(', ');
  const parts = [
    `method: '${method}'`,
    `path: ${quoted}`,
    ...(query ? [`query: { ${query} }`] : []),
    ...(body ? ['body: given.body'] : []),
    ...(once ? ['once: true'] : []),
    ...(ifMatch ? ['ifMatch: given.ifMatch'] : []),
  ];
  return `${comment(`${summary}.`, '  ')}  ${id}(
    ${given}options: CallOptions = {},
  ): Promise<${answer ? typescriptType(answer) : 'void'}> {
    return this.#send({ ${parts.join(', ')} }, options);
  }
`;
}

export function typescriptClient(): string {
  const calls = readCalls();
  const types = [
    ...usedComponents(calls),
    ...calls.flatMap(({ body }) => (body ? [[body.name, body.schema] as [string, Schema]] : [])),
  ].map(
    ([name, schema]) =>
      `${comment(schema.description)}export type ${name} = ${typescriptType(schema)};\n`,
  );
  return `// ${HEAD}

/** Version of the API for which the client was generated. */
export const API_VERSION = '${document.info.version}';

${types.join('\n')}
export interface ApiCall {
  method: string;
  path: string;
  query?: Record<string, unknown>;
  body?: unknown;
  /** Whether the call accepts an Idempotency-Key. */
  once?: boolean;
  /** Revision on which the call is based. */
  ifMatch?: string;
}

/** Options of every call. */
export interface CallOptions {
  /** Calls repeated with this key within 24 hours count as one; by default, each has a new key. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** Every call of the API as a method. */
export class Calls {
  readonly #send: <Answer>(call: ApiCall, options: CallOptions) => Promise<Answer>;

  constructor(send: <Answer>(call: ApiCall, options: CallOptions) => Promise<Answer>) {
    this.#send = send;
  }

${calls.map(typescriptCall).join('\n')}}
`;
}

// Python

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const PYTHON_WORDS = new Set(['return', 'from', 'class', 'import', 'pass', 'global', 'in', 'is']);
const pythonText = (text = '') => text.replaceAll('\\', '\\\\').replaceAll('"""', "'''");
const pythonLiteral = (value: unknown) =>
  value === true ? 'True' : value === false ? 'False' : JSON.stringify(value);

/**
 * Returns the type of a schema. Nested objects become separate classes, which are added to
 * `classes`.
 */
function pythonType(schema: Schema, name: string, classes: string[]): string {
  if (schema.$ref) return refName(schema.$ref);
  const values = literals(schema);
  if (values) return `Literal[${values.map(pythonLiteral).join(', ')}]`;
  const choices = alternatives(schema);
  if (choices) {
    const several = choices.filter(({ properties }) => properties).length > 1;
    const types = choices.map((each, n) =>
      pythonType(each, several ? `${name}${n + 1}` : name, classes),
    );
    return [...new Set(types)].join(' | ');
  }
  switch (schema.type) {
    case 'string':
      return 'str';
    case 'number':
      return 'float';
    case 'integer':
      return 'int';
    case 'boolean':
      return 'bool';
    case 'null':
      return 'None';
    case 'array':
      if (schema.prefixItems) {
        const types = schema.prefixItems.map((each) => pythonType(each, name, classes));
        // JSON has no tuples, so they are read as lists.
        return `list[${[...new Set(types)].join(' | ')}]`;
      }
      return `list[${pythonType(schema.items ?? {}, name, classes)}]`;
    case 'object':
      if (!schema.properties) {
        const { additionalProperties: value } = schema;
        return `dict[str, ${pythonType(typeof value === 'object' ? value : {}, name, classes)}]`;
      }
      pythonClass(name, schema, classes);
      return name;
    default:
      return 'Any';
  }
}

function pythonClass(name: string, schema: Schema, classes: string[]): void {
  const { properties = {}, required = [], description } = schema;
  const fields = Object.entries(properties).map(([field, inner]) => {
    const nested = field.split('_').map(upper).join('');
    const type = pythonType(inner, name + nested, classes);
    return { field, type: required.includes(field) ? type : `NotRequired[${type}]`, inner };
  });
  if (fields.some(({ field }) => PYTHON_WORDS.has(field) || !isName(field))) {
    const entries = fields.map(
      ({ field, type }) => `        "${field}": ${JSON.stringify(type)},\n`,
    );
    classes.push(`${name} = TypedDict(\n    "${name}",\n    {\n${entries.join('')}    },\n)\n`);
    return;
  }
  const lines = fields.map(({ field, type, inner }) => {
    const told = inner.description ? `    """${pythonText(inner.description)}"""\n` : '';
    return `    ${field}: ${type}\n${told}`;
  });
  const told = description ? `    """${pythonText(description)}."""\n\n` : '';
  classes.push(`class ${name}(TypedDict):\n${told}${lines.join('') || '    pass\n'}`);
}

function pythonCall(call: Call, asynchronous: boolean): string {
  const { id, method, path, summary, inPath, inQuery, body, answer, once, ifMatch } = call;
  const given = [
    ...inPath.map(({ name }) => `${name}: str`),
    ...(ifMatch ? ['if_match: str'] : []),
    ...(body ? [body.required ? `body: ${body.name}` : `body: ${body.name} | None = None`] : []),
    ...inQuery.map(({ name, schema }) => `${name}: ${pythonType(schema, '', [])} | None = None`),
    ...(once ? ['idempotency_key: str | None = None'] : []),
  ];
  const filled = path
    .replaceAll(/\{(\w+)\}/g, '{quote($1, safe="")}')
    .replaceAll(/quote\((\w+), safe=""\)/g, "quote($1, safe='')");
  const parts = [
    `"${method}"`,
    filled === path ? `"${path}"` : `f"${filled}"`,
    ...(inQuery.length > 0
      ? [`query={${inQuery.map(({ name }) => `"${name}": ${name}`).join(', ')}}`]
      : []),
    ...(body ? ['json=body'] : []),
    ...(once ? ['once=True', 'idempotency_key=idempotency_key'] : []),
    ...(ifMatch ? ['if_match=if_match'] : []),
  ];
  const type = answer ? pythonType(answer, '', []) : 'None';
  const [word, waits] = asynchronous ? ['async def', 'await '] : ['def', ''];
  const star = given.length > 0 ? `self, *, ${given.join(', ')}` : 'self';
  return `    ${word} ${snake(id)}(${star}) -> ${type}:
        """${pythonText(summary)}."""
        return ${answer ? `cast(${JSON.stringify(type)}, ` : 'cast(None, '}${waits}self._send(${parts.join(', ')}))
`;
}

export function pythonClient(): string {
  const calls = readCalls();
  const classes: string[] = [];
  for (const [name, schema] of usedComponents(calls)) pythonClass(name, schema, classes);
  for (const { body } of calls) if (body) pythonClass(body.name, body.schema, classes);
  const callsOf = (asynchronous: boolean) =>
    calls.map((call) => pythonCall(call, asynchronous)).join('\n');
  return `# ${HEAD}
"""Types and calls of Sonogate's HTTP API."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Literal, NotRequired, TypedDict, cast
from urllib.parse import quote

API_VERSION = "${document.info.version}"


${classes.join('\n\n')}

class Calls:
    """Every call of the API as a method."""

    def __init__(self, send: Callable[..., Any]) -> None:
        self._send = send

${callsOf(false)}

class AsyncCalls:
    """Every call of the API as a method."""

    def __init__(self, send: Callable[..., Awaitable[Any]]) -> None:
        self._send = send

${callsOf(true)}`;
}

/** Replacements that turn the asynchronous client into the blocking one. */
const WITHOUT_AWAIT: readonly (readonly [RegExp, string])[] = [
  [/\basync (def|with|for)\b/g, '$1'],
  [/\bawait /g, ''],
  [/\b__a(enter|exit)__/g, '__$1__'],
  [/\ba(close|read|iter_lines|iter_bytes)\(/g, '$1('],
  [/\bread_async\(/g, 'read('],
  [/\basyncio\b/g, 'time'],
  [/\bAsync(?=[A-Z])/g, ''],
  [/\((self\.calls\.\w+\([^()]*\))\)/g, '$1'],
];

/**
 * Returns `clients/python/src/sonogate/_client.py`, derived from the hand-written asynchronous
 * client.
 */
export function pythonBlockingClient(): string {
  const source = new URL('python/src/sonogate/_async_client.py', import.meta.url);
  const [, ...code] = readFileSync(source, 'utf8').split('\n');
  const blocking = WITHOUT_AWAIT.reduce(
    (text, [awaited, plain]) => text.replaceAll(awaited, plain),
    code.join('\n'),
  );
  return `# Written by clients/generate.ts from _async_client.py. Do not edit.
"""The blocking client."""
${blocking.replace('import time\nimport hashlib\n', 'import hashlib\nimport time\n')}`;
}

/** The generated files, by their path in this folder. */
export const GENERATED: Readonly<Record<string, () => string>> = {
  'typescript/src/generated.ts': typescriptClient,
  'python/src/sonogate/_generated.py': pythonClient,
  'python/src/sonogate/_client.py': pythonBlockingClient,
};

if (import.meta.main) {
  for (const [path, make] of Object.entries(GENERATED)) {
    await writeFile(new URL(path, import.meta.url), make());
  }
}
