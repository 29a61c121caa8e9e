import { afterEach, expect, test } from 'vitest';
import { type Listener, listen } from '../../../dimse/network/listener.ts';
import { COMMAND, encodeCommandSet } from '../../../dimse/network/message.ts';
import { encodeData } from '../../../dimse/network/pdu.ts';
import type { AssociationEnd } from '../../../dimse/network/service-ports.ts';
import { STORAGE_COMMITMENT } from '../../../pipelines/dicom/sop-classes.ts';
import { IMPLICIT_VR_LITTLE_ENDIAN } from '../../../pipelines/dicom/transfer-syntaxes.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { associateRequest, RawPeer } from './raw-peer.ts';

const REQUESTS = 60;
/** Together, these responses exceed what the buffers at both ends of a connection can hold. */
const ANSWER = Buffer.alloc(1024 * 1024);
const CONTEXT = 1;

let listener: Listener | null = null;
let peer: RawPeer | null = null;
afterEach(async () => {
  peer?.socket.destroy();
  await listener?.close(0);
});

/**
 * Connects a peer that sends many requests at once, each with a large response, and does not read
 * the responses.
 */
async function unread(idleTimeoutSeconds: number) {
  const seen = { requests: 0, end: null as AssociationEnd | null };
  listener = await listen({
    host: '127.0.0.1',
    port: 0,
    aeTitle: 'SONOGATE',
    maxPduBytes: 32_768,
    maxAssociations: 4,
    offer: () => ({ preferred: [], others: [IMPLICIT_VR_LITTLE_ENDIAN] }),
    admit: () => ({ idleTimeoutSeconds }),
    storage: {
      open: () => Promise.reject(new Error('no object comes')),
      ended: async (_, end) => {
        seen.end = end;
      },
    },
    normalized: async () => {
      seen.requests += 1;
      return {
        status: 0,
        report: { eventTypeId: 1, dataSet: ANSWER, acknowledged: async () => {} },
      };
    },
    logger: silentLogger,
    artimMilliseconds: 200,
  });
  peer = new RawPeer(listener.port);
  const context = {
    id: CONTEXT,
    abstractSyntax: STORAGE_COMMITMENT,
    transferSyntaxes: [IMPLICIT_VR_LITTLE_ENDIAN],
  };
  await peer.associate(associateRequest({ contexts: [context] }));
  peer.socket.pause();
  const requests = Array.from({ length: REQUESTS }, (_, n) => action(n + 1));
  peer.send(...requests);
  return { seen, socket: peer.socket };
}

function action(messageId: number): Buffer {
  const command = encodeCommandSet({
    commandField: COMMAND.nAction,
    hasDataSet: false,
    messageId,
    requestedSopClassUid: STORAGE_COMMITMENT,
    requestedSopInstanceUid: '1.2.3',
    actionTypeId: 1,
  });
  return Buffer.concat(encodeData(CONTEXT, command, { command: true, last: true }));
}

test('a peer that does not read our responses is no longer read, and is aborted when it stays idle', async () => {
  const { seen } = await unread(0.5);
  await expect.poll(() => seen.end, { timeout: 10_000 }).toBe('aborted');
  expect(seen.requests).toBeGreaterThan(0);
  expect(seen.requests).toBeLessThan(REQUESTS - 10);
});

test('a peer that reads our responses later receives all of them', async () => {
  const { seen, socket } = await unread(60);
  await expect.poll(() => seen.requests).toBeGreaterThan(0);
  socket.resume();
  await expect.poll(() => seen.requests, { timeout: 10_000 }).toBe(REQUESTS);
  expect(seen.end).toBeNull();
});
