import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCOPES } from '../../../../src/core/accounts/keys.ts';
import { type ErrorCode, SonogateError } from '../../../../src/platform/errors/catalogue.ts';
import { type Gateway, read, startGateway } from './gateway.ts';

const NO_SUCH_REQUEST = `/v1/requests/req_${'0'.repeat(26)}`;

describe('the HTTP door', () => {
  let gateway: Gateway;
  let broken = false;
  let refusal: ErrorCode | null = null;
  const logged: object[] = [];

  beforeAll(async () => {
    const log = (entry: object) => {
      logged.push(entry);
    };
    gateway = await startGateway({
      logger: { event: (_: string, fields: object = {}) => log(fields), debug: log },
      checks: {
        database: async () => {},
        queue: async () => {
          if (broken) throw new Error('secret host queue.internal refused the connection');
        },
      },
      metrics: async () => {
        if (broken) throw new Error('secret inside');
        if (refusal) throw new SonogateError(refusal);
        return '# TYPE sonogate_requests gauge\nsonogate_requests{status="queued"} 2\n';
      },
    });
  });
  afterAll(() => gateway.stop());

  describe('keys', () => {
    it.each([
      ['no Authorization', {}],
      ['another scheme', { Authorization: 'Basic YTpi' }],
      ['a scheme without a key', { Authorization: 'Bearer ' }],
    ])('%s is 401 unauthenticated', async (_case, headers: Record<string, string>) => {
      const answer = await gateway.call(NO_SUCH_REQUEST, { key: null, headers });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer');
      expect((await read(answer)).code).toBe('unauthenticated');
    });

    it('an unknown key is 401 invalid_key', async () => {
      const answer = await gateway.call(NO_SUCH_REQUEST, { key: `sg_live_${'x'.repeat(43)}` });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer error="invalid_token"');
      expect((await read(answer)).code).toBe('invalid_key');
    });

    const calls = [
      ['run', 'POST', '/v1/run/us/obstetric'],
      ['run', 'POST', `${NO_SUCH_REQUEST}/cancel`],
      ['read', 'GET', NO_SUCH_REQUEST],
      ['read', 'GET', `${NO_SUCH_REQUEST}/events`],
      ['read', 'GET', `${NO_SUCH_REQUEST}/artifacts`],
      ['read', 'GET', '/v1/requests'],
      ['read', 'GET', '/v1/models'],
      ['uploads', 'POST', '/v1/uploads'],
    ] as const;

    it.each(calls)('the scope %s is needed for %s %s', async (scope, method, path) => {
      const others = SCOPES.filter((other) => other !== scope && other !== 'admin');
      const without = await gateway.call(path, {
        method,
        key: await gateway.key({ scopes: others }),
      });
      expect(without.status).toBe(403);
      expect((await read(without)).code).toBe('forbidden');
      for (const enough of [scope, 'admin'] as const) {
        const key = await gateway.key({ scopes: [enough] });
        expect((await gateway.call(path, { method, key })).status).not.toBe(403);
      }
    });
  });

  describe('every response', () => {
    it('carries its own request id', async () => {
      const [first, second] = await Promise.all([
        gateway.call('/health/live'),
        gateway.call('/health/live'),
      ]);
      expect(first.headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(first.headers.get('X-Request-Id')).not.toBe(second.headers.get('X-Request-Id'));
    });

    it.each([
      ['trace-1.A_b', true],
      ['x'.repeat(128), true],
      ['x'.repeat(129), false],
      ['two words', false],
      ['<script>', false],
    ])('keeps the caller’s request id if it is valid: %s', async (id, kept) => {
      const answer = await gateway.call(NO_SUCH_REQUEST, { headers: { 'X-Request-Id': id } });
      expect(answer.headers.get('X-Request-Id') === id).toBe(kept);
      expect(await read(answer)).toMatchObject({
        request_id: answer.headers.get('X-Request-Id'),
      });
    });

    it('tells browsers not to guess types and caches not to store', async () => {
      const { headers } = await gateway.call('/v1/models');
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
      expect(headers.get('Cache-Control')).toBe('no-store');
      expect(headers.get('Content-Security-Policy')).toContain("default-src 'none'");
    });
  });

  describe('problems', () => {
    it('have the members of RFC 9457, and a type that can be followed', async () => {
      const answer = await gateway.call(NO_SUCH_REQUEST);
      expect(answer.status).toBe(404);
      expect(answer.headers.get('Content-Type')).toContain('application/problem+json');
      expect(await read(answer)).toMatchObject({
        type: `${gateway.url}/errors/not_found`,
        title: 'Not found',
        status: 404,
        detail: expect.any(String),
        instance: NO_SUCH_REQUEST,
        code: 'not_found',
      });
      const page = await gateway.call('/errors/not_found', { key: null });
      expect(await page.text()).toContain('Not found');
    });

    it('answer a request for an unknown path', async () => {
      const answer = await gateway.call('/v2/everything');
      expect(answer.status).toBe(404);
      expect((await read(answer)).code).toBe('not_found');
    });

    it.each([
      [NO_SUCH_REQUEST, 'GET'],
      ['/v1/run/us/obstetric', 'POST'],
    ])('list the allowed methods of %s if another is used', async (path, allowed) => {
      const answer = await gateway.call(path, { method: 'DELETE' });
      expect(answer.status).toBe(405);
      expect(answer.headers.get('Allow')).toContain(allowed);
      expect((await read(answer)).code).toBe('method_not_allowed');
    });

    it('reveal no internals when something unexpected happens', async () => {
      broken = true;
      const answer = await gateway.call('/metrics');
      broken = false;
      expect(answer.status).toBe(500);
      const body = await answer.text();
      expect(body).toContain('"code":"internal"');
      expect(body).not.toContain('secret');
      expect(body).not.toMatch(/\.ts|stack/);
    });

    it.each([
      ['overloaded', 503, '30'],
      ['rate_limited', 429, '1'],
      ['expired', 410, null],
    ] as const)('state when to retry: %s', async (code, status, retryAfter) => {
      refusal = code;
      const answer = await gateway.call('/metrics');
      refusal = null;
      expect(answer.status).toBe(status);
      expect(answer.headers.get('Retry-After')).toBe(retryAfter);
    });

    it('answer bytes that are not HTTP, without affecting other requests', async () => {
      const { hostname, port } = new URL(gateway.url);
      const socket = connect(Number(port), hostname);
      // The bytes are an A-ASSOCIATE-RQ sent to the wrong port.
      socket.end(Buffer.from([1, 0, 0, 0, 0, 4, 0, 1, 0, 0]));
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
      expect((await gateway.call('/health/live')).status).toBe(200);
    });
  });

  it('a request is logged with its route and its key’s id, never with the key or the URL', async () => {
    const key = await gateway.key();
    const headers = { 'X-Request-Id': 'logged-call' };
    await gateway.call(`${NO_SUCH_REQUEST}?wait=1`, { key, headers });
    const find = () => logged.filter((entry) => JSON.stringify(entry).includes('logged-call'));
    await expect.poll(find).toEqual([
      expect.objectContaining({
        key: expect.stringMatching(/^key_/),
        method: 'GET',
        route: '/v1/requests/:id',
        status: 404,
      }),
    ]);
    expect(JSON.stringify(find())).not.toContain(key);
  });

  describe('health and metrics', () => {
    it('the process is live whatever state its parts are in', async () => {
      broken = true;
      expect((await gateway.call('/health/live', { key: null })).status).toBe(200);
      broken = false;
    });

    it('it is ready when every part works', async () => {
      const answer = await gateway.call('/health/ready', { key: null });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual({
        status: 'ready',
        checks: { database: 'ok', queue: 'ok' },
      });
    });

    it('a failing part is listed, but not the reason', async () => {
      broken = true;
      const answer = await gateway.call('/health/ready', { key: null });
      broken = false;
      expect(answer.status).toBe(503);
      expect(await answer.json()).toEqual({
        status: 'not_ready',
        checks: { database: 'ok', queue: 'failing' },
      });
    });

    it('metrics are Prometheus text', async () => {
      const answer = await gateway.call('/metrics', { key: null });
      expect(answer.headers.get('Content-Type')).toContain('text/plain; version=0.0.4');
      expect(await answer.text()).toContain('sonogate_requests{status="queued"} 2\n');
    });
  });

  describe('models', () => {
    it('are listed with their versions', async () => {
      const { data } = await read(await gateway.call('/v1/models'));
      expect(data.map(({ version }) => version).sort()).toEqual(['1.0.0', '1.10.0', '1.2.0']);
      expect(data[0]).toMatchObject({ id: 'us/obstetric/interpret', model: 'us/obstetric' });
    });

    it('describe their submit call as OpenAPI 3.1, newest version', async () => {
      const answer = await gateway.call('/v1/models/us/obstetric/interpret/openapi.json');
      expect(await answer.json()).toMatchObject({
        openapi: '3.1.0',
        info: { version: '1.10.0' },
        paths: {
          '/v1/run/us/obstetric/interpret': {
            post: {
              requestBody: {
                content: {
                  'application/json': {
                    schema: {
                      required: ['input'],
                      additionalProperties: false,
                      properties: { input: { required: ['files'] } },
                    },
                  },
                },
              },
            },
          },
        },
      });
      const unknown = await gateway.call('/v1/models/us/obstetric/guess/openapi.json');
      expect((await read(unknown)).code).toBe('unknown_endpoint');
    });
  });
});
