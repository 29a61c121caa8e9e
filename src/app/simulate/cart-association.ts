import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  COMMAND,
  type CommandSet,
  encodeCommandSet,
  MessageAssembler,
  responseTo,
} from '../../../dimse/network/message.ts';
import {
  CONTEXT_RESULT,
  DICOM_APPLICATION_CONTEXT,
  decodeAssociateAccept,
  decodeReject,
  encodeAbort,
  encodeAssociateRequest,
  encodeData,
  encodeReleaseRequest,
  PDU,
  PDU_HEADER_BYTES,
  PDV_HEADER_BYTES,
  type ProposedContext,
  rejectionInWords,
} from '../../../dimse/network/pdu.ts';
import { type PduEvent, PduReader, readEvents } from '../../../dimse/network/pdu-reader.ts';
import type { OutgoingObject } from '../../../dimse/network/service-ports.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import type { DicomNode } from '../cli/dicom.ts';
import type { Cart } from './carts.ts';

/** Milliseconds without a response from the peer after which a cart gives up. */
const PATIENCE_MILLISECONDS = 30_000;
const MAX_ANSWER_PDU_BYTES = 1_048_576;

interface Message {
  contextId: number;
  command: CommandSet;
  dataSet: Buffer;
}

/**
 * One association that behaves like a cart's. It writes the bytes itself, because `Requestor` would
 * not propose the contexts, pack the PDUs or end the association as these carts do.
 */
export class CartAssociation {
  readonly #socket: Socket;
  readonly #cart: Cart;
  readonly #events: AsyncGenerator<PduEvent>;
  readonly #messages = new MessageAssembler();
  /**
   * Maps an SOP class and a transfer syntax, joined by a space, to the id of the presentation
   * context.
   */
  readonly #contexts = new Map<string, number>();
  #pduBytes: number;
  #messageId = 0;

  private constructor(socket: Socket, cart: Cart) {
    this.#socket = socket;
    this.#cart = cart;
    this.#pduBytes = cart.pdu.bytes;
    const answers = new PduReader({
      first: [PDU.associateAccept, PDU.associateReject, PDU.abort],
      maxPduBytes: MAX_ANSWER_PDU_BYTES,
    });
    this.#events = readEvents(socket, answers);
  }

  /**
   * Opens an association.
   * @throws Error if the peer is unreachable or rejects it.
   */
  static async open(
    node: DicomNode,
    cart: Cart,
    contexts: readonly ProposedContext[],
  ): Promise<CartAssociation> {
    const socket = connect({ host: node.host, port: node.port, noDelay: true });
    socket.setTimeout(PATIENCE_MILLISECONDS, () => socket.destroy(new Error('no answer')));
    socket.on('error', () => {});
    const association = new CartAssociation(socket, cart);
    const request = encodeAssociateRequest({
      calledAeTitle: node.aeTitle,
      callingAeTitle: cart.callingAeTitle,
      applicationContext: DICOM_APPLICATION_CONTEXT,
      contexts: [...contexts],
      maxPduBytes: cart.announcedPduBytes,
      implementationClassUid: cart.implementation.classUid,
      implementationVersion: cart.implementation.version,
    });
    socket.write(withUserItems(request, cart.userItems));
    const answer = await association.#next();
    if (answer.kind !== 'pdu' || answer.type !== PDU.associateAccept) {
      socket.destroy();
      const rejected = answer.kind === 'pdu' && answer.type === PDU.associateReject;
      throw new SonogateError(
        'peer_rejected_association',
        rejected
          ? `A-ASSOCIATE-RJ: ${rejectionInWords(decodeReject(answer.body))}.`
          : 'The peer aborted the association.',
      );
    }
    const accept = decodeAssociateAccept(answer.body);
    for (const { id, result, transferSyntax } of accept.contexts) {
      const asked = contexts.find((context) => context.id === id);
      if (!asked || result !== CONTEXT_RESULT.accepted) continue;
      association.#contexts.set(`${asked.abstractSyntax} ${transferSyntax}`, id);
    }
    if (accept.maxPduBytes > 0) {
      association.#pduBytes = Math.min(association.#pduBytes, accept.maxPduBytes);
    }
    return association;
  }

  /**
   * Sends an object by C-STORE.
   * @returns the status.
   * @throws Error if no context was accepted for the object.
   */
  async store(object: OutgoingObject): Promise<number> {
    const contextId = this.#contextOf(object.sopClassUid, object.transferSyntax);
    const pieces: Buffer[] = [];
    for await (const piece of object.read(this.#fragmentBytes)) pieces.push(piece);
    const command = {
      commandField: COMMAND.cStore,
      affectedSopClassUid: object.sopClassUid,
      affectedSopInstanceUid: object.sopInstanceUid,
      priority: 0,
    };
    return this.#ask(contextId, command, pieces);
  }

  /**
   * Sends a normalized request (PS3.7 10.1).
   * @returns the status.
   */
  async request(
    command: Omit<CommandSet, 'messageId' | 'hasDataSet'>,
    { sopClassUid, transferSyntax }: Pick<OutgoingObject, 'sopClassUid' | 'transferSyntax'>,
    dataSet: Buffer,
  ): Promise<number> {
    const pieces: Buffer[] = [];
    for (let start = 0; start < dataSet.length; start += this.#fragmentBytes) {
      pieces.push(dataSet.subarray(start, start + this.#fragmentBytes));
    }
    return this.#ask(this.#contextOf(sopClassUid, transferSyntax), command, pieces);
  }

  /** Waits for the peer's N-EVENT-REPORT, confirms it and returns its data set. */
  async eventReport(): Promise<Buffer> {
    const { contextId, command, dataSet } = await this.#message();
    if (command.commandField !== COMMAND.nEventReport) throw new Error('no N-EVENT-REPORT arrived');
    await this.#send(contextId, encodeCommandSet(responseTo(command, 0)), []);
    return dataSet;
  }

  /** Ends the association as the cart does, or as `how` requires. */
  async end(how: Cart['end'] = this.#cart.end): Promise<void> {
    const closed = once(this.#socket, 'close');
    if (how === 'release') {
      this.#socket.write(encodeReleaseRequest());
      await this.#next();
      this.#socket.end();
    } else if (how === 'abort') this.#socket.end(encodeAbort({ source: 0, reason: 0 }));
    else this.#socket.end();
    this.#socket.resume();
    await closed;
  }

  get #fragmentBytes(): number {
    const each = Math.floor(this.#pduBytes / this.#cart.pdu.values) - PDV_HEADER_BYTES;
    // Fragments have an even length (PS3.8 Annex E.2).
    return each - (each % 2);
  }

  #contextOf(sopClassUid: string, transferSyntax: string): number {
    const id = this.#contexts.get(`${sopClassUid} ${transferSyntax}`);
    if (id === undefined) throw new Error(`${sopClassUid} was not accepted in ${transferSyntax}`);
    return id;
  }

  async #ask(
    contextId: number,
    command: Omit<CommandSet, 'messageId' | 'hasDataSet'>,
    pieces: readonly Buffer[],
  ): Promise<number> {
    this.#messageId += 1;
    const messageId = this.#messageId;
    const bytes = encodeCommandSet({ ...command, messageId, hasDataSet: pieces.length > 0 });
    await this.#send(contextId, bytes, pieces);
    const { command: answer } = await this.#message();
    if (answer.messageIdBeingRespondedTo !== messageId || answer.status === undefined) {
      throw new Error('the peer responded to a different message');
    }
    return answer.status;
  }

  async #send(contextId: number, command: Buffer, pieces: readonly Buffer[]): Promise<void> {
    const values = [
      presentationValue(contextId, command, { command: true, last: true }),
      ...pieces.map((piece, index) =>
        presentationValue(contextId, piece, { command: false, last: index === pieces.length - 1 }),
      ),
    ];
    const { values: most, commandBesideData } = this.#cart.pdu;
    let held: Buffer[] = [];
    let bytes = 0;
    const flush = async () => {
      if (held.length === 0) return;
      const header = Buffer.alloc(PDU_HEADER_BYTES);
      header.writeUInt8(PDU.data, 0);
      header.writeUInt32BE(bytes, 2);
      const drained = this.#socket.write(Buffer.concat([header, ...held]));
      held = [];
      bytes = 0;
      if (!drained) await once(this.#socket, 'drain');
    };
    for (const [index, value] of values.entries()) {
      const full = held.length === most || bytes + value.length > this.#pduBytes;
      if (full || (index === 1 && !commandBesideData)) await flush();
      held.push(value);
      bytes += value.length;
    }
    await flush();
  }

  async #message(): Promise<Message> {
    const dataSet: Buffer[] = [];
    for (;;) {
      const event = await this.#next();
      if (event.kind !== 'fragment') throw new Error('the peer released the association');
      const part = this.#messages.take(event);
      if (part?.kind === 'data') dataSet.push(part.data);
      if (part && (part.kind === 'data' ? part.last : !part.command.hasDataSet)) {
        return {
          contextId: part.contextId,
          command: part.command,
          dataSet: Buffer.concat(dataSet),
        };
      }
    }
  }

  async #next(): Promise<PduEvent> {
    const { value, done } = await this.#events.next();
    if (done) throw this.#socket.errored ?? new Error('the peer closed the connection');
    return value;
  }
}

/** Encodes one presentation data value with its header (PS3.8 Annex E.2). */
function presentationValue(
  contextId: number,
  piece: Buffer,
  control: { command: boolean; last: boolean },
): Buffer {
  return Buffer.concat(encodeData(contextId, piece, control)).subarray(PDU_HEADER_BYTES);
}

/** Length of the PDU header and the fixed fields of A-ASSOCIATE-RQ (PS3.8 9.3.2). */
const ITEMS_START = 74;

/**
 * Adds sub-items to the User Information item, which is the last item of the PDU (PS3.8 9.3.2.3).
 */
function withUserItems(request: Buffer, items: readonly Buffer[]): Buffer {
  const added = Buffer.concat(items);
  const longer = Buffer.concat([request, added]);
  let user = ITEMS_START;
  for (let next = user; next < request.length; next += 4 + request.readUInt16BE(next + 2)) {
    user = next;
  }
  longer.writeUInt32BE(request.readUInt32BE(2) + added.length, 2);
  longer.writeUInt16BE(request.readUInt16BE(user + 2) + added.length, user + 2);
  return longer;
}
