import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DicomDestination, Hl7v2Destination } from '../../../../config/schema.ts';
import { stowTransport } from '../../../../dimse/dicomweb/stow-transport.ts';
import { dial } from '../../../../dimse/network/dial.ts';
import { AssociationPool } from '../../../../dimse/send/association-pool.ts';
import { createDicomDeliverer, createForwardDeliverer } from '../../../../dimse/send/deliver.ts';
import { cStoreTransport, type StoreTransport } from '../../../../dimse/send/store-scu.ts';
import { httpAccess } from '../../../../fhir/client/authorization.ts';
import { startPacs } from '../../../../src/app/simulate/pacs.ts';
import type { Deliverer, Delivery, RequestDelivery } from '../../../../src/core/outbox/delivery.ts';
import { createWebhookDeliverer } from '../../../../src/core/webhooks/deliver.ts';
import { endpointFor } from '../../../../src/core/webhooks/endpoints.ts';
import { createHl7v2Deliverer } from '../../../../src/doors/hl7v2/deliver.ts';
import type { PooledDatabase } from '../../../../src/platform/database/pooled.ts';
import { catalogueEntry } from '../../../../src/platform/errors/catalogue.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { createOutboundClient } from '../../../../src/platform/outbound/client.ts';
import { createUrlGuard } from '../../../../src/platform/outbound/url-guard.ts';
import { ClientCertificates } from '../../../../src/platform/tls/client-files.ts';
import { dicomFile } from '../../../dimse/dicom-file.ts';
import { DELIVERY, delivererTo, destinationOf, PATIENT } from '../../../fhir/delivering.ts';
import { sampleResult, sampleSubject } from '../../../fhir/sample.ts';
import { type OpenDatabase, openFreshDatabase } from '../../../peers/database.ts';
import { startFhirServer } from '../../../peers/fhir-server.ts';
import { freePort } from '../../../peers/free-port.ts';
import { startReceiver } from '../webhooks/receiver.ts';

const UID = '1.2.3.4';
const FILE = dicomFile({ sopInstanceUid: UID });
const ENDLESS = new AbortController().signal;

/** A deliverer with two deliveries: one to a working destination and one to an unreachable one. */
interface Adapter {
  deliverer: Deliverer;
  working: Delivery;
  unreachable: Delivery;
}

let fresh: OpenDatabase;
let folder = '';
let database: PooledDatabase;
let closedPort = 0;
const toClose: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  fresh = await openFreshDatabase();
  ({ database, dataDir: folder } = fresh);
  closedPort = await freePort();
});
afterAll(async () => {
  for (const close of toClose.splice(0).reverse()) await close();
  await fresh.close();
});

const delivery = <Kind extends RequestDelivery['kind']>(
  kind: Kind,
  destination: string,
  object: string,
): RequestDelivery & { kind: Kind } => ({
  id: `d-${destination}`,
  requestId: 'req_1',
  kind,
  destination,
  object,
  resultRevision: 0,
  attempt: 1,
});

const forwarded = (destination: string): Delivery => ({
  id: `d-${destination}`,
  requestId: null,
  kind: 'forward',
  destination,
  object: 'instance',
  attempt: 1,
});

function dicomAdapter(transports: Record<'pacs' | 'gone', StoreTransport>): Adapter {
  const names = ['pacs', 'gone'] as const;
  const deliverer = createDicomDeliverer({
    destinations: names.map((name) => ({
      name,
      release: 'at-once',
      measurementSopClass: 'auto',
      segmentation: 'binary',
      rejectionNotes: false,
    })),
    transports: new Map(Object.entries(transports)),
    results: { result: async () => sampleResult(), artifactPath: async () => null },
    subject: async (requestId) => ({ requestId, identity: null, instances: [], dating: null }),
    builders: { seg: () => [[FILE]] },
  });
  return {
    deliverer,
    working: delivery('dicom', 'pacs', 'seg'),
    unreachable: delivery('dicom', 'gone', 'seg'),
  };
}

async function cStoreTransports(): Promise<Record<'pacs' | 'gone', StoreTransport>> {
  const received = await mkdtemp(join(tmpdir(), 'sonogate-pacs-'));
  const pacs = await startPacs({ folder: received, host: '127.0.0.1', port: 0 });
  toClose.push(async () => {
    await pacs.close();
    await rm(received, { recursive: true });
  });
  const at = (port: number): StoreTransport => {
    const destination: DicomDestination = {
      type: 'dicom',
      release: 'at-once',
      name: 'pacs',
      host: '127.0.0.1',
      port,
      aeTitle: 'PACS',
      objects: ['seg'],
      measurementSopClass: 'auto',
      segmentation: 'binary',
      rejectionNotes: false,
      storageCommitment: false,
      timeoutSeconds: 5,
      associationIdleSeconds: 0,
    };
    return cStoreTransport(destination, 'SONOGATE', {
      associations: new AssociationPool(0),
      certificates: new ClientCertificates(),
    });
  };
  return { pacs: at(pacs.port), gone: at(closedPort) };
}

const openCStore = async () => dicomAdapter(await cStoreTransports());

async function openStow(): Promise<Adapter> {
  const stored = { '00081199': { Value: [{ '00081155': { Value: [UID] } }] } };
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end(JSON.stringify(stored)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  toClose.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  const at = (port: number) => {
    const settings = { baseUrl: `http://127.0.0.1:${port}`, timeoutSeconds: 5 };
    return stowTransport(
      settings,
      httpAccess(new ClientCertificates())({ ...settings, authorization: { type: 'none' } }),
    );
  };
  return dicomAdapter({ pacs: at((server.address() as AddressInfo).port), gone: at(closedPort) });
}

async function openForward(): Promise<Adapter> {
  const path = join(folder, 'forwarded.dcm');
  await writeFile(path, FILE);
  const deliverer = createForwardDeliverer({
    transports: new Map(Object.entries(await cStoreTransports())),
    database: {
      ...database,
      query: async <Row extends object>() => ({
        rows: [{ path, fileSha256: '' }] as unknown as Row[],
        rowCount: 1,
      }),
    },
    objects: {
      shared: false,
      keep: async () => {},
      has: async () => true,
      remove: async () => {},
      locate: async () => path,
    },
  });
  return {
    deliverer,
    working: forwarded('pacs'),
    unreachable: forwarded('gone'),
  };
}

async function openFhir(): Promise<Adapter> {
  const ehr = await startFhirServer();
  toClose.push(() => ehr.close());
  await ehr.put(PATIENT);
  const works = destinationOf(ehr);
  const gone = destinationOf({ baseUrl: `http://127.0.0.1:${closedPort}` }, { name: 'gone' });
  return {
    deliverer: delivererTo(works, folder, { destinations: [works, gone] }),
    working: DELIVERY,
    unreachable: { ...DELIVERY, id: 'dlv_2', destination: 'gone' },
  };
}

async function openWebhook(): Promise<Adapter> {
  const receiver = await startReceiver();
  const own = {
    host: '127.0.0.1',
    addresses: ['127.0.0.1'],
    ports: [receiver.port, closedPort],
    http: true,
  };
  const guard = createUrlGuard({
    hosts: [own],
    inputFiles: 'listed-hosts',
    maxFileBytes: 1,
    fetchTimeoutSeconds: 1,
  });
  const client = createOutboundClient(guard);
  toClose.push(
    () => receiver.close(),
    () => client.close(),
  );
  const endpointAt = async (port: number) =>
    (await endpointFor(database, 'acc_1', `http://127.0.0.1:${port}/hook`)).id;
  const deliverer = createWebhookDeliverer({
    database,
    bodyOf: async () => '{}',
    client,
    logger: silentLogger,
  });
  /** Attempts refer to the row of their delivery, so it is inserted first. */
  const deliveryTo = async (port: number) => {
    const made = delivery('webhook', await endpointAt(port), 'request.succeeded');
    await database.query(
      `INSERT INTO deliveries (id, kind, destination, object, give_up_at)
       VALUES ($1, $2, $3, $4, now())`,
      [made.id, made.kind, made.destination, made.object],
    );
    return made;
  };
  return {
    deliverer,
    working: await deliveryTo(receiver.port),
    unreachable: await deliveryTo(closedPort),
  };
}

async function openHl7v2(): Promise<Adapter> {
  const server = createTcpServer((socket) => {
    socket.on('data', (bytes) => {
      const control = bytes.toString('utf8').split('|')[9];
      if (control?.length === 20) {
        socket.write(`\x0bMSH|^~\\&|HIS\rMSA|AA|${control}\r\x1c\r`);
      }
    });
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  toClose.push(async () => {
    server.close();
  });
  const at = (name: string, port: number): Hl7v2Destination => ({
    type: 'hl7v2',
    name,
    release: 'at-once',
    host: '127.0.0.1',
    port,
    sendingApplication: 'SONOGATE',
    processingId: 'P',
    characterSet: 'UNICODE UTF-8',
    pdf: false,
    timeoutSeconds: 20,
  });
  const deliverer = createHl7v2Deliverer({
    destinations: [at('his', (server.address() as AddressInfo).port), at('gone', closedPort)],
    results: { result: async () => sampleResult() },
    subjectOf: async (requestId) => sampleSubject(requestId),
    signatureOver: async () => null,
    earlierRequests: async () => [],
    laterRequests: async () => [],
    receivedRevisions: async () => [],
    reportPdf: async () => null,
    dial: ({ host, port }) => dial({ host, port, tls: undefined }),
  });
  return {
    deliverer,
    working: delivery('hl7v2', 'his', 'oru-r01'),
    unreachable: delivery('hl7v2', 'gone', 'oru-r01'),
  };
}

describe.each([
  ['C-STORE', openCStore, 'probed'],
  ['STOW-RS', openStow, 'probed'],
  ['forwarding', openForward, 'probed'],
  ['FHIR', openFhir, 'not probed'],
  ['HL7 v2', openHl7v2, 'probed'],
  ['webhook', openWebhook, 'not probed'],
] as const)('a deliverer by %s', (_name, open, probing) => {
  let adapter: Adapter;
  beforeAll(async () => {
    adapter = await open();
  });

  test('handles one kind of delivery', () => {
    expect(adapter.deliverer.kind).toBe(adapter.working.kind);
  });

  test('reports a delivery that the peer has confirmed', async () => {
    const outcome = await adapter.deliverer.send(adapter.working, ENDLESS);
    expect(outcome).toMatchObject({ outcome: 'delivered', detail: expect.any(String) });
  });

  test('can be repeated, since the response to an attempt may be lost', async () => {
    const again = { ...adapter.working, attempt: 2 };
    expect(await adapter.deliverer.send(again, ENDLESS)).toMatchObject({ outcome: 'delivered' });
  });

  test('reports an unreachable peer as transient, with its class in the catalogue', async () => {
    const outcome = await adapter.deliverer.send(adapter.unreachable, ENDLESS);
    expect(outcome).toMatchObject({ outcome: 'failed', failure: 'transient' });
    if (outcome.outcome === 'failed') {
      expect(catalogueEntry(outcome.code).retry).toBe('transient');
      expect(outcome.detail).not.toBe('');
    }
  });

  test('reports a destination that is no longer configured as permanent', async () => {
    const lost = { ...adapter.working, destination: 'removed' };
    expect(await adapter.deliverer.send(lost, ENDLESS)).toMatchObject({
      outcome: 'failed',
      failure: 'permanent',
      code:
        adapter.deliverer.kind === 'webhook' ? 'webhook_disabled' : 'destination_not_configured',
    });
  });

  test('resolves with a retryable failure when it is canceled', async () => {
    const outcome = await adapter.deliverer.send(adapter.working, AbortSignal.abort());
    expect(outcome.outcome).toBe('failed');
    if (outcome.outcome === 'failed') expect(outcome.failure).not.toBe('permanent');
  });

  test(`has destinations that are ${probing}, and no answer for those of another deliverer`, async () => {
    const { deliverer, working, unreachable } = adapter;
    const asked = [working.destination, unreachable.destination, 'another'];
    const answers = await Promise.all(asked.map((name) => deliverer.probe?.(name, ENDLESS)));
    expect(answers).toEqual(
      probing === 'probed'
        ? [null, 'peer_unreachable', undefined]
        : [undefined, undefined, undefined],
    );
  });
});
