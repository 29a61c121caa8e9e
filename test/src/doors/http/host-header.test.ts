import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { json, text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isValidHost } from '../../../../src/doors/http/context.ts';
import { type Gateway, startGateway } from './gateway.ts';

const twoLengths = ['Content-Length: 1', 'Content-Length: 2'];

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

describe('a request', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  /** Sends the lines of a request head, and returns the response with its body. */
  async function raw(...lines: string[]) {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    return { status: Number(head.split(' ')[1]), head, body };
  }

  it('in HTTP/1.0 without a Host gets the address of the connection in its URLs', async () => {
    for (const _ of [1, 2]) await gateway.submit();
    const key = await gateway.key({ scopes: ['read'] });
    const { status, head, body } = await raw(
      'GET /v1/requests?limit=1 HTTP/1.0',
      `Authorization: Bearer ${key}`,
    );
    expect(status).toBe(200);
    expect(head).toContain(`Link: <${gateway.url}/v1/requests?limit=1&cursor=`);
    expect(JSON.parse(body).data[0].urls.self).toContain(`${gateway.url}/v1/requests/req_`);
  });

  it.each([
    ['without a Host in HTTP/1.1', []],
    ['with two Hosts', ['Host: a', 'Host: b']],
  ])('%s is answered with 400', async (_case, hosts) => {
    const { status, body } = await raw('GET /v1/models HTTP/1.1', ...hosts, 'Connection: close');
    expect(status).toBe(400);
    expect(JSON.parse(body)).toMatchObject({ code: 'invalid_host' });
  });

  it.each([
    ['an unknown method', 400, 'malformed_call', ['FETCH /v1/models HTTP/1.1', 'Host: a']],
    ['two lengths', 400, 'malformed_call', ['GET / HTTP/1.1', 'Host: a', ...twoLengths]],
    ['long headers', 431, 'headers_too_large', ['GET / HTTP/1.1', `X: ${'a'.repeat(20_000)}`]],
  ])('with %s is answered with %i, as a problem with a request id', async (...call) => {
    const [, status, code, lines] = call;
    const answer = await raw(...lines);
    expect(answer.status).toBe(status);
    const [, id] = /X-Request-Id: (.+)/.exec(answer.head) ?? [];
    expect(JSON.parse(answer.body)).toMatchObject({ status, code, request_id: id });
  });

  it('with an expectation that nobody knows is answered as if it had none', async () => {
    const lines = ['GET /health/live HTTP/1.1', 'Host: a', 'Expect: tea', 'Connection: close'];
    expect((await raw(...lines)).status).toBe(200);
  });

  it('whose body cannot be read does not end other calls', async () => {
    const chunks = ['Transfer-Encoding: chunked', '', 'no length'];
    const key = await gateway.key();
    const call = ['POST /v1/run/us/obstetric HTTP/1.1', 'Host: a', `Authorization: Bearer ${key}`];
    const answer = await raw(...call, 'Content-Type: application/json', ...chunks);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body).code).toBe('malformed_call');
    expect((await gateway.call('/v1/requests')).status).toBe(200);
  });

  it.each(['localhostion: closion: close', 'a@b/..', 'someone@gateway', 'gateway/..'])(
    'with the Host "%s" is answered with 400, and its text is in no URL of the response',
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
