import fc, { type Arbitrary } from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scope } from '../../../../src/core/accounts/keys.ts';
import { openSite, type Site } from '../../../gateway/site.ts';
import { HOSTILE_TEXT, type JsonSchema, valuesOf } from './schema-arbitrary.ts';

/** For a longer search, `FUZZ_SECONDS` makes as many calls as possible in that time instead. */
const CALLS = 300;
const { FUZZ_SECONDS } = process.env;
const LENGTH = FUZZ_SECONDS
  ? {
      numRuns: 1_000_000,
      interruptAfterTimeLimit: Number(FUZZ_SECONDS) * 1000,
      markInterruptAsFailure: false,
    }
  : { numRuns: CALLS };
/** A busy machine may make only two calls per second. */
const PATIENCE_MS = 300_000;

interface Described {
  parameters?: { name: string; in: 'path' | 'query' | 'header'; schema: JsonSchema }[];
  requestBody?: { content: { 'application/json'?: { schema: JsonSchema } } };
  responses: Record<string, { content?: Record<string, unknown> }>;
}

interface Call {
  operation: string;
  path: string;
  init: { method: string; headers: Record<string, string>; body?: string };
}

/**
 * Sends requests that the served description allows to the whole gateway with the real endpoints.
 * Most of them are valid, and some are invalid in one place.
 */
describe('the description of the API', () => {
  let site: Site;
  let url: string;
  let described: Record<string, Described>;
  let keys: string[];
  let known: string[];

  beforeAll(async () => {
    site = await openSite({
      roles: ['api'],
      http: { host: '127.0.0.1', port: 0, callsPerMinute: 1_000_000 },
    });
    url = site.gateway.http?.url ?? '';
    const key = await newKey(['admin']);
    // The key with all permissions is used most often.
    keys = [key, key, key, key, key, await newKey(['read']), `sg_test_${'0'.repeat(43)}`, ''];
    known = await thingsOf(key);
    const document = await (await fetch(`${url}/v1/openapi.json`)).json();
    const paths = (document as { paths: Record<string, Record<string, Described>> }).paths;
    described = Object.fromEntries(
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, each]) => [`${method} ${path}`, each]),
      ),
    );
  });
  afterAll(() => site.close());

  async function newKey(scopes: Scope[]): Promise<string> {
    const made = await site.gateway.run('keys.create', { name: 'x', test: true, scopes });
    return made.key;
  }

  /**
   * Returns existing ids and names: of a ready and a pending file, a canceled request, and a key.
   */
  async function thingsOf(key: string): Promise<string[]> {
    const post = async (path: string, body?: object) => {
      const answer = await fetch(path.startsWith('http') ? path : url + path, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      return (await answer.json()) as {
        id: string;
        file: { id: string };
        upload: { url: string };
        complete_url: string;
      };
    };
    const file = { filename: 'a.dcm', bytes: 1, media_type: 'application/dicom' };
    const [ready, pending] = [await post('/v1/uploads', file), await post('/v1/uploads', file)];
    await fetch(ready.upload.url, { method: 'PUT', body: 'x' });
    await post(ready.complete_url);
    const submit = { input: { files: [ready.file.id] } };
    const { id } = await post('/v1/run/us/obstetric', submit);
    await post(`/v1/requests/${id}/cancel`);
    const { id: otherKey } = await post('/v1/keys', { name: 'to be ended', test: true });
    const names = ['us', 'obstetric', 'echo', 'interpret'];
    // A submit needs a ready file, so most of the ids belong to one.
    return [...Array(4).fill(ready.file.id), pending.file.id, id, otherKey, ...names];
  }

  /**
   * A value that changes the path, such as an empty segment, would turn this into a different
   * request.
   */
  const isSegment = (value: string) => !['', '.', '..'].includes(value);
  const segment = () =>
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...known) },
      { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_TEXT.filter(isSegment)) },
      { weight: 1, arbitrary: fc.string().filter(isSegment) },
    );

  function callsOf(operation: string): Arbitrary<Call> {
    const [method = '', path = ''] = operation.split(' ');
    const { parameters = [], requestBody } = described[operation] as Described;
    const of = (place: string) => parameters.filter((each) => each.in === place);
    const inPath = fc.record(Object.fromEntries(of('path').map(({ name }) => [name, segment()])));
    const query = fc.record(
      Object.fromEntries(of('query').map(({ name, schema }) => [name, valuesOf(schema, known)])),
      { requiredKeys: [] },
    );
    const header = fc.stringMatching(/^[\x21-\x7e]{1,20}$/);
    const headers = fc.record(
      Object.fromEntries(
        of('header').map(({ name, schema }) => [
          name,
          schema.enum ? fc.constantFrom(...schema.enum.map(String)) : header,
        ]),
      ),
      { requiredKeys: [] },
    );
    const schema = requestBody?.content['application/json']?.schema;
    const json = schema && valuesOf(schema, known).map((value) => JSON.stringify(value));
    const body = json
      ? fc.oneof({ weight: 19, arbitrary: json }, { weight: 1, arbitrary: fc.string() })
      : fc.constant(undefined);
    return fc
      .record({ inPath, query, headers, body, key: fc.constantFrom(...keys) })
      .map(({ inPath, query, headers, body, key }) => ({
        operation,
        path: filled(path, inPath) + written(query),
        init: {
          method: method.toUpperCase(),
          headers: {
            ...headers,
            ...(key && { Authorization: `Bearer ${key}` }),
            ...(body !== undefined && { 'Content-Type': 'application/json' }),
          },
          ...(body !== undefined && { body }),
        },
      }));
  }

  it('covers the response to every request, and no request causes an internal error', {
    timeout: PATIENCE_MS,
  }, async () => {
    const answered = new Map<string, Set<number>>();
    const check = async ({ operation, path, init }: Call) => {
      const answer = await fetch(url + path, { ...init, redirect: 'manual' });
      const type = answer.headers.get('Content-Type')?.split(';')[0] ?? null;
      await answer.body?.cancel();
      const { responses } = described[operation] as Described;
      const foreseen = responses[answer.status];
      expect(answer.status).not.toBe(500);
      expect(Object.keys(responses)).toContain(String(answer.status));
      if (foreseen?.content) expect(Object.keys(foreseen.content)).toContain(type);
      answered.set(operation, (answered.get(operation) ?? new Set()).add(answer.status));
    };
    // A request with a body can go wrong in more ways, so it has more weight.
    const anyCall = fc.oneof(
      ...Object.entries(described).map(([operation, { requestBody }]) => ({
        weight: requestBody ? 4 : 1,
        arbitrary: callsOf(operation),
      })),
    );
    await fc.assert(fc.asyncProperty(anyCall, check), LENGTH);

    const seen = new Set([...answered.values()].flatMap((statuses) => [...statuses]));
    expect([...seen]).toEqual(expect.arrayContaining([200, 401, 403, 404, 422]));
  });
});

/** Fills in the path parameters, each encoded so that it remains one segment. */
function filled(path: string, parts: Record<string, string>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(parts[name]?.toWellFormed() ?? ''),
  );
}

/** Generated objects may lack a `toString`. */
function asText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function written(query: Record<string, unknown>): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value].flat()) pairs.append(name, asText(each).toWellFormed());
  }
  return pairs.size === 0 ? '' : `?${pairs}`;
}
