import type { Socket } from 'node:net';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import { PDU, PDU_HEADER_BYTES, PDV_HEADER_BYTES, type PduType } from './pdu.ts';

interface ControlPdu {
  kind: 'pdu';
  type: Exclude<PduType, typeof PDU.data>;
  body: Buffer;
}

/**
 * A piece of a presentation data value. `last` is set only on the piece that ends the command set or
 * the data set of the message.
 */
export interface Fragment {
  kind: 'fragment';
  contextId: number;
  command: boolean;
  last: boolean;
  data: Buffer;
}

export type PduEvent = ControlPdu | Fragment;

interface PduLimits {
  /**
   * The PDU types that may come first: A-ASSOCIATE-RQ for an acceptor, the responses to it for a
   * requestor.
   */
  first: readonly PduType[];
  /** Maximum length of a P-DATA-TF, as announced to the peer. */
  maxPduBytes: number;
}

/**
 * Maximum length of an association PDU. 128 contexts with a dozen transfer syntaxes each need less.
 */
const MAX_ASSOCIATE_BYTES = 64 * 1024;
/**
 * Number of bytes by which a PDU may exceed the announced length, because some peers do not count
 * headers.
 */
const LENGTH_SLACK_BYTES = 1024;

const LONGEST: Record<PduType, (limits: PduLimits) => number> = {
  [PDU.associateRequest]: () => MAX_ASSOCIATE_BYTES,
  [PDU.associateAccept]: () => MAX_ASSOCIATE_BYTES,
  [PDU.associateReject]: () => LENGTH_SLACK_BYTES,
  [PDU.data]: ({ maxPduBytes }) => maxPduBytes + LENGTH_SLACK_BYTES,
  [PDU.releaseRequest]: () => LENGTH_SLACK_BYTES,
  [PDU.releaseResponse]: () => LENGTH_SLACK_BYTES,
  [PDU.abort]: () => LENGTH_SLACK_BYTES,
};

function isPduType(value: number): value is PduType {
  return value in LONGEST;
}

/** What a peer seems to use if its first byte is this one: a TLS record, or a word of HTTP. */
const OTHER_PROTOCOLS: ReadonlyMap<number, string> = new Map([
  [0x15, 'TLS'],
  [0x16, 'TLS'],
  [0x47, 'HTTP'],
  [0x48, 'HTTP'],
  [0x50, 'HTTP'],
]);

/**
 * Divides a byte stream into PDUs. The network may fragment the stream anywhere. The header of a
 * PDU is checked before any byte of its body is stored. Object data is never collected: pieces of
 * the caller's chunk are passed on unchanged, so memory use does not depend on the length announced
 * by a peer. An event is valid only until the next one is read.
 */
export class PduReader {
  readonly #limits: PduLimits;
  #started = false;
  /** Bytes of a header or control PDU that is still incomplete. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  #pdu: { type: PduType; remaining: number } | null = null;
  #value: { contextId: number; command: boolean; last: boolean; remaining: number } | null = null;

  constructor(limits: PduLimits) {
    this.#limits = limits;
  }

  get insidePdu(): boolean {
    return this.#pdu !== null || this.#heldBytes > 0;
  }

  /**
   * Reads a chunk and yields the events in it.
   * @throws SonogateError `not_dicom`, `pdu_too_large`, `unexpected_pdu`; the connection must then
   * be aborted.
   */
  *read(chunk: Buffer): Generator<PduEvent> {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#pdu === null) {
        const header = this.#take(rest, PDU_HEADER_BYTES);
        rest = header.rest;
        if (header.complete) this.#pdu = this.#begin(header.complete);
      } else if (this.#pdu.type !== PDU.data) {
        const { type } = this.#pdu;
        const body = this.#take(rest, this.#pdu.remaining);
        rest = body.rest;
        if (!body.complete) continue;
        this.#pdu = null;
        yield { kind: 'pdu', type, body: body.complete };
      } else if (this.#value === null) {
        const header = this.#take(rest, PDV_HEADER_BYTES);
        rest = header.rest;
        if (header.complete) this.#value = this.#beginValue(header.complete, this.#pdu);
        // An empty fragment can also be the end of a command set or data set.
        if (this.#value?.remaining === 0) yield this.#endOfValue(Buffer.alloc(0), this.#value);
      } else {
        const value = this.#value;
        const data = rest.subarray(0, value.remaining);
        rest = rest.subarray(data.length);
        value.remaining -= data.length;
        yield value.remaining === 0
          ? this.#endOfValue(data, value)
          : { ...value, kind: 'fragment', last: false, data };
      }
    }
  }

  #endOfValue(
    data: Buffer,
    { contextId, command, last }: { contextId: number; command: boolean; last: boolean },
  ): PduEvent {
    this.#value = null;
    if (this.#pdu?.remaining === 0) this.#pdu = null;
    return { kind: 'fragment', contextId, command, last, data };
  }

  /**
   * Collects exactly `bytes` bytes. The limits above ensure that this number is small. Each byte is
   * copied at most twice.
   */
  #take(chunk: Buffer, bytes: number): { complete: Buffer | null; rest: Buffer } {
    const missing = bytes - this.#heldBytes;
    const part = chunk.subarray(0, missing);
    const rest = chunk.subarray(part.length);
    if (part.length < missing) {
      this.#held.push(Buffer.from(part));
      this.#heldBytes += part.length;
      return { complete: null, rest };
    }
    const complete = this.#heldBytes === 0 ? part : Buffer.concat([...this.#held, part]);
    this.#held = [];
    this.#heldBytes = 0;
    return { complete, rest };
  }

  #begin(header: Buffer): { type: PduType; remaining: number } {
    const type = header.readUInt8(0);
    const length = header.readUInt32BE(2);
    if (!isPduType(type)) {
      const instead = OTHER_PROTOCOLS.get(type);
      const guess = instead ? ` The peer seems to use ${instead}.` : '';
      throw new SonogateError('not_dicom', `PDU type ${type} does not exist.${guess}`);
    }
    if (!this.#started && !this.#limits.first.includes(type)) {
      throw new SonogateError('unexpected_pdu', `PDU type ${type} arrived before the association.`);
    }
    this.#started = true;
    if (length > LONGEST[type](this.#limits)) {
      throw new SonogateError('pdu_too_large', `A PDU of type ${type} announces ${length} bytes.`);
    }
    if (type === PDU.data ? length < PDV_HEADER_BYTES : length < 4) {
      throw new SonogateError('unexpected_pdu', `A PDU of type ${type} is too short.`);
    }
    return { type, remaining: length };
  }

  #beginValue(header: Buffer, pdu: { remaining: number }) {
    const length = header.readUInt32BE(0);
    const control = header.readUInt8(5);
    pdu.remaining -= length + 4;
    // The rest of the PDU must be empty or have space for one more value header.
    if (
      length < 2 ||
      pdu.remaining < 0 ||
      (pdu.remaining > 0 && pdu.remaining < PDV_HEADER_BYTES)
    ) {
      throw new SonogateError('unexpected_pdu', 'A presentation data value does not fit its PDU.');
    }
    return {
      contextId: header.readUInt8(4),
      command: (control & 1) !== 0,
      last: (control & 2) !== 0,
      remaining: length - 2,
    };
  }
}

/** Yields the PDUs and fragments that a peer sends over a connection, as they arrive. */
export async function* readEvents(socket: Socket, reader: PduReader): AsyncGenerator<PduEvent> {
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    yield* reader.read(chunk as Buffer);
  }
}
