import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '../../../../config/schema.ts';
import {
  createOutboundClient,
  type OutboundClient,
} from '../../../../src/platform/outbound/client.ts';
import {
  createUrlGuard,
  type Lookup,
  UrlNotPermittedError,
} from '../../../../src/platform/outbound/url-guard.ts';

describe('a request to an address from a client', () => {
  let server: Server;
  let port: number;
  const calls: { path: string; headers: Record<string, unknown> }[] = [];
  const clients: OutboundClient[] = [];
  const signal = AbortSignal.timeout(10_000);

  beforeAll(async () => {
    server = createServer((request, response) => {
      calls.push({ path: request.url ?? '', headers: request.headers });
      response.writeHead(302, { Location: 'http://169.254.169.254/' }).end('moved');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    server.close();
  });

  const client = (lookup: Lookup, addresses: string[] = []) => {
    const hosts = [{ host: 'site.example', addresses, ports: [port], http: true }];
    const settings: Config['outbound'] = {
      hosts,
      inputFiles: 'listed-hosts',
      maxFileBytes: 1,
      fetchTimeoutSeconds: 1,
    };
    const made = createOutboundClient(createUrlGuard(settings, lookup));
    clients.push(made);
    return made;
  };
  const loopback = async () => [{ address: '127.0.0.1', family: 4 }];

  it('goes to the address that was checked, under the given name', async () => {
    const url = `http://site.example:${port}/hook`;
    const answer = await client(loopback, ['127.0.0.1']).call(url, 'webhook', {
      method: 'GET',
      signal,
    });
    expect(await answer.body.text()).toBe('moved');
    expect(calls.at(-1)).toMatchObject({
      path: '/hook',
      headers: { host: `site.example:${port}`, 'accept-encoding': 'identity' },
    });
  });

  it('does not follow redirects', async () => {
    const url = `http://site.example:${port}/`;
    const answer = await client(loopback, ['127.0.0.1']).call(url, 'webhook', {
      method: 'GET',
      signal,
    });
    await answer.body.dump();
    expect(answer.statusCode).toBe(302);
  });

  it('sends nothing if the name leads to an address that is not permitted', async () => {
    const before = calls.length;
    const url = `http://site.example:${port}/`;
    const call = client(loopback).call(url, 'webhook', { method: 'GET', signal });
    await expect(call).rejects.toThrow(UrlNotPermittedError);
    expect(calls).toHaveLength(before);
  });

  it('resolves a name once, so later changes have no effect', async () => {
    let asked = 0;
    const rebinding: Lookup = async () => {
      asked += 1;
      return [{ address: asked === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }];
    };
    const url = `http://site.example:${port}/`;
    const answer = await client(rebinding, ['127.0.0.1']).call(url, 'webhook', {
      method: 'GET',
      signal,
    });
    await answer.body.dump();
    expect(asked).toBe(1);
  });
});
