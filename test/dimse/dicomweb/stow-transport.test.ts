import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type HttpAccess, stowTransport } from '../../../dimse/dicomweb/stow-transport.ts';
import type { OutgoingObject } from '../../../dimse/network/service-ports.ts';
import { outgoingBuffer } from '../../../dimse/send/store-scu.ts';
import { dataSet, dicomFile } from '../dicom-file.ts';

const toClose: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close();
});

const ANYBODY: HttpAccess = { header: async () => null, dispatcherNow: async () => undefined };
const object = (sopInstanceUid: string, sopClassUid?: string) =>
  outgoingBuffer(dicomFile({ sopInstanceUid, ...(sopClassUid && { sopClassUid }) }));

interface Call {
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** Starts a server that responds as each test specifies. The server records its requests. */
async function originServer(
  answer: (call: Call, response: ServerResponse, request: IncomingMessage) => void,
) {
  const calls: Call[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const call = { headers: request.headers, body: Buffer.concat(chunks) };
    calls.push(call);
    answer(call, response, request);
  });
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  toClose.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/dicom-web` };
}

function send(
  baseUrl: string,
  objects: OutgoingObject[][],
  {
    access = ANYBODY,
    timeoutSeconds = 5,
    signal = new AbortController().signal,
  }: { access?: HttpAccess; timeoutSeconds?: number; signal?: AbortSignal } = {},
) {
  return stowTransport({ baseUrl, timeoutSeconds }, access).send(objects, signal);
}

const storing = (uid: string) =>
  JSON.stringify({
    '00081199': { vr: 'SQ', Value: [{ '00081155': { vr: 'UI', Value: [uid] } }] },
  });
const refusing = (uid: string, reason: number) =>
  JSON.stringify({
    '00081198': {
      vr: 'SQ',
      Value: [
        { '00081155': { vr: 'UI', Value: [uid] }, '00081197': { vr: 'US', Value: [reason] } },
      ],
    },
  });

describe('a store transaction', () => {
  test('is one multipart/related request with the announced length, in which each object is a part', async () => {
    const { url, calls } = await originServer((_, response) => response.end());
    await send(`${url}/`, [[object('1.1')], [object('1.2')]]);
    const [call] = calls;
    const { 'content-type': type = '', 'content-length': length, accept } = call?.headers ?? {};
    expect(accept).toBe('application/dicom+json');
    const boundary = /^multipart\/related; type="application\/dicom"; boundary=(.+)$/.exec(type);
    expect(Number(length)).toBe(call?.body.length);
    const parts = call?.body.toString('latin1').split(`\r\n--${boundary?.[1]}`) ?? [];
    expect(parts).toHaveLength(4);
    expect(parts.at(-1)).toBe('--\r\n');
    expect(parts[1]).toContain('\r\nContent-Type: application/dicom\r\n\r\n');
    const data = dataSet({ sopInstanceUid: '1.1' }).toString('latin1');
    expect(parts[1]?.endsWith(data)).toBe(true);
  });

  test('authenticates us', async () => {
    const { url, calls } = await originServer((_, response) => response.end());
    await send(url, [[object('1.1')]], { access: { ...ANYBODY, header: async () => 'Bearer t' } });
    expect(calls[0]?.headers.authorization).toBe('Bearer t');
  });

  test('does not begin without our secret, and the peer is not blamed for that', async () => {
    const { url, calls } = await originServer((_, response) => response.end());
    const access = { ...ANYBODY, header: () => Promise.reject(new Error('no file')) };
    const results = await send(url, [[object('1.1')]], { access });
    expect(results).toMatchObject([{ code: 'peer_unauthorized' }]);
    expect(calls).toEqual([]);
  });

  test('does not follow a redirect', async () => {
    const { url } = await originServer((_, response) =>
      response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    );
    expect(await send(url, [[object('1.1')]])).toMatchObject([{ code: 'invalid_config' }]);
  });

  test('sends the next form of an object if the server does not accept its class', async () => {
    const { url, calls } = await originServer((_, response) => {
      if (calls.length === 1) response.writeHead(409).end(refusing('1.34', 0x0122));
      else response.end(storing('1.33'));
    });
    const forms = [object('1.34', '1.2.3.34'), object('1.33', '1.2.3.33')];
    expect(await send(url, [forms])).toMatchObject([{ sopInstanceUid: '1.33', code: null }]);
    expect(calls).toHaveLength(2);
  });

  test('fails if the server does not even accept the last form', async () => {
    const { url } = await originServer((_, response) =>
      response.writeHead(409).end(refusing('1.33', 0x0122)),
    );
    expect(await send(url, [[object('1.33')]])).toMatchObject([{ code: 'peer_refused_object' }]);
  });
});

describe('a server that hangs', () => {
  const outcomeOf = async (url: string) =>
    (await send(url, [[object('1.1')]], { timeoutSeconds: 1 }))[0]?.code;

  test('before it answers may have the objects', async () => {
    const { url } = await originServer(() => {});
    expect(await outcomeOf(url)).toBe('peer_connection_lost');
  });

  test('in the middle of its response', async () => {
    const { url } = await originServer((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{');
    });
    expect(await outcomeOf(url)).toBe('peer_connection_lost');
  });

  test('while it receives the objects', async () => {
    const server = createServer((request) => request.pause());
    const sockets = new Set<Socket>();
    server.on('connection', (socket) => sockets.add(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    toClose.push(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const large: OutgoingObject = {
      ...object('1.1'),
      bytes: 64 * 1024 * 1024,
      *read(size) {
        for (let sent = 0; sent < this.bytes; sent += size) yield Buffer.alloc(size);
      },
    };
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const results = await send(url, [[large]], { timeoutSeconds: 1 });
    expect(results).toMatchObject([{ code: 'peer_connection_lost' }]);
  });
});

test('canceling a delivery ends its request', async () => {
  const { url } = await originServer(() => {});
  const results = await send(url, [[object('1.1')]], { signal: AbortSignal.timeout(100) });
  expect(results).toMatchObject([{ outcome: 'failed' }]);
});

test('if the server does not listen, nothing was sent', async () => {
  expect(await send('http://127.0.0.1:9', [[object('1.1')]])).toMatchObject([
    { code: 'peer_unreachable' },
  ]);
});
