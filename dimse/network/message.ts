import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import { type CommandSet, decodeCommandSet, MAX_COMMAND_BYTES } from './command-set.ts';
import type { Fragment } from './pdu-reader.ts';

/** A part of a DIMSE message (PS3.7 6.3): its command set, or a piece of the data set behind it. */
export type MessagePart =
  | { kind: 'command'; contextId: number; command: CommandSet }
  | { kind: 'data'; contextId: number; command: CommandSet; data: Buffer; last: boolean };

/**
 * Assembles the DIMSE messages that a peer sends over one association from their fragments (PS3.8
 * Annex E). A command set is collected whole. A data set may be a cine of several gigabytes, so its
 * fragments are passed on as they arrive.
 */
export class MessageAssembler {
  #command: { contextId: number; bytes: CollectedBytes } | null = null;
  /** The message whose data set is still arriving. */
  #message: { contextId: number; command: CommandSet } | null = null;

  /** True while a message has begun and not ended. */
  get insideMessage(): boolean {
    return this.#command !== null || this.#message !== null;
  }

  /**
   * @returns null while the command set is incomplete.
   * @throws SonogateError `unexpected_pdu` for fragments that do not form a message.
   */
  take(fragment: Fragment): MessagePart | null {
    return fragment.command ? this.#takeCommand(fragment) : this.#takeData(fragment);
  }

  #takeCommand({ contextId, last, data }: Fragment): MessagePart | null {
    if (this.#message) throw unexpected('A command arrived inside a data set.');
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

/** Bytes that arrive in pieces and are few enough to be held in memory. */
export class CollectedBytes {
  readonly #limit: number;
  readonly #pieces: Buffer[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @throws SonogateError `unexpected_pdu` beyond the limit. */
  add(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.#limit) {
      throw unexpected(`A command set or data set has more than ${this.#limit} bytes.`);
    }
    this.#pieces.push(piece);
  }

  whole(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

/** A peer that breaks the rules of the message exchange; its association must be aborted. */
export function unexpected(detail: string): SonogateError {
  return new SonogateError('unexpected_pdu', detail);
}
