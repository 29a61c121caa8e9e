import { afterEach, describe, expect, test } from 'vitest';
import { type Listener, type ListenerOptions, listen } from '../../../dimse/network/listener.ts';
import { encodeCommandSet } from '../../../dimse/network/message.ts';
import {
  decodeAssociateAccept,
  encodeAbort,
  encodeData,
  encodeReleaseRequest,
  PDU,
} from '../../../dimse/network/pdu.ts';
import type { StorageService } from '../../../dimse/network/service-ports.ts';
import { VERIFICATION } from '../../../pipelines/dicom/sop-classes.ts';
import { IMPLICIT_VR_LITTLE_ENDIAN } from '../../../pipelines/dicom/transfer-syntaxes.ts';
import { SonogateError } from '../../../src/platform/errors/catalogue.ts';
import { createLogger, silentLogger } from '../../../src/platform/logging/logger.ts';
import {
  associateRequest,
  dataPdu,
  IMAGE_CONTEXT,
  RawPeer,
  statusOf,
  storeCommand,
  VERIFICATION_CONTEXT,
} from './raw-peer.ts';

const MAX_PDU_BYTES = 32_768;

const open: { listeners: Listener[]; peers: RawPeer[] } = { listeners: [], peers: [] };

afterEach(async () => {
  for (const peer of open.peers.splice(0)) peer.socket.destroy();
  for (const listener of open.listeners.splice(0)) await listener.close(0);
});

/** Keeps objects in memory, waiting `delay` milliseconds at each write. */
function memoryStorage({ delay = 0 } = {}) {
  const objects = new Map<string, Buffer>();
  const log: string[] = [];
  const storage: StorageService = {
    async open({ sopInstanceUid }) {
      const parts: Buffer[] = [];
      return {
        async write(bytes) {
          const copy = Buffer.from(bytes);
          if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
          parts.push(copy);
        },
        async commit() {
          objects.set(sopInstanceUid, Buffer.concat(parts));
        },
        async discard() {
          log.push(`discarded ${sopInstanceUid}`);
        },
      };
    },
    async ended(_peer, end) {
      log.push(end);
    },
  };
  return { objects, log, storage };
}

async function start(over: Partial<ListenerOptions> = {}): Promise<number> {
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    aeTitle: 'SONOGATE',
    maxPduBytes: MAX_PDU_BYTES,
    maxAssociations: 4,
    offer: () => ({ preferred: [], others: ['1.2.840.10008.1.2.1', '1.2.840.10008.1.2'] }),
    admit: ({ callingAeTitle }) =>
      callingAeTitle === 'CART'
        ? { idleTimeoutSeconds: 60 }
        : { refused: 'calling_ae_not_recognized' },
    storage: memoryStorage().storage,
    logger: silentLogger,
    ...over,
  });
  open.listeners.push(listener);
  return listener.port;
}

function connect(port: number): RawPeer {
  const peer = new RawPeer(port);
  open.peers.push(peer);
  return peer;
}

const ABORT = (reason: number) => encodeAbort({ source: 2, reason });

describe('an association', () => {
  test('is accepted with our own maximum PDU, whatever the peer announces', async () => {
    const port = await start();
    for (const maxPduBytes of [0, 4096, 0xffffffff]) {
      const answer = await connect(port).associate(associateRequest({ maxPduBytes }));
      expect(answer?.[0]).toBe(PDU.associateAccept);
      expect(decodeAssociateAccept(answer?.subarray(6) ?? Buffer.alloc(0)).maxPduBytes).toBe(
        MAX_PDU_BYTES,
      );
    }
  });

  test('is accepted with the reserved bytes of the request (PS3.8 table 9-17)', async () => {
    const request = associateRequest();
    request.fill('reserved', 42, 74);
    const answer = await connect(await start()).associate(request);
    expect(answer?.subarray(10, 74)).toEqual(request.subarray(10, 74));
  });

  test('of version 2 of the protocol alone is rejected (PS3.8 table 9-21)', async () => {
    const request = associateRequest();
    request.writeUInt16BE(2, 6);
    const answer = await connect(await start()).associate(request);
    expect(answer?.[0]).toBe(PDU.associateReject);
    expect([...(answer?.subarray(7, 10) ?? [])]).toEqual([1, 2, 2]);
  });

  test('that is aborted before it is requested ends without a response (AA-2)', async () => {
    expect(
      await connect(await start()).associate(encodeAbort({ source: 0, reason: 0 })),
    ).toBeNull();
  });

  test.each([
    ['an unknown calling AE title', { callingAeTitle: 'STRANGER' }, [1, 1, 3]],
    ['another called AE title', { calledAeTitle: 'OTHER' }, [1, 1, 7]],
    ['another application context', { applicationContext: '1.2.3' }, [1, 1, 2]],
  ])('with %s is rejected with the reason', async (_what, over, reason) => {
    const answer = await connect(await start()).associate(associateRequest(over));
    expect(answer?.[0]).toBe(PDU.associateReject);
    expect([...(answer?.subarray(7, 10) ?? [])]).toEqual(reason);
  });

  test('that is rejected is logged with both AE titles', async () => {
    const lines: string[] = [];
    const logger = createLogger('warn', { write: (line) => lines.push(line) });
    await connect(await start({ logger })).associate(
      associateRequest({ calledAeTitle: 'SONGATE' }),
    );
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      event: 'association_rejected',
      callingAeTitle: 'CART',
      calledAeTitle: 'SONGATE',
    });
  });

  test('over the limit is rejected as a local limit, and accepted once another has ended', async () => {
    const port = await start({ maxAssociations: 1 });
    const first = connect(port);
    await first.associate();
    const refused = await connect(port).associate();
    expect([...(refused?.subarray(7, 10) ?? [])]).toEqual([2, 3, 2]);
    first.send(encodeReleaseRequest());
    expect((await first.next())?.[0]).toBe(PDU.releaseResponse);
    await first.next();
    expect((await retryAssociation(port))?.[0]).toBe(PDU.associateAccept);
  });

  test('is aborted when the peer is silent for its idle timeout', async () => {
    const peer = connect(await start({ admit: () => ({ idleTimeoutSeconds: 0.2 }) }));
    await peer.associate();
    expect(await peer.next()).toEqual(ABORT(0));
    expect(await peer.next()).toBeNull();
  });

  test('that the peer aborts is closed by us', async () => {
    const peer = connect(await start());
    await peer.associate();
    peer.send(encodeAbort({ source: 0, reason: 0 }));
    expect(await peer.next()).toBeNull();
  });

  test('is ended with A-ABORT, not just by closing the connection, when the listener closes', async () => {
    const port = await start();
    const peer = connect(port);
    await peer.associate();
    await open.listeners.pop()?.close(5);
    expect((await peer.next())?.[0]).toBe(PDU.abort);
  });
});

/** A closed connection frees its place only a moment after its last PDU. */
async function retryAssociation(port: number): Promise<Buffer | null> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const answer = await connect(port).associate();
    if (answer?.[0] === PDU.associateAccept) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return null;
}

describe('bad input', () => {
  const GIBIBYTES_2 = Buffer.from([PDU.associateRequest, 0, 0x7f, 0xff, 0xff, 0xff]);

  const verification = (id: number) => ({
    id,
    abstractSyntax: VERIFICATION,
    transferSyntaxes: [IMPLICIT_VR_LITTLE_ENDIAN],
  });
  const requestWith = (...ids: number[]) => associateRequest({ contexts: ids.map(verification) });

  test.each([
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['data', Buffer.from([4, 0, 0, 0, 0, 10, 0, 0, 0, 6, 1, 3])],
    ['an A-ASSOCIATE-RQ that announces 2 GiB', GIBIBYTES_2],
    [
      'an A-ASSOCIATE-RQ with a cut item',
      Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 70]), Buffer.alloc(68), Buffer.from([0x10, 0])]),
    ],
    ['an A-ASSOCIATE-RQ with two contexts of the same id', requestWith(1, 3, 1)],
    ['an A-ASSOCIATE-RQ with an even context id', requestWith(1, 2)],
  ])('%s before an association is aborted by the service user (AA-1)', async (_what, bytes) => {
    const peer = connect(await start());
    peer.send(bytes);
    expect(await peer.next()).toEqual(encodeAbort({ source: 0, reason: 0 }));
    expect(await peer.next()).toBeNull();
  });

  test('a 2 GiB PDU uses no memory, because nothing after its header is kept', async () => {
    const peer = connect(await start());
    await peer.associate();
    const before = process.memoryUsage().arrayBuffers;
    peer.send(Buffer.from([PDU.data, 0, 0x7f, 0xff, 0xff, 0xff]));
    expect(await peer.next()).toEqual(ABORT(6));
    expect(await peer.next()).toBeNull();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * 1024 * 1024);
  });

  test('a connection closed in the middle of an object discards it and affects no other connection', async () => {
    const memory = memoryStorage();
    const port = await start({ storage: memory.storage });
    const other = connect(port);
    await other.associate();
    const peer = connect(port);
    await peer.associate();
    peer.send(storeCommand('1.2.3'), dataPdu([Buffer.alloc(100)], false), Buffer.from([4, 0, 0]));
    peer.socket.end();
    await expect.poll(() => memory.log).toEqual(['discarded 1.2.3', 'aborted']);
    expect(memory.objects.size).toBe(0);
    other.send(storeCommand('1.2.4'), dataPdu([Buffer.from('whole')], true));
    expect(statusOf(await other.next())).toBe(0);
  });

  test.each([
    ['data without a command', dataPdu([Buffer.alloc(4)], true)],
    ['a second A-ASSOCIATE-RQ', associateRequest()],
    ['a release inside an object', Buffer.concat([storeCommand('1.2'), encodeReleaseRequest()])],
    ['a command inside a data set', Buffer.concat([storeCommand('1.2'), storeCommand('1.3')])],
  ])('%s aborts the association', async (_what, bytes) => {
    const peer = connect(await start());
    await peer.associate();
    peer.send(bytes);
    expect(await peer.next()).toEqual(ABORT(2));
  });
});

describe('C-STORE', () => {
  test('keeps every byte in order even with several values in a PDU and a slow sink', async () => {
    // In this case, dcmjs-dimse 0.3.3 loses the second value of each PDU but still returns success.
    const memory = memoryStorage({ delay: 1 });
    const peer = connect(await start({ storage: memory.storage }));
    await peer.associate();
    const values = Array.from({ length: 200 }, (_, index) => Buffer.alloc(3000, index));
    peer.send(storeCommand('1.2.3'));
    for (let at = 0; at < values.length; at += 4) {
      peer.send(dataPdu(values.slice(at, at + 4), at + 4 === values.length));
    }
    expect(statusOf(await peer.next())).toBe(0);
    expect(memory.objects.get('1.2.3')?.equals(Buffer.concat(values))).toBe(true);
  });

  test('of a class that was not negotiated for the context is answered with 0122H', async () => {
    const peer = connect(await start());
    await peer.associate();
    peer.send(storeCommand('1.2.3', { sopClassUid: '1.2.840.10008.5.1.4.1.1.2' }));
    peer.send(dataPdu([Buffer.alloc(10)], true));
    expect(statusOf(await peer.next())).toBe(0x0122);
  });

  test('that fails while being written is read to its end and answered, and the next one is accepted', async () => {
    const memory = memoryStorage();
    let opened = 0;
    const storage: StorageService = {
      ...memory.storage,
      async open(object, peer) {
        const sink = await memory.storage.open(object, peer);
        opened += 1;
        if (opened > 1) return sink;
        return {
          ...sink,
          async write() {
            throw new SonogateError('object_too_large');
          },
        };
      },
    };
    const peer = connect(await start({ storage }));
    await peer.associate();
    for (const uid of ['1.1', '1.2']) {
      peer.send(
        storeCommand(uid),
        dataPdu([Buffer.alloc(9)], false),
        dataPdu([Buffer.alloc(9)], true),
      );
    }
    expect(statusOf(await peer.next())).toBe(0xa700);
    expect(statusOf(await peer.next())).toBe(0);
    expect(memory.log).toEqual(['discarded 1.1']);
  });
});

test('an unsupported operation is answered with 0211H, and its data set is skipped', async () => {
  const peer = connect(await start());
  await peer.associate();
  const find = encodeCommandSet({ commandField: 0x0020, hasDataSet: true, messageId: 1 });
  peer.send(...encodeData(IMAGE_CONTEXT, find, { command: true, last: true }));
  peer.send(dataPdu([Buffer.alloc(64)], true));
  expect(statusOf(await peer.next())).toBe(0x0211);
  const echo = encodeCommandSet({ commandField: 0x0030, hasDataSet: false, messageId: 2 });
  peer.send(...encodeData(VERIFICATION_CONTEXT, echo, { command: true, last: true }));
  expect(statusOf(await peer.next())).toBe(0);
});
