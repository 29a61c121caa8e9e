import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import {
  COMMAND,
  type CommandSet,
  encodeCommandSet,
  RESPONSE_BIT,
} from '../../../dimse/network/message.ts';
import { encodeAssociateAccept, encodeData, PDU } from '../../../dimse/network/pdu.ts';
import { EXPLICIT_VR_LITTLE_ENDIAN } from '../../../pipelines/dicom/transfer-syntaxes.ts';

const CONTEXT_ID = 1;

export interface RawPacs {
  port: number;
  close(): void;
}

/** Starts a PACS that accepts each association and calls `onObject` on its first message. */
export async function startRawPacs(onObject: (socket: Socket) => void): Promise<RawPacs> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    let messages = 0;
    socket.on('data', (bytes) => {
      if (bytes[0] === PDU.associateRequest) {
        socket.write(
          encodeAssociateAccept({
            calledAeTitle: 'PACS',
            callingAeTitle: 'SONOGATE',
            applicationContext: '1.2.840.10008.3.1.1.1',
            contexts: [{ id: CONTEXT_ID, result: 0, transferSyntax: EXPLICIT_VR_LITTLE_ENDIAN }],
            maxPduBytes: 16_384,
            implementationClassUid: '1.2.3',
            implementationVersion: 'TEST',
          }),
        );
      } else if (bytes[0] === PDU.data && messages++ === 0) onObject(socket);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Encodes a P-DATA-TF with one piece of a message. */
export const piece = (data: Buffer, { command = true, last = false } = {}): Buffer =>
  Buffer.concat(encodeData(CONTEXT_ID, data, { command, last }));

export function storeResponse(over: Partial<CommandSet> = {}): Buffer {
  const commandField = COMMAND.cStore | RESPONSE_BIT;
  const response = { commandField, hasDataSet: false, messageIdBeingRespondedTo: 1, status: 0 };
  return encodeCommandSet({ ...response, ...over });
}
