import type { Router } from '@koa/router';
import type { Middleware } from 'koa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHttpApp } from '../../../../src/doors/http/app.ts';
import type { HttpDeps, HttpState } from '../../../../src/doors/http/context.ts';
import { type Gateway, startGateway } from './gateway.ts';

/** Returns every method and path in the HTTP door's routers, with `x` in place of each parameter. */
function routes(): { method: string; path: string }[] {
  // None of the dependencies is called while the routes are built.
  const app = createHttpApp({ config: {} } as HttpDeps);
  const dispatching = app.middleware as (Middleware<HttpState> & { router?: Router })[];
  const layers = dispatching.flatMap(({ router }) => router?.stack ?? []);
  return layers.flatMap(({ methods, path }) =>
    methods.map((method) => {
      return {
        method,
        path: String(path)
          .replace(/[{}]/g, '')
          .replace(/[:*]\w+/g, 'x'),
      };
    }),
  );
}

const EXPECTED = {
  'x-content-type-options': /^nosniff$/,
  'content-security-policy': /default-src 'none'.*frame-ancestors 'none'/,
  'referrer-policy': /^no-referrer$/,
  'permissions-policy': /camera=\(\)/,
  'cross-origin-opener-policy': /^same-origin$/,
  'cross-origin-resource-policy': /^same-origin$/,
  'cache-control': /no-store|no-cache|max-age/,
  'x-request-id': /^[\w.-]+$/,
};

describe('every route of the HTTP door', () => {
  let gateway: Gateway;
  let admin: string;
  beforeAll(async () => {
    gateway = await startGateway();
    admin = await gateway.key({ scopes: ['admin'] });
  });
  afterAll(() => gateway.stop());

  test('is found, including health and metrics', () => {
    const paths = new Set(routes().map(({ path }) => path));
    expect(paths.size).toBeGreaterThan(30);
    for (const path of ['/metrics', '/health/live', '/v1/run/x/x', '/v1/requests/x'])
      expect(paths).toContain(path);
  });

  test('answers with the headers, with and without a key, as do unknown paths', async () => {
    const calls = [...routes(), { method: 'GET', path: '/nothing/here' }];
    for (const { method, path } of calls) {
      for (const key of [null, admin]) {
        const stop = new AbortController();
        const answer = await gateway.call(path, { method, key, signal: stop.signal });
        for (const [name, form] of Object.entries(EXPECTED)) {
          expect(answer.headers.get(name), `${method} ${path}: ${name}`).toMatch(form);
        }
        expect(answer.headers.get('strict-transport-security'), path).toBeNull();
        expect(answer.headers.get('x-powered-by')).toBeNull();
        stop.abort();
      }
    }
  });

  test('behind a proxy that terminates TLS requires TLS alone (HSTS)', async () => {
    const config = { publicUrl: 'https://us.example', maxBodyBytes: 1000, maxFileBytes: 1000 };
    const proxied = await startGateway({ config });
    const answer = await proxied.call('/health/live');
    expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000');
    await proxied.stop();
  });
});
