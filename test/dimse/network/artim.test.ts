import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { type Listener, type ListenerOptions, listen } from '../../../dimse/network/listener.ts';
import { encodeReleaseRequest, PDU } from '../../../dimse/network/pdu.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { makeAuthority, OPENSSL_INSTALLED } from '../../peers/certificates.ts';
import { associateRequest } from './raw-peer.ts';

const ARTIM = { artimMilliseconds: 300 };
/** So long that a test that waited for it would fail. */
const NEVER = { artimMilliseconds: 600_000 };

const toClose: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close();
});

async function start(over: Partial<ListenerOptions>): Promise<Listener> {
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    aeTitle: 'SONOGATE',
    maxPduBytes: 16_384,
    maxAssociations: 1,
    offer: () => ({ preferred: [], others: ['1.2.840.10008.1.2'] }),
    admit: () => ({ idleTimeoutSeconds: 60 }),
    storage: { open: () => Promise.reject(new Error('none')), ended: async () => {} },
    logger: silentLogger,
    ...over,
  });
  toClose.push(() => listener.close(0));
  return listener;
}

/** Connects a peer that notices when our end is closed but keeps its own end open. */
async function peer(port: number, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
  toClose.push(() => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

async function ask(socket: Socket, request: Buffer): Promise<number | undefined> {
  socket.write(request);
  const [answer] = await once(socket, 'data');
  return answer[0];
}

/**
 * Sends bytes one at a time until the connection is closed. Bytes sent after that are answered with
 * a reset.
 */
async function tricklesUntilClosed(socket: Socket, bytes: Buffer): Promise<void> {
  socket.resume();
  const closed = new Promise((resolve) => socket.once('close', resolve));
  let sent = 0;
  const timer = setInterval(() => {
    if (!socket.destroyed) socket.write(bytes.subarray(sent, sent + 1));
    sent += 1;
  }, 10);
  await closed;
  clearInterval(timer);
}

const GOOD_CART = associateRequest();
const WRONG_TITLE = associateRequest({ calledAeTitle: 'OTHER' });

describe('the place that an association occupies', () => {
  test('is free as soon as the association is released, even if the peer does not close', async () => {
    const { port } = await start(NEVER);
    const lingering = await peer(port);
    expect(await ask(lingering, GOOD_CART)).toBe(PDU.associateAccept);
    expect(await ask(lingering, encodeReleaseRequest())).toBe(PDU.releaseResponse);
    expect(await ask(await peer(port), GOOD_CART)).toBe(PDU.associateAccept);
  });

  test('is not occupied by a peer that only connects or was rejected', async () => {
    const { port } = await start(NEVER);
    await peer(port);
    expect(await ask(await peer(port), WRONG_TITLE)).toBe(PDU.associateReject);
    expect(await ask(await peer(port), GOOD_CART)).toBe(PDU.associateAccept);
  });
});

describe('ARTIM ends a connection without an association', () => {
  test.each([
    ['that sends its request byte by byte', null],
    ['that was rejected and goes on', WRONG_TITLE],
  ])('to a peer %s', async (_what, first) => {
    const { port } = await start(ARTIM);
    const socket = await peer(port);
    if (first) await ask(socket, first);
    await tricklesUntilClosed(socket, GOOD_CART);
  });

  test('to a peer that keeps sending after its release', async () => {
    const { port } = await start(ARTIM);
    const socket = await peer(port);
    await ask(socket, GOOD_CART);
    await ask(socket, encodeReleaseRequest());
    await tricklesUntilClosed(socket, GOOD_CART);
  });

  test.skipIf(!OPENSSL_INSTALLED)('to a peer that never completes its TLS handshake', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sonogate-artim-'));
    toClose.push(() => rm(folder, { recursive: true }));
    const tls = { ...makeAuthority(folder).issue('gateway'), minVersion: '1.2' as const };
    const { port } = await start({ ...ARTIM, tls });
    const cart = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    toClose.push(() => cart.destroy());
    expect(await ask(cart, GOOD_CART)).toBe(PDU.associateAccept);
    const silent = await peer(port);
    await once(silent.resume(), 'end');
    // A TLS connection that carries an association is not counted among those without one.
    expect(await ask(cart, encodeReleaseRequest())).toBe(PDU.releaseResponse);
  });

  test('but not a connection with an association', async () => {
    const { port } = await start(ARTIM);
    const cart = await peer(port);
    await ask(cart, GOOD_CART);
    const silent = await peer(port);
    await once(silent.resume(), 'end');
    expect(await ask(cart, encodeReleaseRequest())).toBe(PDU.releaseResponse);
  });
});

describe('when there are too many silent connections, the oldest is closed', () => {
  const state = (sockets: readonly Socket[]) => sockets.map((socket) => socket.readableEnded);

  test('beyond two per association from the same address', async () => {
    const { port } = await start(NEVER);
    const elsewhere = await peer(port, '127.0.0.2');
    const silent = [await peer(port), await peer(port), await peer(port)];
    for (const socket of [elsewhere, ...silent]) socket.resume();
    await expect.poll(() => state(silent)).toEqual([true, false, false]);
    expect(await ask(await peer(port), GOOD_CART)).toBe(PDU.associateAccept);
    expect(state([elsewhere])).toEqual([false]);
  });

  test('beyond eight per association in total', async () => {
    const { port } = await start(NEVER);
    const silent: Socket[] = [];
    for (const last of [2, 2, 3, 3, 4, 4, 5, 5]) {
      silent.push((await peer(port, `127.0.0.${last}`)).resume());
    }
    expect(await ask(await peer(port), GOOD_CART)).toBe(PDU.associateAccept);
    await expect.poll(() => state(silent)).toEqual([true, ...Array(7).fill(false)]);
  });
});

test('a listener that closes does not wait for connections without an association', async () => {
  const listener = await start(NEVER);
  const silent = await peer(listener.port);
  const rejected = await peer(listener.port);
  await ask(rejected, WRONG_TITLE);
  await listener.close(600);
  await once(silent.resume(), 'end');
});
