import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import {
  COMMAND,
  encodeCommandSet,
  MAX_COMMAND_BYTES,
  RESPONSE_BIT,
} from '../../../dimse/network/command-set.ts';
import { encodeAssociateAccept, encodeData, PDU } from '../../../dimse/network/pdu.ts';
import { type OutgoingObject, Requestor } from '../../../dimse/network/requestor.ts';
import { EXPLICIT_LITTLE_ENDIAN } from '../../../dimse/sop-classes.ts';
import { ULTRASOUND_IMAGE } from './raw-peer.ts';

const CONTEXT = {
  id: 1,
  abstractSyntax: ULTRASOUND_IMAGE,
  transferSyntaxes: [EXPLICIT_LITTLE_ENDIAN],
};
const OBJECT: OutgoingObject = {
  sopClassUid: ULTRASOUND_IMAGE,
  sopInstanceUid: '1.2.3',
  transferSyntax: EXPLICIT_LITTLE_ENDIAN,
  bytes: 8,
  read: () => [Buffer.alloc(8)],
};

const toClose: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close();
});

/** A PACS that accepts the association and does with an object what it is told. */
async function pacs(onObject: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    toClose.push(() => socket.destroy());
    socket.on('error', () => {});
    let objects = 0;
    socket.on('data', (bytes) => {
      if (bytes[0] === PDU.associateRequest) {
        socket.write(
          encodeAssociateAccept({
            calledAeTitle: 'PACS',
            callingAeTitle: 'SONOGATE',
            applicationContext: '1.2.840.10008.3.1.1.1',
            contexts: [{ id: 1, result: 0, transferSyntax: EXPLICIT_LITTLE_ENDIAN }],
            maxPduBytes: 16_384,
            implementationClassUid: '1.2.3',
            implementationVersion: 'TEST',
          }),
        );
      } else if (bytes[0] === PDU.data && objects++ === 0) onObject(socket);
    });
  });
  toClose.push(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

async function open(port: number, timeoutSeconds: number): Promise<Requestor> {
  const node = { host: '127.0.0.1', port, aeTitle: 'PACS', callingAeTitle: 'SONOGATE' };
  return Requestor.open({ ...node, timeoutSeconds }, [CONTEXT]);
}

const piece = (data: Buffer, { command = true, last = false } = {}) =>
  Buffer.concat(encodeData(CONTEXT.id, data, { command, last }));

function answerTo(messageIdBeingRespondedTo: number): Buffer {
  const commandField = COMMAND.cStore | RESPONSE_BIT;
  return encodeCommandSet({
    commandField,
    hasDataSet: false,
    messageIdBeingRespondedTo,
    status: 0,
  });
}
const RESPONSE = answerTo(1);

/** With an element that nobody knows, to so many bytes. */
function padded(command: Buffer, bytes: number): Buffer {
  const element = Buffer.alloc(bytes - command.length);
  element.writeUInt16LE(0x0fff, 2);
  element.writeUInt32LE(element.length - 8, 4);
  return Buffer.concat([command, element]);
}

const inTwo = (bytes: Buffer) => [
  piece(bytes.subarray(0, 9000)),
  piece(bytes.subarray(9000), { last: true }),
];

describe('the response to a C-STORE', () => {
  test('is taken in as many pieces as it comes', async () => {
    const port = await pacs((socket) => {
      for (const byte of RESPONSE.subarray(0, -1)) socket.write(piece(Buffer.from([byte])));
      socket.write(piece(RESPONSE.subarray(-1), { last: true }));
    });
    const requestor = await open(port, 20);
    expect(await requestor.store(OBJECT)).toEqual({ status: 0, comment: '' });
    requestor.abort();
  });

  test('of 16 KiB is taken', async () => {
    const pieces = inTwo(padded(RESPONSE, MAX_COMMAND_BYTES));
    const requestor = await open(await pacs((socket) => socket.write(Buffer.concat(pieces))), 20);
    expect(await requestor.store(OBJECT)).toMatchObject({ status: 0 });
    requestor.abort();
  });

  test('has the time-out for all its pieces together', async () => {
    const port = await pacs((socket) => {
      const timer = setInterval(() => socket.write(piece(Buffer.alloc(1))), 50);
      toClose.push(() => clearInterval(timer));
    });
    const requestor = await open(port, 0.3);
    await expect(requestor.store(OBJECT)).rejects.toMatchObject({
      code: 'peer_connection_lost',
      detail: 'no answer for 0.3 s',
    });
    expect(requestor.closed).toBe(true);
  });

  test.each([
    ['a byte longer than 16 KiB', inTwo(padded(RESPONSE, MAX_COMMAND_BYTES + 1))],
    ['a data set', [piece(RESPONSE, { command: false, last: true })]],
    ['no command set', [piece(Buffer.alloc(9), { last: true })]],
    ['to another message', [piece(answerTo(2), { last: true })]],
  ])('%s ends the association, and the object may have arrived', async (_what, pieces) => {
    const port = await pacs((socket) => socket.write(Buffer.concat(pieces)));
    const requestor = await open(port, 20);
    await expect(requestor.store(OBJECT)).rejects.toMatchObject({ code: 'peer_connection_lost' });
    expect(requestor.closed).toBe(true);
  });
});
