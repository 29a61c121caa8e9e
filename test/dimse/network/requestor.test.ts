import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { MAX_COMMAND_BYTES } from '../../../dimse/network/message.ts';
import { Requestor } from '../../../dimse/network/requestor.ts';
import type { OutgoingObject } from '../../../dimse/network/service-ports.ts';
import { EXPLICIT_VR_LITTLE_ENDIAN } from '../../../pipelines/dicom/transfer-syntaxes.ts';
import { piece, startRawPacs, storeResponse } from './raw-pacs.ts';
import { ULTRASOUND_IMAGE } from './raw-peer.ts';

const CONTEXT = {
  id: 1,
  abstractSyntax: ULTRASOUND_IMAGE,
  transferSyntaxes: [EXPLICIT_VR_LITTLE_ENDIAN],
};
const OBJECT: OutgoingObject = {
  sopClassUid: ULTRASOUND_IMAGE,
  sopInstanceUid: '1.2.3',
  transferSyntax: EXPLICIT_VR_LITTLE_ENDIAN,
  bytes: 8,
  read: () => [Buffer.alloc(8)],
};

const toClose: (() => void)[] = [];
afterEach(() => {
  for (const close of toClose.splice(0)) close();
});

async function pacs(onObject: (socket: Socket) => void): Promise<number> {
  const { port, close } = await startRawPacs(onObject);
  toClose.push(close);
  return port;
}

async function open(port: number, timeoutSeconds: number): Promise<Requestor> {
  const node = { host: '127.0.0.1', port, aeTitle: 'PACS', callingAeTitle: 'SONOGATE' };
  return Requestor.open({ ...node, timeoutSeconds }, [CONTEXT]);
}

const RESPONSE = storeResponse();

/** Pads the command set with an unknown element to the given number of bytes. */
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
  test('is accepted in however many pieces it arrives', async () => {
    const port = await pacs((socket) => {
      for (const byte of RESPONSE.subarray(0, -1)) socket.write(piece(Buffer.from([byte])));
      socket.write(piece(RESPONSE.subarray(-1), { last: true }));
    });
    const requestor = await open(port, 20);
    expect(await requestor.store(OBJECT)).toEqual({ status: 0, comment: '' });
    requestor.abort();
  });

  test('of 16 KiB is accepted', async () => {
    const pieces = inTwo(padded(RESPONSE, MAX_COMMAND_BYTES));
    const requestor = await open(await pacs((socket) => socket.write(Buffer.concat(pieces))), 20);
    expect(await requestor.store(OBJECT)).toMatchObject({ status: 0 });
    requestor.abort();
  });

  test('has one time-out for all its pieces together', async () => {
    const port = await pacs((socket) => {
      const timer = setInterval(() => socket.write(piece(Buffer.alloc(1))), 50);
      toClose.push(() => clearInterval(timer));
    });
    const requestor = await open(port, 0.3);
    await expect(requestor.store(OBJECT)).rejects.toMatchObject({
      code: 'peer_connection_lost',
      detail: 'no response for 0.3 s',
    });
    expect(requestor.closed).toBe(true);
  });

  test.each([
    ['a byte longer than 16 KiB', inTwo(padded(RESPONSE, MAX_COMMAND_BYTES + 1))],
    ['a data set', [piece(RESPONSE, { command: false, last: true })]],
    ['no command set', [piece(Buffer.alloc(9), { last: true })]],
    ['no status', [piece(storeResponse({ status: undefined }), { last: true })]],
    [
      'to another message',
      [piece(storeResponse({ messageIdBeingRespondedTo: 2 }), { last: true })],
    ],
  ])('%s ends the association, and the object may have arrived', async (_what, pieces) => {
    const port = await pacs((socket) => socket.write(Buffer.concat(pieces)));
    const requestor = await open(port, 20);
    await expect(requestor.store(OBJECT)).rejects.toMatchObject({ code: 'peer_connection_lost' });
    expect(requestor.closed).toBe(true);
  });
});

test.each([
  [{}, true],
  [{ sopClassUid: '1.2.840.10008.5.1.4.1.1.3.1' }, false],
  [{ transferSyntax: '1.2.840.10008.1.2' }, false],
])('an object with %j can be sent: %s', async (changes, expected) => {
  const requestor = await open(await pacs(() => {}), 20);
  expect(requestor.accepts({ ...OBJECT, ...changes })).toBe(expected);
  requestor.abort();
});
