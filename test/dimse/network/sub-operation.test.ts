import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { CallingAssociation } from '../../../dimse/network/calling-association.ts';
import { DimseProvider } from '../../../dimse/network/dimse-provider.ts';
import { type Listener, listen } from '../../../dimse/network/listener.ts';
import {
  COMMAND,
  decodeCommandSet,
  encodeCommandSet,
  responseTo,
} from '../../../dimse/network/message.ts';
import { QUERY_RETRIEVE } from '../../../pipelines/dicom/sop-classes.ts';
import { IMPLICIT_VR_LITTLE_ENDIAN } from '../../../pipelines/dicom/transfer-syntaxes.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';

const US_IMAGE = '1.2.840.10008.5.1.4.1.1.6.1';

let listener: Listener | null = null;
let association: CallingAssociation | null = null;
afterEach(async () => {
  association?.abort();
  await listener?.close(0);
});

const LISTENER = {
  host: '127.0.0.1',
  port: 0,
  aeTitle: 'SONOGATE',
  maxPduBytes: 32_768,
  maxAssociations: 4,
  offer: () => ({ preferred: [], others: [IMPLICIT_VR_LITTLE_ENDIAN] }),
  storage: {
    open: () => Promise.reject(new Error('no object comes')),
    ended: async () => {},
  },
  logger: silentLogger,
};

const open = (port: number) =>
  CallingAssociation.open(
    { host: '127.0.0.1', port, aeTitle: 'SONOGATE', callingAeTitle: 'VIEWER', timeoutSeconds: 5 },
    [QUERY_RETRIEVE.studyRootGet, US_IMAGE].map((abstractSyntax, n) => ({
      id: 2 * n + 1,
      abstractSyntax,
      transferSyntaxes: [IMPLICIT_VR_LITTLE_ENDIAN],
    })),
    undefined,
    [{ sopClassUid: US_IMAGE, scu: false, scp: true }],
  );

async function get(asking: CallingAssociation): Promise<void> {
  await asking.sendCommand(1, {
    commandField: COMMAND.cGet,
    hasDataSet: true,
    affectedSopClassUid: QUERY_RETRIEVE.studyRootGet,
    priority: 0,
  });
  await asking.sendDataSet(1, Buffer.alloc(8));
}

test('a peer is not idle while its retrieval is carried out, however long that takes', async () => {
  listener = await listen({
    ...LISTENER,
    admit: () => ({ idleTimeoutSeconds: 0.2 }),
    async *query() {
      await sleep(1000);
      yield { status: 0 };
    },
  });
  association = await open(listener.port);
  await get(association);
  expect(await association.nextPart()).toMatchObject({ command: { status: 0 } });
});

test('a peer that does not answer a sub-operation of its C-GET is idle', async () => {
  listener = await listen({
    ...LISTENER,
    admit: () => ({ idleTimeoutSeconds: 0.2 }),
    async *query(_request, _peer, { store }) {
      const status = await store({
        sopClassUid: US_IMAGE,
        sopInstanceUid: '1.2.3',
        transferSyntax: IMPLICIT_VR_LITTLE_ENDIAN,
        bytes: 2,
        read: () => [Buffer.alloc(2)],
      });
      yield { status: status ?? 0xa702 };
    },
  });
  association = await open(listener.port);
  await get(association);
  expect(await association.nextPart()).toMatchObject({ command: { commandField: COMMAND.cStore } });
  expect(await association.nextPart()).toMatchObject({ kind: 'data' });
  await expect(association.nextPart()).rejects.toThrow();
});

test('the message ids of sub-operations begin again after 65535', async () => {
  const ids: number[] = [];
  const statuses: number[] = [];
  const accepted = { abstractSyntax: US_IMAGE, transferSyntax: IMPLICIT_VR_LITTLE_ENDIAN };
  const provider: DimseProvider = new DimseProvider({
    contexts: new Map([[1, accepted]]),
    receiving: new Set([US_IMAGE]),
    peer: { id: 'a', callingAeTitle: 'VIEWER', calledAeTitle: 'SONOGATE', address: '::1' },
    storage: null,
    normalized: null,
    async *query(_request, _peer, { store }) {
      for (let object = 0; object <= 0xffff; object += 1) {
        await store({
          sopClassUid: US_IMAGE,
          sopInstanceUid: '1.2.3',
          transferSyntax: IMPLICIT_VR_LITTLE_ENDIAN,
          bytes: 0,
          read: () => [],
        });
      }
      yield { status: 0 };
    },
    async sendObject(contextId, command) {
      const { messageId = 0 } = decodeCommandSet(encodeCommandSet(command));
      ids.push(messageId);
      const answer = { ...responseTo(command, 0), messageIdBeingRespondedTo: messageId };
      await provider.take({ kind: 'command', contextId, command: answer });
    },
    send: (_contextId, { status = -1 }) => {
      statuses.push(status);
    },
    log: () => {},
  });
  const asked = { commandField: COMMAND.cGet, hasDataSet: false, messageId: 1 };
  await provider.take({ kind: 'command', contextId: 1, command: asked });
  await expect.poll(() => statuses).toEqual([0]);
  expect(ids.slice(-2)).toEqual([65_535, 1]);
});

test('C-GET aborts the association if an object can no longer be read while it is being sent', async () => {
  listener = await listen({
    ...LISTENER,
    admit: () => ({ idleTimeoutSeconds: 30 }),
    async *query(_request, _peer, { store }) {
      const status = await store({
        sopClassUid: US_IMAGE,
        sopInstanceUid: '1.2.3',
        transferSyntax: IMPLICIT_VR_LITTLE_ENDIAN,
        bytes: 100,
        // biome-ignore lint/correctness/useYield: the first read of the disk fails.
        async *read() {
          throw new Error('EIO');
        },
      });
      yield { status: status ?? 0 };
    },
  });
  association = await open(listener.port);
  await get(association);
  expect(await association.nextPart()).toMatchObject({ command: { commandField: COMMAND.cStore } });
  await expect(association.nextPart()).rejects.toThrow('The peer released the association.');
});
