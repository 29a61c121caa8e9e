import { once } from 'node:events';
import type { Socket } from 'node:net';
import {
  IMPLEMENTATION_CLASS_UID,
  IMPLEMENTATION_VERSION,
} from '../../pipelines/artifacts/implementation.ts';
import { type ErrorCode, SonogateError } from '../../src/errors/catalogue.ts';
import { IMPLICIT_LITTLE_ENDIAN, VERIFICATION } from '../sop-classes.ts';
import { COMMAND, type CommandSet, decodeCommandSet, encodeCommandSet } from './command-set.ts';
import { type CallTls, dial } from './dial.ts';
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
  PDV_HEADER_BYTES,
  type ProposedContext,
  type RoleSelection,
} from './pdu.ts';
import { type PduEvent, PduReader } from './pdu-reader.ts';

/** A DICOM node that we call, and under which title. */
export interface CalledNode {
  host: string;
  port: number;
  aeTitle: string;
  callingAeTitle: string;
  /** Longest silence of the peer, from connecting to its last answer. */
  timeoutSeconds: number;
  /** Absent: in the clear. */
  tls?: CallTls | undefined;
}

/** One data set as it leaves: its bytes are sent as they are. */
export interface OutgoingObject {
  sopClassUid: string;
  sopInstanceUid: string;
  transferSyntax: string;
  /** Length of the data set. */
  bytes: number;
  /** The data set in pieces of at most `size` bytes. */
  read(size: number): AsyncIterable<Buffer> | Iterable<Buffer>;
}

export interface Response {
  status: number;
  comment: string;
}

/** Answers are small; a peer that announces more than this is not speaking DICOM. */
const MAX_ANSWER_PDU_BYTES = 131_072;
/** Longest P-DATA-TF we send to a peer without a limit of its own (PS3.8 D.1). */
const MAX_SENT_PDU_BYTES = 131_072;
const MEDIUM_PRIORITY = 0;

/**
 * The requestor's side of one association: open, then `store` one object after the other, then
 * `release` or `abort`. Every failure is a SonogateError of the catalogue, and tells whether the
 * peer may have the object: `peer_unreachable` before a byte of it left, `peer_connection_lost`
 * after.
 */
export class Requestor {
  readonly #socket: Socket;
  readonly #events: AsyncGenerator<PduEvent>;
  readonly #closed = new AbortController();
  readonly #contexts = new Map<string, number>();
  #lossCode: ErrorCode = 'peer_unreachable';
  #fragmentBytes = MAX_SENT_PDU_BYTES - PDV_HEADER_BYTES;
  #messageId = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const reader = new PduReader({
      first: [PDU.associateAccept, PDU.associateReject, PDU.abort],
      maxPduBytes: MAX_ANSWER_PDU_BYTES,
    });
    this.#events = readEvents(socket, reader);
    socket.once('close', () => this.#closed.abort());
    // Every wait below sees the error as well; without a listener it would end the process.
    socket.on('error', () => {});
  }

  /**
   * @param roles of classes of which we are SCP on this association.
   * @throws SonogateError `peer_unreachable`, `peer_rejected_association`.
   */
  static async open(
    node: CalledNode,
    contexts: readonly ProposedContext[],
    signal?: AbortSignal,
    roles: RoleSelection[] = [],
  ): Promise<Requestor> {
    const socket = await dial(node);
    socket.setTimeout(node.timeoutSeconds * 1000, () =>
      socket.destroy(new Error(`no answer for ${node.timeoutSeconds} s`)),
    );
    const onAbort = () => socket.destroy(new Error('canceled'));
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.once('close', () => signal?.removeEventListener('abort', onAbort));
    if (signal?.aborted) onAbort();

    const requestor = new Requestor(socket);
    try {
      await requestor.#associate(node, contexts, roles);
      return requestor;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  /** True when the connection has ended; nothing can be sent over it any more. */
  get closed(): boolean {
    return this.#closed.signal.aborted || this.#socket.destroyed;
  }

  /** Whether the peer accepted a context for the object. */
  takes({
    sopClassUid,
    transferSyntax,
  }: Pick<OutgoingObject, 'sopClassUid' | 'transferSyntax'>): boolean {
    return this.#contexts.has(`${sopClassUid} ${transferSyntax}`);
  }

  /**
   * C-STORE; resolves with whatever status the peer gives.
   * @throws SonogateError `presentation_context_refused`, `peer_unreachable`, `peer_connection_lost`.
   */
  async store(object: OutgoingObject): Promise<Response> {
    const contextId = this.#contextFor(object.sopClassUid, object.transferSyntax);
    const messageId = await this.#sendCommand(contextId, {
      commandField: COMMAND.cStore,
      hasDataSet: true,
      affectedSopClassUid: object.sopClassUid,
      affectedSopInstanceUid: object.sopInstanceUid,
      priority: MEDIUM_PRIORITY,
    });
    this.#lossCode = 'peer_connection_lost';
    let sent = 0;
    for await (const fragment of object.read(this.#fragmentBytes)) {
      sent += fragment.length;
      const last = sent === object.bytes;
      await this.#write(...encodeData(contextId, fragment, { command: false, last }));
    }
    if (sent !== object.bytes) {
      this.abort();
      throw new SonogateError('internal', `${sent} of ${object.bytes} bytes could be read.`);
    }
    const response = await this.#response(messageId);
    this.#lossCode = 'peer_unreachable';
    return response;
  }

  /**
   * C-ECHO (PS3.4 Annex A); resolves with whatever status the peer gives.
   * @throws SonogateError `presentation_context_refused`, `peer_unreachable`.
   */
  async echo(): Promise<Response> {
    const contextId = this.#contextFor(VERIFICATION, IMPLICIT_LITTLE_ENDIAN);
    const messageId = await this.#sendCommand(contextId, {
      commandField: COMMAND.cEcho,
      hasDataSet: false,
      affectedSopClassUid: VERIFICATION,
    });
    return this.#response(messageId);
  }

  /**
   * N-ACTION or N-EVENT-REPORT with a data set of a few kilobytes; resolves with whatever status the
   * peer gives.
   * @throws SonogateError `presentation_context_refused`, `peer_unreachable`, `peer_connection_lost`.
   */
  async request(
    command: Omit<CommandSet, 'messageId' | 'hasDataSet'>,
    { sopClassUid, transferSyntax }: Pick<OutgoingObject, 'sopClassUid' | 'transferSyntax'>,
    dataSet: Buffer,
  ): Promise<Response> {
    const contextId = this.#contextFor(sopClassUid, transferSyntax);
    const messageId = await this.#sendCommand(contextId, { ...command, hasDataSet: true });
    this.#lossCode = 'peer_connection_lost';
    for (let start = 0; start < dataSet.length; start += this.#fragmentBytes) {
      const fragment = dataSet.subarray(start, start + this.#fragmentBytes);
      const last = start + this.#fragmentBytes >= dataSet.length;
      await this.#write(...encodeData(contextId, fragment, { command: false, last }));
    }
    const response = await this.#response(messageId);
    this.#lossCode = 'peer_unreachable';
    return response;
  }

  /** Ends the association in order; a peer that does not answer is not waited for in vain. */
  async release(): Promise<void> {
    if (this.closed) return;
    try {
      await this.#write(encodeReleaseRequest());
      await this.#nextPdu();
    } catch {
      // What was stored has been answered; how the connection ends changes nothing.
    }
    this.#socket.end(() => this.#socket.destroy());
  }

  abort(): void {
    if (this.#socket.destroyed) return;
    this.#socket.end(encodeAbort({ source: 0, reason: 0 }), () => this.#socket.destroy());
  }

  #contextFor(sopClassUid: string, transferSyntax: string): number {
    const contextId = this.#contexts.get(`${sopClassUid} ${transferSyntax}`);
    if (contextId !== undefined) return contextId;
    throw new SonogateError(
      'presentation_context_refused',
      `The peer does not take ${sopClassUid} in ${transferSyntax}.`,
    );
  }

  async #associate(
    node: CalledNode,
    contexts: readonly ProposedContext[],
    roles: RoleSelection[],
  ): Promise<void> {
    await this.#write(
      encodeAssociateRequest({
        calledAeTitle: node.aeTitle,
        callingAeTitle: node.callingAeTitle,
        applicationContext: DICOM_APPLICATION_CONTEXT,
        contexts: [...contexts],
        maxPduBytes: MAX_ANSWER_PDU_BYTES,
        implementationClassUid: IMPLEMENTATION_CLASS_UID,
        implementationVersion: IMPLEMENTATION_VERSION,
        roles,
      }),
    );
    const answer = await this.#nextPdu();
    if (answer.type === PDU.associateReject) {
      const { result, source, reason } = decodeReject(answer.body);
      throw new SonogateError(
        'peer_rejected_association',
        `A-ASSOCIATE-RJ result ${result}, source ${source}, reason ${reason}.`,
      );
    }
    if (answer.type !== PDU.associateAccept) {
      throw new SonogateError('peer_rejected_association', 'The peer aborted the association.');
    }
    const accept = decodeAssociateAccept(answer.body);
    for (const { id, result, transferSyntax } of accept.contexts) {
      const proposed = contexts.find((context) => context.id === id);
      if (!proposed || result !== CONTEXT_RESULT.accepted) continue;
      this.#contexts.set(`${proposed.abstractSyntax} ${transferSyntax}`, id);
    }
    if (accept.maxPduBytes > 0) {
      const bytes = Math.min(accept.maxPduBytes, MAX_SENT_PDU_BYTES) - PDV_HEADER_BYTES;
      // Fragments have an even length (PS3.8 Annex E.2).
      this.#fragmentBytes = Math.max(2, bytes - (bytes % 2));
    }
  }

  async #sendCommand(contextId: number, command: Omit<CommandSet, 'messageId'>): Promise<number> {
    this.#messageId = (this.#messageId % 0xffff) + 1;
    const bytes = encodeCommandSet({ ...command, messageId: this.#messageId });
    const last = { command: true, last: true };
    await this.#write(...encodeData(contextId, bytes, last));
    return this.#messageId;
  }

  async #response(messageId: number): Promise<Response> {
    const parts: Buffer[] = [];
    for (;;) {
      const event = await this.#next();
      if (event.kind === 'pdu') throw this.#lost('The peer ended the association.');
      parts.push(event.data);
      if (!event.last) continue;
      const command = decodeCommandSet(Buffer.concat(parts));
      if (command.messageIdBeingRespondedTo !== messageId || command.status === undefined) {
        throw this.#lost('The peer answered another message.');
      }
      return { status: command.status, comment: command.errorComment ?? '' };
    }
  }

  async #nextPdu(): Promise<PduEvent & { kind: 'pdu' }> {
    const event = await this.#next();
    if (event.kind !== 'pdu') throw this.#lost('The peer sent data out of turn.');
    return event;
  }

  async #next(): Promise<PduEvent> {
    try {
      const { value, done } = await this.#events.next();
      if (!done) return value;
    } catch (error) {
      throw this.#lost(error);
    }
    throw this.#lost('The peer closed the connection.');
  }

  async #write(...buffers: Buffer[]): Promise<void> {
    try {
      if (this.closed) throw this.#socket.errored ?? new Error('connection closed');
      this.#socket.cork();
      for (const buffer of buffers) this.#socket.write(buffer);
      this.#socket.uncork();
      if (this.#socket.writableNeedDrain) {
        await once(this.#socket, 'drain', { signal: this.#closed.signal });
      }
    } catch (error) {
      throw this.#lost(this.#socket.errored ?? error);
    }
  }

  /** What the peer broke stands for itself; once the object has left, only that it may be there. */
  #lost(cause: unknown): SonogateError {
    const nothingSent = this.#lossCode === 'peer_unreachable';
    if (cause instanceof SonogateError && (nothingSent || cause.code === this.#lossCode)) {
      return cause;
    }
    const detail = cause instanceof Error ? cause.message : String(cause);
    return new SonogateError(this.#lossCode, detail, { cause });
  }
}

async function* readEvents(socket: Socket, reader: PduReader): AsyncGenerator<PduEvent> {
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    yield* reader.read(chunk as Buffer);
  }
}
