import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CallOptions, type Gateway, MAX_BODY_BYTES, startGateway } from './gateway.ts';

interface Documented {
  method: string;
  path: string;
  statuses: string[];
}

const HOSTILE_IDS = [
  'x',
  '..%2f..%2fetc',
  '%00',
  '%ff',
  '%E0%A4',
  `req_${'0'.repeat(26)}`,
  '🫀',
  'a'.repeat(300),
];

const HOSTILE_BODIES: unknown[] = [
  null,
  [],
  'text',
  {},
  { input: null },
  { input: { files: 'x' } },
  { input: { files: ['file_0', 'https://10.0.0.1/a'] } },
  { __proto__: { admin: true }, filename: '../a', bytes: -1, media_type: 'x' },
  { sha256: 'z', parts: [{ part_number: 0, etag: '' }] },
  { name: 'x'.repeat(1000), scopes: ['everything'] },
  { input: { files: ['\0'] }, metadata: { ward: 'a\0b' } },
  { input: { files: ['file_0'] }, metadata: { ward: '\ud800' } },
  { name: '\0', filename: '\udfff' },
  JSON.parse(`${'['.repeat(4000)}${']'.repeat(4000)}`),
  { input: 'x'.repeat(MAX_BODY_BYTES) },
];

const HOSTILE_HEADERS: Record<string, string>[] = [
  {},
  { 'Idempotency-Key': '' },
  { 'Idempotency-Key': 'x'.repeat(256) },
  { 'Content-Type': 'text/xml' },
  { 'Last-Event-ID': '-1' },
];

const HOSTILE_QUERIES = [
  'limit=0',
  'limit=x',
  'wait=61',
  'since=now',
  'cursor=%00',
  'a=b',
  'status=x&status=y',
];

describe('whatever is sent', { timeout: 180_000 }, () => {
  let gateway: Gateway;
  let documented: Documented[];
  let admin: string;
  let keys: (string | null)[];

  beforeAll(async () => {
    gateway = await startGateway();
    admin = await gateway.key({ scopes: ['admin'] });
    keys = [
      null,
      `sg_live_${'0'.repeat(43)}`,
      admin,
      await gateway.key({ scopes: ['read'] }),
      await gateway.key({ test: true }),
    ];
    const document = (await (await gateway.call('/v1/openapi.json')).json()) as {
      paths: Record<string, Record<string, { responses: object }>>;
    };
    documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => ({
        method: method.toUpperCase(),
        path,
        statuses: Object.keys(responses),
      })),
    );
  });
  afterAll(() => gateway.stop());

  let undocumented: string[] = [];
  beforeEach(() => {
    undocumented = [];
  });
  async function send({ method, path, statuses }: Documented, id: string, options: CallOptions) {
    const address = path.replaceAll(/\{\w+\}/g, id);
    const answer = await gateway.call(address, { ...options, method });
    await answer.arrayBuffer();
    const status = String(answer.status);
    if (status === '500' || !statuses.includes(status)) {
      const sent = JSON.stringify(options.body)?.slice(0, 60);
      undocumented.push(`${method} ${path} (${id.slice(0, 20)}) ${sent}: ${status}`);
    }
  }

  it('is answered with a documented status, and never with 500: ids and keys', async () => {
    for (const call of documented) {
      await Promise.all([
        ...keys.map((key) => send(call, 'x', { key })),
        ...HOSTILE_IDS.map((id) => send(call, id, { key: admin })),
      ]);
    }
    expect(undocumented).toEqual([]);
  });

  it('is answered with a documented status, and never with 500: bodies and headers', async () => {
    for (const call of documented.filter(({ method }) => method === 'POST')) {
      await Promise.all([
        ...HOSTILE_BODIES.map((body) => send(call, 'x', { key: admin, body })),
        ...HOSTILE_HEADERS.map((headers) => send(call, 'x', { key: admin, body: {}, headers })),
      ]);
    }
    expect(undocumented).toEqual([]);
  });

  it('is answered with a documented status, and never with 500: queries', async () => {
    for (const call of documented.filter(({ method }) => method === 'GET')) {
      await Promise.all(
        HOSTILE_QUERIES.map((query) =>
          send({ ...call, path: `${call.path}?${query}` }, 'x', { key: admin }),
        ),
      );
    }
    expect(undocumented).toEqual([]);
  });
});
