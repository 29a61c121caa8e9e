import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { DicomDestination } from '../../../config/schema.ts';
import { type ListenerOptions, listen } from '../../../dimse/network/listener.ts';
import type { StorageService } from '../../../dimse/network/service-ports.ts';
import { AssociationPool } from '../../../dimse/send/association-pool.ts';
import { createDicomDeliverer } from '../../../dimse/send/deliver.ts';
import { cStoreTransport } from '../../../dimse/send/store-scu.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { startPacs } from '../../../src/app/simulate/pacs.ts';
import type { SendOutcome } from '../../../src/core/outbox/delivery.ts';
import { type ErrorCode, SonogateError } from '../../../src/platform/errors/catalogue.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { ClientCertificates } from '../../../src/platform/tls/client-files.ts';
import { sampleResult } from '../../fhir/sample.ts';
import { freePort } from '../../peers/free-port.ts';
import { dataSet, dicomFile } from '../dicom-file.ts';

const FILE = dicomFile({ sopInstanceUid: '1.2.3.4' });
const toClose: (() => Promise<unknown>)[] = [];
let closedPort = 0;

beforeAll(async () => {
  closedPort = await freePort();
});
afterEach(async () => {
  for (const close of toClose.splice(0)) await close();
});

function deliver(
  port: number,
  {
    object = 'sr-tid1500',
    objects = [[FILE]],
    timeoutSeconds = 5,
    signal = new AbortController().signal,
    result = sampleResult(),
    onResult = () => {},
  }: {
    object?: string;
    objects?: Buffer[][];
    timeoutSeconds?: number;
    signal?: AbortSignal;
    /** The stored result. */
    result?: unknown;
    onResult?: (result: Result) => void;
  } = {},
): Promise<SendOutcome> {
  const destination: DicomDestination = {
    type: 'dicom',
    release: 'at-once',
    name: 'pacs',
    host: '127.0.0.1',
    port,
    aeTitle: 'PACS',
    objects: ['sr-tid1500'],
    measurementSopClass: 'auto',
    segmentation: 'binary',
    rejectionNotes: false,
    storageCommitment: false,
    timeoutSeconds,
    associationIdleSeconds: 0,
  };
  const transport = cStoreTransport(destination, 'SONOGATE', {
    associations: new AssociationPool(0),
    certificates: new ClientCertificates(),
  });
  const deliverer = createDicomDeliverer({
    destinations: [destination],
    transports: new Map([['pacs', transport]]),
    results: { result: async () => result, artifactPath: async () => null },
    subject: async (requestId) => ({ requestId, identity: null, instances: [], dating: null }),
    builders: {
      'sr-tid1500': (source) => {
        onResult(source.result);
        return objects;
      },
    },
  });
  const delivery = {
    id: 'd',
    requestId: 'r',
    destination: 'pacs',
    object,
    resultRevision: 0,
    attempt: 1,
  };
  return deliverer.send({ ...delivery, kind: 'dicom' }, signal);
}

async function pacs(over: Partial<ListenerOptions> = {}): Promise<number> {
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    aeTitle: 'PACS',
    maxPduBytes: 16_384,
    maxAssociations: 4,
    offer: () => ({ preferred: [], others: ['1.2.840.10008.1.2.1'] }),
    admit: () => ({ idleTimeoutSeconds: 60 }),
    storage: refusing(null),
    logger: silentLogger,
    ...over,
  });
  toClose.push(() => listener.close(0));
  return listener.port;
}

function refusing(code: ErrorCode | null): StorageService {
  return {
    open: async () => ({
      write: async () => {},
      commit: async () => {
        if (code) throw new SonogateError(code);
      },
      discard: async () => {},
    }),
    ended: async () => {},
  };
}

async function rogue(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onSocket(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  toClose.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

test("an object is delivered byte for byte, with the peer's status", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-receiver-'));
  const receiver = await startPacs({ folder, host: '127.0.0.1', port: 0 });
  toClose.push(
    () => receiver.close(),
    () => rm(folder, { recursive: true }),
  );
  expect(await deliver(receiver.port)).toMatchObject({
    outcome: 'delivered',
    detail: 'status 0000H',
    objects: [{ sopInstanceUid: '1.2.3.4' }],
    commits: false,
  });
  const stored = await readFile(join(folder, '1.2.3.4.dcm'));
  const sent = dataSet({ sopInstanceUid: '1.2.3.4' });
  expect(stored.subarray(-sent.length).equals(sent)).toBe(true);
});

describe('a stored result', () => {
  test('of an older version is built with the values that later versions added', async () => {
    const current = sampleResult();
    const measurements = current.measurements.map(({ origin, standing, remarks, ...old }) => old);
    const { evidence_accepted, ...older } = { ...current, measurements };
    const built: Result[] = [];
    const onResult = (result: Result) => void built.push(result);
    expect(await deliver(await pacs(), { result: older, onResult })).toMatchObject({
      outcome: 'delivered',
    });
    expect(built).toMatchObject([
      {
        evidence_accepted: 'real',
        measurements: current.measurements.map(() => ({ standing: 'counts', origin: 'image' })),
      },
    ]);
  });

  test('with a field that this version does not know is refused with what to do', async () => {
    const result = { ...sampleResult(), later: true };
    const sent = deliver(await pacs(), { result });
    await expect(sent).rejects.toMatchObject({
      code: 'result_format_unknown',
      detail: 'This version cannot read the stored result (the top level).',
    });
  });
});

describe('an object in several forms', () => {
  const form = (sopClassUid: string, sopInstanceUid: string) =>
    dicomFile({ sopClassUid, sopInstanceUid });
  const forms = [form('1.2.3.34', '1.34'), form('1.2.3.33', '1.33')];

  async function taken(accepted: readonly string[]): Promise<string[]> {
    const stored: string[] = [];
    const port = await pacs({
      offer: (sopClass) =>
        accepted.includes(sopClass) ? { preferred: [], others: ['1.2.840.10008.1.2.1'] } : null,
      storage: {
        ...refusing(null),
        open: async ({ sopInstanceUid }) => {
          stored.push(sopInstanceUid);
          return { write: async () => {}, commit: async () => {}, discard: async () => {} };
        },
      },
    });
    await deliver(port, { objects: [forms] });
    return stored;
  }

  test.each([
    ['both', ['1.2.3.34', '1.2.3.33'], ['1.34']],
    ['the second alone', ['1.2.3.33'], ['1.33']],
    ['neither', [], []],
  ])('is offered to a peer that accepts %s', async (_name, accepted, stored) => {
    expect(await taken(accepted)).toEqual(stored);
  });

  test('several objects are one delivery, which fails with the first object that fails', async () => {
    const objects = [[form('1.2.3.33', '1.1')], [form('1.2.3.99', '1.2')]];
    const offer: ListenerOptions['offer'] = (sopClass) =>
      sopClass === '1.2.3.33' ? { preferred: [], others: ['1.2.840.10008.1.2.1'] } : null;
    expect(await deliver(await pacs({ offer }), { objects })).toMatchObject({
      outcome: 'failed',
      code: 'presentation_context_refused',
    });
    expect(await deliver(await pacs(), { objects })).toMatchObject({
      outcome: 'delivered',
      detail: '2 objects, status 0000H',
    });
  });

  test('a result that contains no object of this kind counts as delivered, with the reason', async () => {
    expect(await deliver(closedPort, { objects: [] })).toEqual({
      outcome: 'delivered',
      detail: 'Nothing was sent: the result has no object of this kind.',
      notSent: true,
    });
  });
});

describe('a failed delivery', () => {
  test('to a peer that does not listen is retried', async () => {
    expect(await deliver(closedPort)).toMatchObject({
      failure: 'transient',
      code: 'peer_unreachable',
      detail: expect.stringMatching(/^connect ECONNREFUSED/),
    });
  });

  test('to a peer that rejects the association states result, source and reason', async () => {
    const port = await pacs({ aeTitle: 'OTHER' });
    const outcome = await deliver(port);
    expect(outcome).toMatchObject({ failure: 'transient', code: 'peer_rejected_association' });
    expect(outcome.detail).toContain('called AE title not recognized (1/1/7)');
  });

  test('to a peer without the SOP class is left to a person', async () => {
    const port = await pacs({ offer: () => null });
    expect(await deliver(port)).toMatchObject({
      failure: 'permanent',
      code: 'presentation_context_refused',
    });
  });

  test.each([
    ['overloaded', 'A700H', 'transient', 'peer_out_of_resources'],
    ['object_mismatch', 'A900H', 'permanent', 'peer_refused_object'],
    ['object_not_understood', 'C000H', 'permanent', 'peer_refused_object'],
  ] as const)('%s: status %s is %s', async (reason, status, failure, code) => {
    const outcome = await deliver(await pacs({ storage: refusing(reason) }));
    expect(outcome).toMatchObject({ failure, code });
    expect(outcome.detail).toContain(status);
  });

  test('whose connection is lost after the object was sent may have arrived', async () => {
    const port = await pacs({
      storage: {
        ...refusing(null),
        open: async () => ({
          write: async () => {},
          // Never answers, like a peer that crashed at this point.
          commit: () => new Promise(() => {}),
          discard: async () => {},
        }),
      },
    });
    expect(await deliver(port, { timeoutSeconds: 2 })).toMatchObject({
      failure: 'ambiguous',
      code: 'peer_connection_lost',
    });
  });

  test('to a peer that accepts the connection but stays silent ends with its time-out', async () => {
    const port = await rogue(() => {});
    expect(await deliver(port, { timeoutSeconds: 0.2 })).toMatchObject({
      failure: 'transient',
      code: 'peer_unreachable',
    });
  });

  test('to a peer that speaks HTTP does not crash', async () => {
    const port = await rogue((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await deliver(port)).toMatchObject({ outcome: 'failed', code: 'not_dicom' });
  });

  test('ends when it is canceled', async () => {
    const port = await rogue(() => {});
    const canceled = AbortSignal.timeout(100);
    expect(await deliver(port, { signal: canceled })).toMatchObject({ outcome: 'failed' });
  });

  test('of an object that cannot be created is left to a person', async () => {
    expect(await deliver(closedPort, { object: 'seg' })).toMatchObject({
      failure: 'permanent',
      code: 'invalid_config',
    });
  });
});
