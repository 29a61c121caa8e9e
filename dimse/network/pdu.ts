import { SonogateError } from '../../src/platform/errors/catalogue.ts';

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

/** A-ABORT by the service user, which states no reason. */
export const ABORT_BY_USER: Abort = { source: 0, reason: 0 };

export function encodeReleaseRequest(): Buffer {
  return encodePdu(PDU.releaseRequest, Buffer.alloc(4));
}

export function encodeReleaseResponse(): Buffer {
  return encodePdu(PDU.releaseResponse, Buffer.alloc(4));
}

export function encodeAbort({ source, reason }: Abort): Buffer {
  return encodePdu(PDU.abort, Buffer.from([0, 0, source, reason]));
}

/** Encodes a P-DATA-TF with one presentation data value (PS3.8 9.3.5, Annex E). */
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

function encodePdu(type: PduType, ...values: Buffer[]): Buffer {
  const length = values.reduce((sum, value) => sum + value.length, 0);
  const header = Buffer.alloc(PDU_HEADER_BYTES);
  header.writeUInt8(type, 0);
  header.writeUInt32BE(length, 2);
  return Buffer.concat([header, ...values]);
}

/**
 * Control characters, which are not allowed in an AE title (PS3.5 6.2). They would also end up in
 * log lines and database rows.
 */
const CONTROL = /\p{Cc}/u;

/**
 * Reads an AE title. Leading and trailing spaces are not significant (PS3.5 6.2); some peers
 * wrongly pad with NUL.
 */
function readAeTitle(field: Buffer): string {
  return field
    .toString('latin1')
    .replace(/[\0 ]+$/, '')
    .replace(/^ +/, '');
}

function requireAeTitle(title: string): void {
  if (!CONTROL.test(title)) return;
  throw new SonogateError('unexpected_pdu', 'An AE title contains a control character.');
}

/**
 * The id of a presentation context is odd (PS3.8 9.3.2.2) and identifies one context: with two of
 * the same id, the SOP class and the transfer syntax of an object would be unknown.
 */
function requireContextIds(contexts: readonly ProposedContext[]): void {
  const ids = new Set(contexts.map(({ id }) => id));
  if (ids.size === contexts.length && contexts.every(({ id }) => id % 2 === 1)) return;
  throw new SonogateError(
    'unexpected_pdu',
    'The id of a presentation context is even or not unique.',
  );
}

/** Item types inside A-ASSOCIATE (PS3.8 9.3.2, Annex D). */
const ITEM = {
  applicationContext: 0x10,
  proposedContext: 0x20,
  contextAnswer: 0x21,
  abstractSyntax: 0x30,
  transferSyntax: 0x40,
  userInformation: 0x50,
  maximumLength: 0x51,
  implementationClassUid: 0x52,
  roleSelection: 0x54,
  implementationVersion: 0x55,
} as const;

/** DICOM Application Context Name (PS3.7 Annex A). */
export const DICOM_APPLICATION_CONTEXT = '1.2.840.10008.3.1.1.1';

/** Result of a presentation context in A-ASSOCIATE-AC (PS3.8 table 9-18). */
export const CONTEXT_RESULT = {
  accepted: 0,
  abstractSyntaxNotSupported: 3,
  transferSyntaxesNotSupported: 4,
} as const;

export interface ProposedContext {
  /** Odd number from 1 to 255. */
  id: number;
  abstractSyntax: string;
  transferSyntaxes: string[];
}

export interface ContextAnswer {
  id: number;
  result: number;
  transferSyntax: string;
}

/** SCP/SCU Role Selection (PS3.7 D.3.3.4): the role of the requestor for one SOP class. */
export interface RoleSelection {
  sopClassUid: string;
  scu: boolean;
  scp: boolean;
}

interface AssociateCommon {
  calledAeTitle: string;
  callingAeTitle: string;
  applicationContext: string;
  /**
   * Maximum length of a P-DATA-TF that the sender of this PDU can receive; 0 means no limit (PS3.8
   * D.1).
   */
  maxPduBytes: number;
  implementationClassUid: string;
  implementationVersion: string;
  /** Proposed roles; empty when the requestor is the SCU of every class. */
  roles?: RoleSelection[];
}

export interface AssociateRequest extends AssociateCommon {
  contexts: ProposedContext[];
  /** One bit for each version that the requestor supports; bit 0 is version 1 (PS3.8 table 9-11). */
  protocolVersion?: number;
  /** Titles and reserved bytes, which an A-ASSOCIATE-AC repeats unchanged (PS3.8 table 9-17). */
  repeated?: Buffer;
}

export interface AssociateAccept extends AssociateCommon {
  contexts: ContextAnswer[];
  repeated?: Buffer | undefined;
}

/** Result, source and reason of A-ASSOCIATE-RJ (PS3.8 9.3.4). */
export interface Rejection {
  result: number;
  source: number;
  reason: number;
}

/** Meanings of the reasons, by source (PS3.8 Table 9-21). */
const REJECTION_REASONS: Readonly<Record<number, Readonly<Record<number, string>>>> = {
  1: {
    1: 'no reason given',
    2: 'application context name not supported',
    3: 'calling AE title not recognized',
    7: 'called AE title not recognized',
  },
  2: { 1: 'no reason given', 2: 'protocol version not supported' },
  3: { 1: 'temporary congestion', 2: 'local limit exceeded' },
};

/**
 * Describes a rejection: the reason, then result, source and reason as sent, such as `called AE
 * title not recognized (1/1/7)`.
 */
export function rejectionInWords({ result, source, reason }: Rejection): string {
  const words = REJECTION_REASONS[source]?.[reason] ?? 'a reason that PS3.8 does not define';
  return `${words} (${result}/${source}/${reason})`;
}

export function encodeAssociateRequest(request: AssociateRequest): Buffer {
  const contexts = request.contexts.map((context) =>
    item(
      ITEM.proposedContext,
      Buffer.from([context.id, 0, 0, 0]),
      item(ITEM.abstractSyntax, ascii(context.abstractSyntax)),
      ...context.transferSyntaxes.map((uid) => item(ITEM.transferSyntax, ascii(uid))),
    ),
  );
  return encodeAssociate(PDU.associateRequest, request, contexts);
}

export function encodeAssociateAccept(accept: AssociateAccept): Buffer {
  const contexts = accept.contexts.map((context) =>
    item(
      ITEM.contextAnswer,
      Buffer.from([context.id, 0, context.result, 0]),
      item(ITEM.transferSyntax, ascii(context.transferSyntax)),
    ),
  );
  const pdu = encodeAssociate(PDU.associateAccept, accept, contexts);
  accept.repeated?.copy(pdu, PDU_HEADER_BYTES + REPEATED.from);
  return pdu;
}

export function encodeReject({ result, source, reason }: Rejection): Buffer {
  return encodePdu(PDU.associateReject, Buffer.from([0, result, source, reason]));
}

/**
 * Decodes an A-ASSOCIATE-RQ.
 * @throws SonogateError `unexpected_pdu` if an item is truncated, or an AE title or the id of a
 * presentation context is invalid.
 */
export function decodeAssociateRequest(body: Buffer): AssociateRequest {
  const contexts: ProposedContext[] = [];
  const common = decodeAssociate(body, (type, value) => {
    if (type !== ITEM.proposedContext) return;
    const context: ProposedContext = {
      id: byte(value, 0),
      abstractSyntax: '',
      transferSyntaxes: [],
    };
    for (const [subType, subValue] of items(value.subarray(4))) {
      if (subType === ITEM.abstractSyntax) context.abstractSyntax = uid(subValue);
      if (subType === ITEM.transferSyntax) context.transferSyntaxes.push(uid(subValue));
    }
    contexts.push(context);
  });
  // Only the titles in a request are checked: those in an A-ASSOCIATE-AC are reserved and must not
  // be tested (PS3.8 table 9-17).
  requireAeTitle(common.calledAeTitle);
  requireAeTitle(common.callingAeTitle);
  requireContextIds(contexts);
  const protocolVersion = body.readUInt16BE(0);
  const repeated = Buffer.from(body.subarray(REPEATED.from, REPEATED.to));
  return { ...common, contexts, protocolVersion, repeated };
}

/**
 * Decodes an A-ASSOCIATE-AC.
 * @throws SonogateError `unexpected_pdu` if an item is truncated.
 */
export function decodeAssociateAccept(body: Buffer): AssociateAccept {
  const contexts: ContextAnswer[] = [];
  const common = decodeAssociate(body, (type, value) => {
    if (type !== ITEM.contextAnswer) return;
    const answer: ContextAnswer = {
      id: byte(value, 0),
      result: byte(value, 2),
      transferSyntax: '',
    };
    // The transfer syntax of a refused context is not significant (PS3.8 9.3.3.2) and may be absent.
    for (const [subType, subValue] of items(value.subarray(4))) {
      if (subType === ITEM.transferSyntax) answer.transferSyntax = uid(subValue);
    }
    contexts.push(answer);
  });
  return { ...common, contexts };
}

export function decodeReject(body: Buffer): Rejection {
  return { result: byte(body, 1), source: byte(body, 2), reason: byte(body, 3) };
}

/**
 * Length of protocol version, reserved bytes, two AE titles and 32 reserved bytes (PS3.8 9.3.2).
 */
const ASSOCIATE_FIXED_BYTES = 68;
/** Position of the titles and of the reserved bytes that follow them. */
const REPEATED = { from: 4, to: ASSOCIATE_FIXED_BYTES } as const;

function encodeAssociate(type: PduType, common: AssociateCommon, contexts: Buffer[]): Buffer {
  const fixed = Buffer.alloc(ASSOCIATE_FIXED_BYTES);
  fixed.writeUInt16BE(1, 0);
  fixed.write(common.calledAeTitle.padEnd(16), 4, 16, 'latin1');
  fixed.write(common.callingAeTitle.padEnd(16), 20, 16, 'latin1');
  const maximum = Buffer.alloc(4);
  maximum.writeUInt32BE(common.maxPduBytes);
  return encodePdu(
    type,
    fixed,
    item(ITEM.applicationContext, ascii(common.applicationContext)),
    ...contexts,
    item(
      ITEM.userInformation,
      item(ITEM.maximumLength, maximum),
      item(ITEM.implementationClassUid, ascii(common.implementationClassUid)),
      ...(common.roles ?? []).map(encodeRole),
      item(ITEM.implementationVersion, ascii(common.implementationVersion)),
    ),
  );
}

function encodeRole({ sopClassUid, scu, scp }: RoleSelection): Buffer {
  const uidBytes = ascii(sopClassUid);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(uidBytes.length);
  return item(ITEM.roleSelection, length, uidBytes, Buffer.from([Number(scu), Number(scp)]));
}

function decodeRole(field: Buffer): RoleSelection {
  if (field.length < 2) throw truncated();
  const end = 2 + field.readUInt16BE(0);
  const sopClassUid = uid(field.subarray(2, end));
  return { sopClassUid, scu: byte(field, end) === 1, scp: byte(field, end + 1) === 1 };
}

function decodeAssociate(
  body: Buffer,
  onContext: (type: number, value: Buffer) => void,
): AssociateCommon {
  if (body.length < ASSOCIATE_FIXED_BYTES) throw truncated();
  const common: AssociateCommon = {
    calledAeTitle: readAeTitle(body.subarray(4, 20)),
    callingAeTitle: readAeTitle(body.subarray(20, 36)),
    applicationContext: '',
    maxPduBytes: 0,
    implementationClassUid: '',
    implementationVersion: '',
    roles: [],
  };
  for (const [type, value] of items(body.subarray(ASSOCIATE_FIXED_BYTES))) {
    if (type === ITEM.applicationContext) common.applicationContext = uid(value);
    else if (type === ITEM.userInformation) decodeUserInformation(value, common);
    else onContext(type, value);
  }
  return common;
}

function decodeUserInformation(value: Buffer, common: AssociateCommon): void {
  for (const [type, field] of items(value)) {
    if (type === ITEM.maximumLength) {
      if (field.length < 4) throw truncated();
      common.maxPduBytes = field.readUInt32BE(0);
    }
    if (type === ITEM.roleSelection) common.roles?.push(decodeRole(field));
    if (type === ITEM.implementationClassUid) common.implementationClassUid = uid(field);
    if (type === ITEM.implementationVersion) {
      common.implementationVersion = field.toString('latin1').trim();
    }
  }
}

function* items(buffer: Buffer): Generator<[type: number, value: Buffer]> {
  let offset = 0;
  while (offset < buffer.length) {
    if (offset + 4 > buffer.length) throw truncated();
    const end = offset + 4 + buffer.readUInt16BE(offset + 2);
    if (end > buffer.length) throw truncated();
    yield [byte(buffer, offset), buffer.subarray(offset + 4, end)];
    offset = end;
  }
}

function item(type: number, ...values: Buffer[]): Buffer {
  const length = values.reduce((sum, value) => sum + value.length, 0);
  const header = Buffer.from([type, 0, 0, 0]);
  header.writeUInt16BE(length, 2);
  return Buffer.concat([header, ...values]);
}

function ascii(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

/** Reads a UID. Some peers pad it with NUL or space although PS3.8 Annex F forbids it. */
function uid(value: Buffer): string {
  return value.toString('latin1').replace(/[\0 ]+$/, '');
}

function byte(buffer: Buffer, offset: number): number {
  const value = buffer[offset];
  if (value === undefined) throw truncated();
  return value;
}

function truncated(): SonogateError {
  return new SonogateError('unexpected_pdu', 'An item of the association PDU is truncated.');
}
