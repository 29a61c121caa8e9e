import { once } from 'node:events';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isValidHost } from '../../../../src/doors/http/context.ts';
import { type Gateway, startGateway } from './gateway.ts';

describe('a Host', () => {
  it.each(['gateway', 'gateway.ward.example:8080', '192.0.2.7', '[2001:db8::7]:443'])(
    'identifies a machine: %s',
    (host) => expect(isValidHost(host)).toBe(true),
  );

  it.each(['', 'a: closion: close', 'a b', '[::1', 'a:99999', 'a/b', 'someone@a', 'a?b', 'a#b'])(
    'identifies no machine: "%s"',
    (host) => expect(isValidHost(host)).toBe(false),
  );
});

describe('a request whose Host identifies no machine', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  it.each(['localhostion: closion: close', 'a@b/..', 'someone@gateway', 'gateway/..'])(
    '"%s" is answered with 400, and its text is in no URL of the response',
    async (host) => {
      const key = await gateway.key({ scopes: ['read'] });
      const call = request(new URL('/v1/requests', gateway.url), {
        headers: { Host: host, Authorization: `Bearer ${key}` },
      }).end();
      const [answer] = await once(call, 'response');
      expect(answer.statusCode).toBe(400);
      expect(await json(answer)).toMatchObject({
        status: 400,
        type: expect.stringMatching(/^\/errors\//),
        detail: 'The Host header does not name a host.',
      });
    },
  );
});
