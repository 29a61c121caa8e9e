import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  IMPLEMENTATION_CLASS_UID,
  IMPLEMENTATION_VERSION,
} from '../../pipelines/dicom/implementation.ts';
import { type ErrorCode, SonogateError } from '../../src/platform/errors/catalogue.ts';
import { type CommandSet, encodeCommandSet } from './command-set.ts';
import { type CalledNode, dial } from './dial.ts';
import { type AcceptedContext, acceptedContexts, sentFragmentBytes } from './negotiation.ts';
import {
  type AssociateAccept,
  DICOM_APPLICATION_CONTEXT,
  decodeAssociateAccept,
  decodeReject,
  encodeAbort,
  encodeAssociateRequest,
  encodeData,
  encodeReleaseRequest,
  encodeReleaseResponse,
  PDU,
  type ProposedContext,
  type RoleSelection,
} from './pdu.ts';
import { type PduEvent, PduReader, readEvents } from './pdu-reader.ts';

/** What we announce; a peer that sends longer ones is not speaking DICOM. */
export const MAX_RECEIVED_PDU_BYTES = 131_072;

/** The A-ASSOCIATE-RQ for a node. */
export function associateRequestTo(
  { aeTitle, callingAeTitle }: Pick<CalledNode, 'aeTitle' | 'callingAeTitle'>,
  contexts: readonly ProposedContext[],
  roles: RoleSelection[],
): Buffer {
  return encodeAssociateRequest({
    calledAeTitle: aeTitle,
    callingAeTitle,
    applicationContext: DICOM_APPLICATION_CONTEXT,
    contexts: [...contexts],
    maxPduBytes: MAX_RECEIVED_PDU_BYTES,
    implementationClassUid: IMPLEMENTATION_CLASS_UID,
    implementationVersion: IMPLEMENTATION_VERSION,
    roles,
  });
}

/** @throws SonogateError `peer_rejected_association`, `unexpected_pdu`. */
export function readAssociateAnswer(answer: PduEvent & { kind: 'pdu' }): AssociateAccept {
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
  return decodeAssociateAccept(answer.body);
}

/** @returns whether the promise is fulfilled or rejected within `milliseconds`. */
export function settlesWithin(milliseconds: number, promise: Promise<unknown>): Promise<boolean> {
  const waiting = new AbortController();
  const late = delay(milliseconds, false, { signal: waiting.signal }).catch(() => true);
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, late]).finally(() => waiting.abort());
}

export type { CalledNode } from './dial.ts';

/** The requestor's side of one association (PS3.8 9.2). Every failure is a SonogateError. */
export class CallingAssociation {
  /**
   * What a loss of the connection means from here on: nothing was sent, or the peer may have it.
   */
  lossCode: ErrorCode = 'peer_unreachable';
  readonly #socket: Socket;
  readonly #timeoutMs: number;
  readonly #events: AsyncGenerator<PduEvent>;
  /** Read while the association rests; the next answer when it goes on. */
  #ahead: Promise<IteratorResult<PduEvent>> | null = null;
  #resting = false;
  readonly #closed = new AbortController();
  #contexts: ReadonlyMap<number, AcceptedContext> = new Map();
  #roles: readonly RoleSelection[] = [];
  #fragmentBytes = sentFragmentBytes(0);
  #messageId = 0;

  private constructor(socket: Socket, timeoutMs: number) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    // For the end, which a peer that takes nothing would put off for ever.
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error('nothing moved')));
    const reader = new PduReader({
      first: [PDU.associateAccept, PDU.associateReject, PDU.abort],
      maxPduBytes: MAX_RECEIVED_PDU_BYTES,
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
  ): Promise<CallingAssociation> {
    const socket = await dial(node);
    const onAbort = () => socket.destroy(new Error('canceled'));
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.once('close', () => signal?.removeEventListener('abort', onAbort));
    if (signal?.aborted) onAbort();

    const association = new CallingAssociation(socket, node.timeoutSeconds * 1000);
    try {
      await association.#associate(node, contexts, roles);
      return association;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  /** True when the connection has ended; nothing more can be sent over it. */
  get closed(): boolean {
    return this.#closed.signal.aborted || this.#socket.destroyed || this.#socket.writableEnded;
  }

  /** Contexts that the peer accepted, by id. */
  get contexts(): ReadonlyMap<number, AcceptedContext> {
    return this.#contexts;
  }

  /** What the peer agreed to of the roles that were proposed (PS3.7 D.3.3.4). */
  get roles(): readonly RoleSelection[] {
    return this.#roles;
  }

  /** Largest piece of a data set that fits into one PDU of the peer. */
  get fragmentBytes(): number {
    return this.#fragmentBytes;
  }

  /** @throws SonogateError `presentation_context_refused`. */
  contextFor(sopClassUid: string, transferSyntax: string): number {
    for (const [id, context] of this.#contexts) {
      if (context.abstractSyntax === sopClassUid && context.transferSyntax === transferSyntax) {
        return id;
      }
    }
    throw new SonogateError(
      'presentation_context_refused',
      `The peer does not take ${sopClassUid} in ${transferSyntax}.`,
    );
  }

  /** Sends a request. @returns its message id. */
  async sendCommand(contextId: number, command: Omit<CommandSet, 'messageId'>): Promise<number> {
    this.#messageId = (this.#messageId % 0xffff) + 1;
    const messageId = this.#messageId;
    await this.#writeCommand(contextId, { ...command, messageId });
    return messageId;
  }

  /** Sends a response, or a C-CANCEL: what has no message id of its own. */
  sendAnswer(contextId: number, command: CommandSet): Promise<void> {
    return this.#writeCommand(contextId, command);
  }

  /** One piece of a data set, at most `fragmentBytes` long. */
  async sendFragment(contextId: number, fragment: Buffer, last: boolean): Promise<void> {
    await this.#write(...encodeData(contextId, fragment, { command: false, last }));
  }

  /** A data set held in memory. */
  async sendDataSet(contextId: number, dataSet: Buffer): Promise<void> {
    for (let start = 0; start < dataSet.length; start += this.#fragmentBytes) {
      const fragment = dataSet.subarray(start, start + this.#fragmentBytes);
      await this.sendFragment(contextId, fragment, start + this.#fragmentBytes >= dataSet.length);
    }
  }

  /** The next piece of a message. @throws SonogateError `lossCode` when the peer ends instead. */
  async nextFragment(): Promise<PduEvent & { kind: 'fragment' }> {
    const event = await this.#next();
    if (event.kind === 'fragment') return event;
    if (event.type === PDU.releaseRequest) this.#confirmRelease();
    throw this.lost('The peer ended the association.');
  }

  /**
   * Reads one message, for which the peer has the time-out in however many pieces it sends it.
   * @throws what `read` throws.
   */
  async inTime<T>(read: () => Promise<T>): Promise<T> {
    const deadline = this.#deadline();
    try {
      return await read();
    } finally {
      clearTimeout(deadline);
    }
  }

  /** @returns whether the peer sends something, or ends, within `milliseconds`. */
  hears(milliseconds: number): Promise<boolean> {
    this.#ahead ??= this.#events.next();
    return settlesWithin(milliseconds, this.#ahead);
  }

  /** Ends the association in order; a peer that does not answer is not waited for indefinitely. */
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

  /**
   * Nothing is asked for now. A peer that releases or aborts meanwhile ends the association, which
   * is then `closed` before anything is sent over it in vain.
   */
  rest(): void {
    this.#resting = true;
    if (this.#ahead) return;
    this.#ahead = this.#events.next();
    this.#ahead.then(
      ({ value, done }) => {
        if (!this.#resting) return;
        const asked = !done && value.kind === 'pdu' && value.type === PDU.releaseRequest;
        if (asked) this.#confirmRelease();
        else this.#socket.destroy();
        this.#closed.abort();
      },
      () => this.#socket.destroy(),
    );
  }

  #confirmRelease(): void {
    this.#socket.end(encodeReleaseResponse(), () => this.#socket.destroy());
  }

  abort(): void {
    if (this.#socket.destroyed) return;
    this.#socket.end(encodeAbort({ source: 0, reason: 0 }), () => this.#socket.destroy());
  }

  /** What the peer broke stands for itself; once the object has left, only that it may be there. */
  lost(cause: unknown): SonogateError {
    const nothingSent = this.lossCode === 'peer_unreachable';
    if (cause instanceof SonogateError && (nothingSent || cause.code === this.lossCode)) {
      return cause;
    }
    const detail = cause instanceof Error ? cause.message : String(cause);
    return new SonogateError(this.lossCode, detail, { cause });
  }

  async #associate(
    node: CalledNode,
    contexts: readonly ProposedContext[],
    roles: RoleSelection[],
  ): Promise<void> {
    await this.#write(associateRequestTo(node, contexts, roles));
    const accept = readAssociateAnswer(await this.#nextPdu());
    this.#contexts = acceptedContexts(contexts, accept.contexts);
    this.#roles = accept.roles ?? [];
    this.#fragmentBytes = sentFragmentBytes(accept.maxPduBytes);
  }

  async #writeCommand(contextId: number, command: CommandSet): Promise<void> {
    const bytes = encodeCommandSet(command);
    await this.#write(...encodeData(contextId, bytes, { command: true, last: true }));
  }

  async #nextPdu(): Promise<PduEvent & { kind: 'pdu' }> {
    const event = await this.#next();
    if (event.kind !== 'pdu') throw this.lost('The peer sent data out of turn.');
    return event;
  }

  async #next(): Promise<PduEvent> {
    const deadline = this.#deadline();
    try {
      const coming = this.#ahead ?? this.#events.next();
      this.#ahead = null;
      const { value, done } = await coming;
      if (!done) return value;
    } catch (error) {
      throw this.lost(error);
    } finally {
      clearTimeout(deadline);
    }
    throw this.lost('The peer closed the connection.');
  }

  /** A peer that sends one byte now and then is not waited for longer than a silent one. */
  #deadline(): NodeJS.Timeout {
    const silence = new Error(`no answer for ${this.#timeoutMs / 1000} s`);
    return setTimeout(() => this.#socket.destroy(silence), this.#timeoutMs);
  }

  async #write(...buffers: Buffer[]): Promise<void> {
    this.#resting = false;
    const deadline = this.#deadline();
    try {
      if (this.closed) throw this.#socket.errored ?? new Error('connection closed');
      this.#socket.cork();
      for (const buffer of buffers) this.#socket.write(buffer);
      this.#socket.uncork();
      if (this.#socket.writableNeedDrain) {
        await once(this.#socket, 'drain', { signal: this.#closed.signal });
      }
    } catch (error) {
      throw this.lost(this.#socket.errored ?? error);
    } finally {
      clearTimeout(deadline);
    }
  }
}
