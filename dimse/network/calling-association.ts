import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  IMPLEMENTATION_CLASS_UID,
  IMPLEMENTATION_VERSION,
} from '../../pipelines/dicom/implementation.ts';
import { type ErrorCode, SonogateError } from '../../src/platform/errors/catalogue.ts';
import { type CalledNode, dial } from './dial.ts';
import {
  type CommandSet,
  encodeCommandSet,
  MessageAssembler,
  type MessagePart,
} from './message.ts';
import { type AcceptedContext, acceptedContexts, sentFragmentBytes } from './negotiation.ts';
import {
  ABORT_BY_USER,
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
  rejectionInWords,
} from './pdu.ts';
import { type PduEvent, PduReader, readEvents } from './pdu-reader.ts';
import { type Action, eventOfPdu, UpperLayerMachine } from './state-machine.ts';

/** The maximum length that we announce. A longer PDU is a protocol error. */
const MAX_RECEIVED_PDU_BYTES = 131_072;

/**
 * The requestor's side of one association. Its protocol is the state machine of PS3.8 9.2
 * (state-machine.ts). Every failure is a SonogateError.
 */
export class CallingAssociation {
  /**
   * The error code if the connection is lost now: `peer_unreachable` if no byte of the object has
   * been sent, `peer_connection_lost` if the peer may have the object.
   */
  lossCode: ErrorCode = 'peer_unreachable';
  readonly #socket: Socket;
  readonly #timeoutMs: number;
  readonly #events: AsyncGenerator<PduEvent>;
  readonly #machine = new UpperLayerMachine('requestor');
  readonly #messages = new MessageAssembler();
  /**
   * The read of the peer's next PDU, if it was started while the association was idle. The next
   * method that reads uses its result.
   */
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
    this.#machine.on('associate-request');
    // Without this time-out, a peer that stops reading could keep the association open forever.
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error('no progress')));
    const reader = new PduReader({
      first: [PDU.associateAccept, PDU.associateReject, PDU.abort],
      maxPduBytes: MAX_RECEIVED_PDU_BYTES,
    });
    this.#events = readEvents(socket, reader);
    socket.once('close', () => this.#closed.abort());
    // Without a listener, an error of the socket would end the process. Each method that waits for
    // the socket receives the error and handles it.
    socket.on('error', () => {});
  }

  /**
   * Opens an association.
   * @param roles the SOP classes for which we are the SCP on this association.
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

  get closed(): boolean {
    return this.#closed.signal.aborted || this.#socket.destroyed || this.#socket.writableEnded;
  }

  get contexts(): ReadonlyMap<number, AcceptedContext> {
    return this.#contexts;
  }

  /** The proposed roles that the peer accepted (PS3.7 D.3.3.4). */
  get roles(): readonly RoleSelection[] {
    return this.#roles;
  }

  /** Maximum size of a data set fragment that fits into one PDU for the peer. */
  get fragmentBytes(): number {
    return this.#fragmentBytes;
  }

  get insideMessage(): boolean {
    return this.#messages.insideMessage;
  }

  /**
   * Returns the id of the accepted context.
   * @throws SonogateError `presentation_context_refused`.
   */
  contextFor(sopClassUid: string, transferSyntax: string): number {
    for (const [id, context] of this.#contexts) {
      if (context.abstractSyntax === sopClassUid && context.transferSyntax === transferSyntax) {
        return id;
      }
    }
    throw new SonogateError(
      'presentation_context_refused',
      `The peer does not accept ${sopClassUid} in ${transferSyntax}.`,
    );
  }

  /**
   * Sends a request.
   * @returns its message id.
   */
  async sendCommand(contextId: number, command: Omit<CommandSet, 'messageId'>): Promise<number> {
    this.#messageId = (this.#messageId % 0xffff) + 1;
    const messageId = this.#messageId;
    await this.#writeCommand(contextId, { ...command, messageId });
    return messageId;
  }

  /** Sends a response or a C-CANCEL, which do not get a new message id. */
  sendAnswer(contextId: number, command: CommandSet): Promise<void> {
    return this.#writeCommand(contextId, command);
  }

  /** Sends one piece of a data set, at most `fragmentBytes` long. */
  async sendFragment(contextId: number, fragment: Buffer, last: boolean): Promise<void> {
    await this.#writeData(...encodeData(contextId, fragment, { command: false, last }));
  }

  async sendDataSet(contextId: number, dataSet: Buffer): Promise<void> {
    for (let start = 0; start < dataSet.length; start += this.#fragmentBytes) {
      const fragment = dataSet.subarray(start, start + this.#fragmentBytes);
      await this.sendFragment(contextId, fragment, start + this.#fragmentBytes >= dataSet.length);
    }
  }

  /**
   * Returns the next part of a message from the peer.
   * @throws SonogateError `unexpected_pdu`; with the code in `lossCode` if the peer ends the
   * association instead.
   */
  async nextPart(): Promise<MessagePart> {
    for (;;) {
      const event = await this.#next();
      const action = this.#machine.on(eventOfPdu(event));
      if (action !== 'DT-2' || event.kind !== 'fragment') {
        this.#endAfter(action);
        throw this.lost('The peer released the association.');
      }
      const part = this.#messages.take(event);
      if (part) return part;
    }
  }

  /**
   * Runs `read` for one message. The peer's time-out applies to the whole message, however many
   * pieces it has.
   * @throws whatever `read` throws.
   */
  async inTime<T>(read: () => Promise<T>): Promise<T> {
    const deadline = this.#deadline();
    try {
      return await read();
    } finally {
      clearTimeout(deadline);
    }
  }

  /**
   * Waits for the peer.
   * @returns true if the peer sends something or ends the association within `milliseconds`.
   */
  hears(milliseconds: number): Promise<boolean> {
    this.#ahead ??= this.#events.next();
    return settlesWithin(milliseconds, this.#ahead);
  }

  /** Releases the association. Waits for the peer's response no longer than the time-out. */
  async release(): Promise<void> {
    if (this.closed) return;
    if (this.#machine.on('release-request') === 'AR-1') {
      try {
        await this.#write(encodeReleaseRequest());
        const action = this.#machine.on(eventOfPdu(await this.#next()));
        if (action === 'AR-8') {
          this.#machine.on('release-response');
          this.#socket.write(encodeReleaseResponse());
        }
      } catch {
        // All requests have been answered, so it does not matter how the connection ends.
      }
    }
    this.#socket.end(() => this.#socket.destroy());
  }

  /**
   * Called when there is no further request for now. If the peer then releases or aborts the
   * association, the association becomes `closed`, so that no request is sent over it in vain.
   */
  rest(): void {
    this.#resting = true;
    if (this.#ahead) return;
    this.#ahead = this.#events.next();
    this.#ahead.then(
      ({ value, done }) => {
        if (!this.#resting) return;
        this.#endAfter(done ? null : this.#machine.on(eventOfPdu(value)));
        if (!this.#socket.writableEnded) this.#socket.destroy();
        this.#closed.abort();
      },
      () => this.#socket.destroy(),
    );
  }

  abort(): void {
    if (this.#socket.destroyed) return;
    this.#machine.on('abort-request');
    this.#socket.end(encodeAbort(ABORT_BY_USER), () => this.#socket.destroy());
  }

  /**
   * Returns the error for a failed association. Before any byte of the object has been sent, a
   * protocol error by the peer keeps its own code. Afterwards the code is `lossCode`, because what
   * matters then is that the peer may have the object.
   */
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
    // The connection might not be open yet. The event can be reported anyway, because the socket
    // buffers our request until the connection opens.
    this.#machine.on('connected');
    await this.#write(associateRequestTo(node, contexts, roles));
    const answer = await this.#next();
    const action = this.#machine.on(eventOfPdu(answer));
    if (answer.kind !== 'pdu') throw this.lost('The peer sent data unexpectedly.');
    const accept = readAssociateAnswer(action, answer.body);
    this.#contexts = acceptedContexts(contexts, accept.contexts);
    this.#roles = accept.roles ?? [];
    this.#fragmentBytes = sentFragmentBytes(accept.maxPduBytes);
  }

  /**
   * Performs the action that is due when the peer has ended the association: responds to its
   * release, or closes the connection.
   */
  #endAfter(action: Action | null): void {
    if (action === 'AR-2') {
      this.#machine.on('release-response');
      this.#socket.end(encodeReleaseResponse(), () => this.#socket.destroy());
    } else if (action === 'AA-3') {
      this.#socket.destroy();
    }
  }

  async #writeCommand(contextId: number, command: CommandSet): Promise<void> {
    const bytes = encodeCommandSet(command);
    await this.#writeData(...encodeData(contextId, bytes, { command: true, last: true }));
  }

  async #writeData(...buffers: Buffer[]): Promise<void> {
    this.#machine.on('data-request');
    await this.#write(...buffers);
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
    this.#machine.on('connection-closed');
    throw this.lost('The peer closed the connection.');
  }

  /**
   * Starts a deadline that arriving bytes do not extend: a peer that sends single bytes gets no
   * more time than a silent one.
   */
  #deadline(): NodeJS.Timeout {
    const silence = new Error(`no response for ${this.#timeoutMs / 1000} s`);
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

function associateRequestTo(
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

/**
 * Reads the response to an association request.
 * @throws SonogateError `peer_rejected_association`, `unexpected_pdu`.
 */
function readAssociateAnswer(action: Action | null, body: Buffer): AssociateAccept {
  if (action === 'AE-3') return decodeAssociateAccept(body);
  if (action === 'AE-4') {
    throw new SonogateError(
      'peer_rejected_association',
      `A-ASSOCIATE-RJ: ${rejectionInWords(decodeReject(body))}.`,
    );
  }
  throw new SonogateError('peer_rejected_association', 'The peer aborted the association.');
}

function settlesWithin(milliseconds: number, promise: Promise<unknown>): Promise<boolean> {
  const waiting = new AbortController();
  const late = delay(milliseconds, false, { signal: waiting.signal }).catch(() => true);
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, late]).finally(() => waiting.abort());
}
