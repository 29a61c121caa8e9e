import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { Fragment } from './pdu-reader.ts';

/** Command Field values (PS3.7 E.1). A response is the request with the highest bit set. */
export const COMMAND = {
  cStore: 0x0001,
  cGet: 0x0010,
  cFind: 0x0020,
  cMove: 0x0021,
  cEcho: 0x0030,
  cCancel: 0x0fff,
  nEventReport: 0x0100,
  nSet: 0x0120,
  nAction: 0x0130,
  nCreate: 0x0140,
} as const;
export const RESPONSE_BIT = 0x8000;

/** Command Data Set Type (0000,0800): no data set follows (PS3.7 E.1). */
const NO_DATA_SET = 0x0101;
const DATA_SET = 0x0001;

type Representation = 'UI' | 'US' | 'LO' | 'AE';

/** Elements of group 0000 that our services use (PS3.7 9.3, 10.3). */
const ELEMENTS = {
  affectedSopClassUid: [0x0002, 'UI'],
  requestedSopClassUid: [0x0003, 'UI'],
  commandField: [0x0100, 'US'],
  messageId: [0x0110, 'US'],
  messageIdBeingRespondedTo: [0x0120, 'US'],
  moveDestination: [0x0600, 'AE'],
  priority: [0x0700, 'US'],
  dataSetType: [0x0800, 'US'],
  status: [0x0900, 'US'],
  errorComment: [0x0902, 'LO'],
  errorId: [0x0903, 'US'],
  affectedSopInstanceUid: [0x1000, 'UI'],
  requestedSopInstanceUid: [0x1001, 'UI'],
  eventTypeId: [0x1002, 'US'],
  actionTypeId: [0x1008, 'US'],
  remainingSubOperations: [0x1020, 'US'],
  completedSubOperations: [0x1021, 'US'],
  failedSubOperations: [0x1022, 'US'],
  warningSubOperations: [0x1023, 'US'],
} as const satisfies Record<string, readonly [number, Representation]>;

type ValueOf<R extends Representation> = R extends 'US' ? number : string;
type Fields = { -readonly [K in keyof typeof ELEMENTS]?: ValueOf<(typeof ELEMENTS)[K][1]> };

export interface CommandSet extends Omit<Fields, 'dataSetType'> {
  commandField: number;
  hasDataSet: boolean;
}

/**
 * Maximum size of a command set. A valid one has a few hundred bytes, because UIDs and comments are
 * limited in length.
 */
export const MAX_COMMAND_BYTES = 16 * 1024;

/** Error Comment (0000,0902) is LO: at most 64 characters (PS3.7 C.4.1). */
const MAX_COMMENT = 64;

/** Encodes a command set, always in Implicit VR Little Endian (PS3.7 6.3.1). */
export function encodeCommandSet({ hasDataSet, ...command }: CommandSet): Buffer {
  const fields: Fields = { ...command, dataSetType: hasDataSet ? DATA_SET : NO_DATA_SET };
  const elements: Buffer[] = [];
  for (const [name, [element, representation]] of Object.entries(ELEMENTS)) {
    const value = fields[name as keyof Fields];
    if (value !== undefined) elements.push(encodeElement(element, encode(value, representation)));
  }
  const body = Buffer.concat(elements);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length);
  return Buffer.concat([encodeElement(0x0000, length), body]);
}

/**
 * Decodes a command set. Unknown elements are ignored.
 * @throws SonogateError `unexpected_pdu` if the set is truncated.
 */
export function decodeCommandSet(bytes: Buffer): CommandSet {
  const values = new Map<number, Buffer>();
  let offset = 0;
  while (offset < bytes.length) {
    if (offset + 8 > bytes.length) throw unreadable();
    const end = offset + 8 + bytes.readUInt32LE(offset + 4);
    if (bytes.readUInt16LE(offset) !== 0x0000 || end > bytes.length) throw unreadable();
    values.set(bytes.readUInt16LE(offset + 2), bytes.subarray(offset + 8, end));
    offset = end;
  }
  const number = (name: NameOf<'US'>) => {
    const value = values.get(ELEMENTS[name][0]);
    return value && value.length >= 2 ? value.readUInt16LE(0) : undefined;
  };
  const text = (name: NameOf<'UI' | 'LO' | 'AE'>) =>
    values
      .get(ELEMENTS[name][0])
      ?.toString('latin1')
      .replace(/[\0 ]+$/, '');
  const commandField = number('commandField');
  if (commandField === undefined) throw unreadable();
  return {
    commandField,
    hasDataSet: (number('dataSetType') ?? NO_DATA_SET) !== NO_DATA_SET,
    affectedSopClassUid: text('affectedSopClassUid'),
    requestedSopClassUid: text('requestedSopClassUid'),
    affectedSopInstanceUid: text('affectedSopInstanceUid'),
    requestedSopInstanceUid: text('requestedSopInstanceUid'),
    eventTypeId: number('eventTypeId'),
    actionTypeId: number('actionTypeId'),
    messageId: number('messageId'),
    messageIdBeingRespondedTo: number('messageIdBeingRespondedTo'),
    moveDestination: text('moveDestination'),
    priority: number('priority'),
    status: number('status'),
    errorComment: text('errorComment'),
    errorId: number('errorId'),
    remainingSubOperations: number('remainingSubOperations'),
    completedSubOperations: number('completedSubOperations'),
    failedSubOperations: number('failedSubOperations'),
    warningSubOperations: number('warningSubOperations'),
  };
}

type NameOf<R extends Representation> = {
  [K in keyof typeof ELEMENTS]: (typeof ELEMENTS)[K][1] extends R ? K : never;
}[keyof typeof ELEMENTS];

/**
 * Builds the response to `request` (PS3.7 9.3.1.2, 9.3.5.2, 10.3). The comment must contain no
 * patient identity.
 */
export function responseTo(request: CommandSet, status: number, comment?: string): CommandSet {
  return {
    commandField: request.commandField | RESPONSE_BIT,
    hasDataSet: false,
    messageIdBeingRespondedTo: request.messageId ?? 0,
    affectedSopClassUid: request.affectedSopClassUid ?? request.requestedSopClassUid,
    affectedSopInstanceUid: request.affectedSopInstanceUid ?? request.requestedSopInstanceUid,
    eventTypeId: request.eventTypeId,
    actionTypeId: request.actionTypeId,
    status,
    errorComment: comment?.slice(0, MAX_COMMENT),
  };
}

function encode(value: string | number, representation: Representation): Buffer {
  if (typeof value === 'number') {
    const buffer = Buffer.alloc(2);
    buffer.writeUInt16LE(value);
    return buffer;
  }
  const padding = representation === 'UI' ? '\0' : ' ';
  return Buffer.from(value.length % 2 === 0 ? value : value + padding, 'latin1');
}

function encodeElement(element: number, value: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt16LE(element, 2);
  header.writeUInt32LE(value.length, 4);
  return Buffer.concat([header, value]);
}

function unreadable(): SonogateError {
  return new SonogateError('unexpected_pdu', 'The command set cannot be read.');
}

/**
 * A part of a DIMSE message (PS3.7 6.3): its command set, or a piece of the data set that follows.
 */
export type MessagePart =
  | { kind: 'command'; contextId: number; command: CommandSet }
  | { kind: 'data'; contextId: number; command: CommandSet; data: Buffer; last: boolean };

/**
 * Assembles the DIMSE messages that a peer sends over one association from their fragments (PS3.8
 * Annex E). A command set is collected completely. A data set may be a cine loop of several
 * gigabytes, so its fragments are passed on as they arrive.
 */
export class MessageAssembler {
  #command: { contextId: number; bytes: CollectedBytes } | null = null;
  #message: { contextId: number; command: CommandSet } | null = null;

  get insideMessage(): boolean {
    return this.#command !== null || this.#message !== null;
  }

  /**
   * Processes a fragment.
   * @returns null while the command set is incomplete.
   * @throws SonogateError `unexpected_pdu` for fragments that do not form a message.
   */
  take(fragment: Fragment): MessagePart | null {
    return fragment.command ? this.#takeCommand(fragment) : this.#takeData(fragment);
  }

  #takeCommand({ contextId, last, data }: Fragment): MessagePart | null {
    if (this.#message) throw unexpected('A command arrived in the middle of a data set.');
    this.#command ??= { contextId, bytes: new CollectedBytes(MAX_COMMAND_BYTES) };
    if (this.#command.contextId !== contextId) {
      throw unexpected('A command set changes its presentation context.');
    }
    this.#command.bytes.add(data);
    if (!last) return null;
    const command = decodeCommandSet(this.#command.bytes.whole());
    this.#command = null;
    if (command.hasDataSet) this.#message = { contextId, command };
    return { kind: 'command', contextId, command };
  }

  #takeData({ contextId, last, data }: Fragment): MessagePart {
    if (this.#message?.contextId !== contextId) throw unexpected('Data arrived without a command.');
    const { command } = this.#message;
    if (last) this.#message = null;
    return { kind: 'data', contextId, command, data, last };
  }
}

/** Collects bytes that arrive in pieces and fit into memory. */
export class CollectedBytes {
  readonly #limit: number;
  readonly #pieces: Buffer[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Appends a piece.
   * @throws SonogateError `unexpected_pdu` if the limit is exceeded.
   */
  add(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.#limit) {
      throw unexpected(`A command set or data set has more than ${this.#limit} bytes.`);
    }
    this.#pieces.push(Buffer.from(piece));
  }

  whole(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

/**
 * Creates the error for a peer that violates the rules of the message exchange. Its association
 * must be aborted.
 */
export function unexpected(detail: string): SonogateError {
  return new SonogateError('unexpected_pdu', detail);
}
