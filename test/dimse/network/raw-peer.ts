import { connect, type Socket } from 'node:net';
import { encodeCommandSet } from '../../../dimse/network/message.ts';
import {
  type AssociateRequest,
  DICOM_APPLICATION_CONTEXT,
  encodeAssociateRequest,
  encodeData,
} from '../../../dimse/network/pdu.ts';
import { VERIFICATION } from '../../../pipelines/dicom/sop-classes.ts';
import {
  EXPLICIT_VR_LITTLE_ENDIAN,
  IMPLICIT_VR_LITTLE_ENDIAN,
} from '../../../pipelines/dicom/transfer-syntaxes.ts';

export const ULTRASOUND_IMAGE = '1.2.840.10008.5.1.4.1.1.6.1';
export const VERIFICATION_CONTEXT = 1;
export const IMAGE_CONTEXT = 3;

/** Encodes an A-ASSOCIATE-RQ that proposes Verification and native ultrasound images. */
export function associateRequest(over: Partial<AssociateRequest> = {}): Buffer {
  return encodeAssociateRequest({
    calledAeTitle: 'SONOGATE',
    callingAeTitle: 'CART',
    applicationContext: DICOM_APPLICATION_CONTEXT,
    maxPduBytes: 16_384,
    implementationClassUid: '1.2.3',
    implementationVersion: 'TEST',
    contexts: [
      {
        id: VERIFICATION_CONTEXT,
        abstractSyntax: VERIFICATION,
        transferSyntaxes: [IMPLICIT_VR_LITTLE_ENDIAN],
      },
      {
        id: IMAGE_CONTEXT,
        abstractSyntax: ULTRASOUND_IMAGE,
        transferSyntaxes: [EXPLICIT_VR_LITTLE_ENDIAN],
      },
    ],
    ...over,
  });
}

export function storeCommand(
  sopInstanceUid: string,
  { messageId = 1, sopClassUid = ULTRASOUND_IMAGE } = {},
): Buffer {
  const command = encodeCommandSet({
    commandField: 0x0001,
    hasDataSet: true,
    messageId,
    priority: 0,
    affectedSopClassUid: sopClassUid,
    affectedSopInstanceUid: sopInstanceUid,
  });
  return Buffer.concat(encodeData(IMAGE_CONTEXT, command, { command: true, last: true }));
}

/** Encodes one P-DATA-TF that contains several presentation data values of a data set. */
export function dataPdu(values: readonly Buffer[], lastOfDataSet: boolean): Buffer {
  const bodies = values.map((value, index) => {
    const last = lastOfDataSet && index === values.length - 1;
    const pdu = Buffer.concat(encodeData(IMAGE_CONTEXT, value, { command: false, last }));
    return pdu.subarray(6);
  });
  const body = Buffer.concat(bodies);
  const header = Buffer.from([4, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(body.length, 2);
  return Buffer.concat([header, body]);
}

/** A peer that sends exactly the given bytes and exposes exactly the PDUs that it receives. */
export class RawPeer {
  readonly socket: Socket;
  readonly #pdus: Buffer[] = [];
  readonly #waiting: ((pdu: Buffer | null) => void)[] = [];
  #bytes = Buffer.alloc(0);
  #ended = false;

  constructor(port: number) {
    this.socket = connect({ host: '127.0.0.1', port, noDelay: true });
    this.socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.#ended = true;
      for (const resolve of this.#waiting.splice(0)) resolve(null);
    });
  }

  send(...buffers: Buffer[]): void {
    this.socket.write(Buffer.concat(buffers));
  }

  /** Returns the next PDU, including its header; null if the connection was closed. */
  next(): Promise<Buffer | null> {
    const pdu = this.#pdus.shift();
    if (pdu) return Promise.resolve(pdu);
    if (this.#ended) return Promise.resolve(null);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async associate(request = associateRequest()): Promise<Buffer | null> {
    this.send(request);
    return this.next();
  }

  #onData(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    while (this.#bytes.length >= 6) {
      const end = 6 + this.#bytes.readUInt32BE(2);
      if (this.#bytes.length < end) return;
      const pdu = this.#bytes.subarray(0, end);
      this.#bytes = this.#bytes.subarray(end);
      const resolve = this.#waiting.shift();
      if (resolve) resolve(pdu);
      else this.#pdus.push(pdu);
    }
  }
}

/** Returns the DIMSE status of a response that fits into one PDU. */
export function statusOf(pdu: Buffer | null): number | null {
  if (!pdu) return null;
  for (let offset = 12; offset + 8 <= pdu.length; ) {
    const length = pdu.readUInt32LE(offset + 4);
    if (pdu.readUInt16LE(offset + 2) === 0x0900) return pdu.readUInt16LE(offset + 8);
    offset += 8 + length;
  }
  return null;
}
