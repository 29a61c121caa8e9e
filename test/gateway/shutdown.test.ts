import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Sonogate } from '../../clients/typescript/src/index.ts';
import { type StoredObject, startPacs } from '../../src/app/simulate/pacs.ts';
import { commandsOfGateway } from '../../src/operations/socket.ts';
import { dataSet, dicomFile } from '../dimse/dicom-file.ts';
import {
  associateRequest,
  dataPdu,
  RawPeer,
  statusOf,
  storeCommand,
} from '../dimse/network/raw-peer.ts';
import { sendBuffer } from '../dimse/send.ts';
import { type FreshDatabase, freshDatabase } from '../peers/database.ts';
import { type Served, serve, siteFile } from './serve.ts';
import { siteSettings, waitUntil } from './site.ts';

const STUDY = '1.2.3.77';

let fresh: FreshDatabase;
let dataDir: string;
let served: Served | null = null;
beforeEach(async () => {
  fresh = await freshDatabase();
  dataDir = fresh.settings.dataDir;
});
afterEach(async () => {
  await served?.stop('SIGKILL');
  await fresh.remove();
});

const start = async (settings: Record<string, unknown>) => {
  served = await serve(await siteFile(siteSettings(fresh.settings, settings)));
  return served;
};

const object = (sopInstanceUid: string) => ({ sopInstanceUid, studyInstanceUid: STUDY });

/** Starts sending an object, and waits until the command and part of the data set have arrived. */
async function halfAnObject(port: number, sopInstanceUid: string) {
  const bytes = dataSet({ ...object(sopInstanceUid), pixels: Buffer.alloc(700_000) });
  const cart = new RawPeer(port);
  await cart.associate(associateRequest());
  // More than the disk writer collects before it creates the file.
  const fragments = Array.from({ length: 10 }, (_, n) =>
    bytes.subarray(n * 60_000, (n + 1) * 60_000),
  );
  cart.send(
    storeCommand(sopInstanceUid),
    ...fragments.map((fragment) => dataPdu([fragment], false)),
  );
  await waitUntil('the part on the disk', async () => {
    const names = await readdir(join(dataDir, 'intake'), { recursive: true }).catch(() => []);
    return names.some((name) => name.endsWith('.part')) ? true : null;
  });
  return { cart, rest: () => cart.send(dataPdu([bytes.subarray(600_000)], true)) };
}

/** Waits until the gateway is closing and its DICOM door no longer accepts connections. */
const doorClosed = (port: number) =>
  waitUntil('the closed door', () => {
    const caller = connect(port, '127.0.0.1');
    return once(caller, 'connect')
      .then(
        () => null,
        () => true as const,
      )
      .finally(() => caller.destroy());
  });

/** Starts a PACS that accepts connections and never responds. */
async function silentPacs(): Promise<{ server: Server; port: number; called: Promise<Socket> }> {
  const server = createServer();
  const called = new Promise<Socket>((resolve) => server.once('connection', resolve));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { server, port: (server.address() as AddressInfo).port, called };
}

/** A gateway may need this long to start on a busy machine; speed is not tested. */
const PATIENCE = { timeout: 180_000 };

describe('SIGTERM in the middle of everything', PATIENCE, () => {
  test('finishes the object, releases the run and the delivery, and the next start completes both', async () => {
    const silent = await silentPacs();
    const settings = {
      destinations: [
        { type: 'dicom', name: 'pacs', host: '127.0.0.1', port: silent.port, aeTitle: 'PACS' },
      ],
      routing: { rules: [{ name: 'on', when: { modality: 'US' }, forwardTo: ['pacs'] }] },
    };
    const first = await start(settings);
    const node = { host: '127.0.0.1', port: first.dicomPort, aeTitle: 'SONOGATE' };
    const cart = { ...node, callingAeTitle: 'CART', timeoutSeconds: 20 };
    expect((await sendBuffer(cart, dicomFile(object('1.2.3.77.1')))).outcome).toBe('stored');
    const line = await silent.called;

    const made = await commandsOfGateway(dataDir)('keys.create', { name: 'test', test: true });
    const { key } = made;
    const client = new Sonogate({ url: first.url, key });
    const run = await client.submit('us/echo', {
      files: [(await siteFile({})).toString()],
      metadata: { mock: 'slow' },
    });
    await waitUntil('the run', async () =>
      (await client.calls.getRequest({ id: run.id })).status === 'running' ? true : null,
    );

    const half = await halfAnObject(first.dicomPort, '1.2.3.78.1');
    const stopped = first.stop('SIGTERM');
    await doorClosed(first.dicomPort);
    half.rest();
    expect(statusOf(await half.cart.next())).toBe(0);
    expect((await half.cart.next())?.[0]).toBe(7);
    await stopped;
    expect(first.exitCode()).toBe(0);

    line.destroy();
    await new Promise((closed) => silent.server.close(closed));
    const received: StoredObject[] = [];
    const pacs = await startPacs({
      folder: `${dataDir}-pacs`,
      host: '127.0.0.1',
      port: silent.port,
      onObject: (arrived) => received.push(arrived),
    });
    const second = await start(settings);
    await waitUntil('both objects at the PACS', async () => {
      const rows = await commandsOfGateway(dataDir)('deliveries.list', {});
      return rows.length === 2 && rows.every(({ state }) => state === 'delivered') ? true : null;
    });
    expect(received.map(({ sopInstanceUid }) => sopInstanceUid).sort()).toEqual([
      '1.2.3.77.1',
      '1.2.3.78.1',
    ]);
    const again = new Sonogate({ url: second.url, key });
    const ended = await waitUntil('the run to end', async () => {
      const request = await again.calls.getRequest({ id: run.id });
      return request.status === 'running' || request.status === 'queued' ? null : request;
    });
    expect(ended.status).toBe('succeeded');
    const told = await commandsOfGateway(dataDir)('studies.explain', {
      study: STUDY,
    });
    expect(told).toMatchObject({ state: 'routed' });
    await second.stop('SIGTERM');
    await pacs.close();
    await rm(`${dataDir}-pacs`, { recursive: true });
  });
});

describe('a gateway that receives a stop signal', PATIENCE, () => {
  test('reports not ready but keeps serving; a second signal ends the wait', async () => {
    const gateway = await start({ roles: ['api'], shutdown: { readinessSeconds: 600 } });
    const status = async (path: string) => (await fetch(`${gateway.url}${path}`)).status;
    expect(await status('/health/ready')).toBe(200);
    process.kill(gateway.pid, 'SIGTERM');
    await waitUntil('not ready', async () =>
      (await status('/health/ready')) === 503 ? true : null,
    );
    expect(await status('/health/live')).toBe(200);
    expect(await status('/v1/models')).toBe(401);
    await gateway.stop('SIGTERM');
    expect(gateway.exitCode()).toBe(0);
  });

  test("but is stuck is ended by a second signal, with that signal's number", async () => {
    const gateway = await start({ roles: ['dimse'], shutdown: { graceSeconds: 600 } });
    const { cart } = await halfAnObject(gateway.dicomPort, '1.2.3.79.1');
    process.kill(gateway.pid, 'SIGTERM');
    await doorClosed(gateway.dicomPort);
    await gateway.stop('SIGTERM');
    expect(gateway.exitCode()).toBe(143);
    cart.socket.destroy();
  });

  test('but is stuck ends by itself when its time is over, and reports that', async () => {
    const gateway = await start({ roles: ['dimse'], shutdown: { graceSeconds: 0.5 } });
    const { cart } = await halfAnObject(gateway.dicomPort, '1.2.3.80.1');
    await gateway.stop('SIGTERM');
    expect(gateway.exitCode()).toBe(1);
    expect(gateway.log.some((line) => line.includes('gateway_stop_slow'))).toBe(true);
    cart.socket.destroy();
  });
});
