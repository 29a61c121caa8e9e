/** PDU types of the DICOM Upper Layer protocol (PS3.8 9.3). */
export const PDU = {
  associateRequest: 0x01,
  associateAccept: 0x02,
  associateReject: 0x03,
  data: 0x04,
  releaseRequest: 0x05,
  releaseResponse: 0x06,
  abort: 0x07,
} as const;
export type PduType = (typeof PDU)[keyof typeof PDU];

/** Type, reserved byte and 32-bit length that begin every PDU. */
export const PDU_HEADER_BYTES = 6;
/** Length, context id and control header that begin every presentation data value. */
export const PDV_HEADER_BYTES = 6;

/** Source and reason of A-ABORT (PS3.8 9.3.8). */
export interface Abort {
  source: number;
  reason: number;
}

export function encodeReleaseRequest(): Buffer {
  return encodePdu(PDU.releaseRequest, Buffer.alloc(4));
}

export function encodeReleaseResponse(): Buffer {
  return encodePdu(PDU.releaseResponse, Buffer.alloc(4));
}

export function encodeAbort({ source, reason }: Abort): Buffer {
  return encodePdu(PDU.abort, Buffer.from([0, 0, source, reason]));
}

/** One P-DATA-TF with one presentation data value (PS3.8 9.3.5, Annex E). */
export function encodeData(
  contextId: number,
  fragment: Buffer,
  { command, last }: { command: boolean; last: boolean },
): Buffer[] {
  const header = Buffer.alloc(PDU_HEADER_BYTES + PDV_HEADER_BYTES);
  header.writeUInt8(PDU.data, 0);
  header.writeUInt32BE(fragment.length + PDV_HEADER_BYTES, 2);
  header.writeUInt32BE(fragment.length + 2, PDU_HEADER_BYTES);
  header.writeUInt8(contextId, PDU_HEADER_BYTES + 4);
  header.writeUInt8((command ? 1 : 0) | (last ? 2 : 0), PDU_HEADER_BYTES + 5);
  return [header, fragment];
}

/** A PDU of a type that holds these values. */
export function encodePdu(type: PduType, ...values: Buffer[]): Buffer {
  const length = values.reduce((sum, value) => sum + value.length, 0);
  const header = Buffer.alloc(PDU_HEADER_BYTES);
  header.writeUInt8(type, 0);
  header.writeUInt32BE(length, 2);
  return Buffer.concat([header, ...values]);
}
