import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import {
  IMPLEMENTATION_CLASS_UID,
  IMPLEMENTATION_VERSION,
} from '../../pipelines/dicom/implementation.ts';
import { ERRORS, type ErrorCode, SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import { peerCertificate } from '../../src/platform/tls/certificates.ts';
import type { Artim } from './artim.ts';
import { DimseProvider } from './dimse-provider.ts';
import { type CommandSet, encodeCommandSet, MessageAssembler } from './message.ts';
import {
  answerContexts,
  explicitFirst,
  type Offer,
  receivedClasses,
  sentFragmentBytes,
  whyRejected,
} from './negotiation.ts';
import {
  ABORT_BY_USER,
  type AssociateRequest,
  DICOM_APPLICATION_CONTEXT,
  decodeAssociateRequest,
  encodeAbort,
  encodeAssociateAccept,
  encodeData,
  encodeReject,
  encodeReleaseResponse,
  PDU,
} from './pdu.ts';
import { type PduEvent, PduReader } from './pdu-reader.ts';
import type {
  Admission,
  Admitted,
  AssociationEnd,
  AssociationPeer,
  NormalizedService,
  OutgoingObject,
  QueryService,
  StorageService,
} from './service-ports.ts';
import { eventOfPdu, STATES, UpperLayerMachine } from './state-machine.ts';
import { abortFor, rejectionFor } from './status.ts';

/** Waits until a full write buffer of the socket has emptied or the connection has closed. */
async function drained(socket: Socket): Promise<void> {
  if (!socket.writableNeedDrain) return;
  await new Promise<void>((resolve) => {
    const onDrained = () => {
      socket.off('drain', onDrained).off('close', onDrained);
      resolve();
    };
    socket.on('drain', onDrained).on('close', onDrained);
  });
}

/**
 * Frees the memory of a processed chunk. Node.js allocates a new buffer for each read of a socket;
 * if the garbage collector had to free them, it would run a full collection dozens of times a
 * second.
 */
function free({ buffer, byteLength }: Buffer): void {
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  if (isWhole) buffer.transfer(0);
}

export interface AcceptorOptions {
  /** Our AE title; null to accept any called AE title (for a demo receiver). */
  aeTitle: string | null;
  maxPduBytes: number;
  offer: Offer;
  admit: Admission;
  storage: StorageService;
  normalized?: NormalizedService | null;
  query?: QueryService | null;
  logger: Logger;
  /**
   * The ARTIM timer, which runs until the association is established, and again after our last PDU.
   */
  artim: Artim;
  onRefused?: (peer: AssociationPeer, code: ErrorCode) => void;
}

/**
 * The acceptor's side of one association. Its protocol is the state machine of PS3.8 9.2
 * (state-machine.ts). While the association is established, the peer may be silent for no longer
 * than its idle timeout.
 *
 * One loop reads the socket and processes each fragment before reading on. Back-pressure therefore
 * reaches the peer through TCP, and fragments cannot overtake each other, however many a PDU has.
 * The loop also waits while the peer is slow to read our responses.
 */
export class Acceptor {
  readonly #socket: Socket;
  readonly #options: AcceptorOptions;
  readonly #reader: PduReader;
  readonly #machine = new UpperLayerMachine('acceptor');
  readonly #messages = new MessageAssembler();
  #end: AssociationEnd = 'aborted';
  #peer: AssociationPeer;
  #provider: DimseProvider | null = null;
  #admitted: Admitted | null = null;
  #fragmentBytes = sentFragmentBytes(0);
  #working = false;
  #stopping = false;

  constructor(socket: Socket, options: AcceptorOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#reader = new PduReader({
      first: [PDU.associateRequest, PDU.abort],
      maxPduBytes: options.maxPduBytes,
    });
    this.#peer = {
      id: randomUUID(),
      callingAeTitle: '',
      calledAeTitle: '',
      address: socket.remoteAddress ?? '',
      certificate: socket instanceof TLSSocket ? peerCertificate(socket) : null,
    };
    // The listener has already started ARTIM (AE-5); with TLS, it did so before the handshake.
    this.#machine.on('connection-accepted');
  }

  /** Serves the connection until it has ended. Never rejects: errors are logged. */
  async serve(): Promise<void> {
    // Without a listener, an error after the end of the loop would end the process. Until then, the
    // loop itself receives every error.
    this.#socket.on('error', () => {});
    this.#socket.on('timeout', () => this.#onSilence());
    try {
      // The socket stays open after the loop, because our last PDU still has to be sent.
      for await (const chunk of this.#socket.iterator({ destroyOnReturn: false })) {
        this.#working = true;
        for (const event of this.#reader.read(chunk as Buffer)) {
          await this.#handle(event);
          // Wait while the peer is slow to read our responses; otherwise they would accumulate in
          // memory. The idle timeout applies while we wait.
          this.#working = false;
          await drained(this.#socket);
          this.#working = true;
          if (!this.#isOpen) return;
        }
        free(chunk);
        this.#working = false;
        if (this.#stopping) this.stop();
      }
      this.#onEndOfStream();
    } catch (error) {
      this.#onError(error);
    } finally {
      await this.#finish();
    }
  }

  /**
   * Called when the gateway is stopping. Ends the association at once or, if an object is being
   * received, after that object.
   */
  stop(): void {
    this.#stopping = true;
    if (!this.#isEstablished || this.#working || this.#messages.insideMessage) return;
    this.#machine.on('abort-request');
    this.#endWith(encodeAbort(ABORT_BY_USER));
  }

  get #isOpen(): boolean {
    return this.#machine.state === 'Sta2' || this.#isEstablished;
  }

  get #isEstablished(): boolean {
    return this.#machine.state === 'Sta6';
  }

  async #handle(event: PduEvent): Promise<void> {
    const stateBefore = this.#machine.state;
    // A request that cannot be read is an invalid PDU (E19), so it is decoded before the transition.
    const request =
      event.kind === 'pdu' && event.type === PDU.associateRequest
        ? decodeAssociateRequest(event.body)
        : null;
    const action = this.#machine.on(eventOfPdu(event));
    if (action === 'AE-6' && request) return this.#onAssociateRequest(request);
    if (action === 'DT-2' && event.kind === 'fragment') {
      const part = this.#messages.take(event);
      return part === null ? undefined : this.#provider?.take(part);
    }
    if (action === 'AR-2' && !this.#messages.insideMessage) {
      // A peer that releases the association while a query is being answered does not want the
      // remaining matches.
      await this.#provider?.end();
      await this.#options.storage.settled?.(this.#peer);
      this.#machine.on('release-response');
      this.#end = 'released';
      this.#socket.end(encodeReleaseResponse());
      return;
    }
    if (action === 'AA-2' || action === 'AA-3') {
      this.#options.logger.event('association_aborted', this.#who);
      this.#socket.destroy();
      return;
    }
    const pdu = event.kind === 'fragment' ? 'P-DATA-TF' : `a PDU of type ${event.type}`;
    const state =
      action === 'AR-2' ? 'in the middle of a message' : `in the state "${STATES[stateBefore]}"`;
    this.#abort('unexpected_pdu', `The peer sent ${pdu} ${state}.`);
  }

  #onAssociateRequest(request: AssociateRequest): void {
    const { aeTitle, admit } = this.#options;
    this.#peer = {
      ...this.#peer,
      callingAeTitle: request.callingAeTitle,
      calledAeTitle: request.calledAeTitle,
    };
    const code = whyRejected(request, aeTitle);
    const admission = code === null ? admit(this.#peer) : { refused: code };
    if ('refused' in admission) this.#reject(admission.refused);
    else this.#accept(request, admission);
  }

  #reject(code: ErrorCode): void {
    this.#machine.on('reject-response');
    this.#socket.end(encodeReject(rejectionFor(code)));
    const { operator } = ERRORS[code];
    const { calledAeTitle } = this.#peer;
    const why = { calledAeTitle, code, operator };
    this.#options.logger.event('association_rejected', { ...this.#who, ...why });
    this.#options.onRefused?.(this.#peer, code);
  }

  #accept(request: AssociateRequest, admission: Admitted): void {
    const { offer, maxPduBytes, artim } = this.#options;
    this.#admitted = admission;
    const { source, mayQuery } = admission;
    this.#peer = { ...this.#peer, source, mayQuery };
    const receiving = receivedClasses(request.roles);
    const contexts = explicitFirst(request.contexts, receiving);
    const { answers, accepted } = answerContexts(contexts, offer);
    this.#provider = new DimseProvider({
      contexts: accepted,
      receiving,
      peer: this.#peer,
      storage: this.#options.storage,
      normalized: this.#options.normalized ?? null,
      query: this.#options.query ?? null,
      sendObject: (contextId, command, object) => this.#sendObject(contextId, command, object),
      drained: () => drained(this.#socket),
      send: (contextId, command, dataSet) => this.#send(contextId, command, dataSet),
      log: (event, fields) => this.#options.logger.event(event, { ...this.#who, ...fields }),
    });
    this.#fragmentBytes = sentFragmentBytes(request.maxPduBytes);
    this.#machine.on('accept-response');
    artim.stop();
    this.#socket.setTimeout(admission.idleTimeoutSeconds * 1000);
    this.#socket.write(
      encodeAssociateAccept({
        calledAeTitle: request.calledAeTitle,
        callingAeTitle: request.callingAeTitle,
        applicationContext: DICOM_APPLICATION_CONTEXT,
        contexts: answers,
        repeated: request.repeated,
        // The maximum length that we can receive. The peer announces its own maximum (PS3.8 D.1).
        maxPduBytes,
        implementationClassUid: IMPLEMENTATION_CLASS_UID,
        implementationVersion: IMPLEMENTATION_VERSION,
        // Proposed roles are accepted: a peer that sends an N-EVENT-REPORT over its own association
        // must be the SCP of the class.
        roles: request.roles ?? [],
      }),
    );
    this.#options.logger.event('association_accepted', {
      ...this.#who,
      implementation: request.implementationVersion,
      accepted: accepted.size,
      refused: answers.length - accepted.size,
    });
  }

  #send(contextId: number, command: CommandSet, dataSet?: Buffer): void {
    this.#machine.on('data-request');
    this.#sendInParts(contextId, encodeCommandSet(command), true);
    if (dataSet) this.#sendInParts(contextId, dataSet, false);
  }

  /**
   * Sends an object by C-STORE.
   * @throws Error if the association ends before the object is sent.
   */
  async #sendObject(contextId: number, command: CommandSet, object: OutgoingObject): Promise<void> {
    this.#machine.on('data-request');
    this.#sendInParts(contextId, encodeCommandSet(command), true);
    let sent = 0;
    try {
      for await (const piece of object.read(this.#fragmentBytes)) {
        if (!this.#isEstablished) throw new Error('the association has ended');
        sent += piece.length;
        const last = sent === object.bytes;
        this.#socket.write(Buffer.concat(encodeData(contextId, piece, { command: false, last })));
        await drained(this.#socket);
      }
      if (sent !== object.bytes) {
        throw new Error('the file has become shorter since it was opened');
      }
    } catch (error) {
      // The association must end, because the peer cannot tell where the message ends.
      if (this.#isEstablished) {
        this.#abort('internal', `${sent} of ${object.bytes} bytes could be read.`);
      }
      throw error;
    }
  }

  #sendInParts(contextId: number, bytes: Buffer, command: boolean): void {
    const size = this.#fragmentBytes;
    for (let start = 0; start < bytes.length; start += size) {
      const part = bytes.subarray(start, start + size);
      const last = start + size >= bytes.length;
      this.#socket.write(Buffer.concat(encodeData(contextId, part, { command, last })));
    }
  }

  /**
   * Called when the idle timeout has expired. While data from the peer is still being processed, or
   * a query or retrieval is carried out for it, the peer is not idle, and the timeout starts again.
   */
  #onSilence(): void {
    if (!this.#isEstablished) return;
    const serving = this.#provider?.working === true && !this.#socket.writableNeedDrain;
    if (this.#working || serving) {
      this.#socket.setTimeout(this.#socket.timeout ?? 0);
      return;
    }
    this.#options.logger.event('association_idle', this.#who);
    this.#machine.on('abort-request');
    this.#endWith(encodeAbort(abortFor('association_idle')));
  }

  #endWith(pdu: Buffer): void {
    this.#socket.end(pdu, () => this.#socket.destroy());
    // The ARTIM timer is needed: a peer that does not read our data will not read this PDU either.
    this.#options.artim.start();
  }

  #onEndOfStream(): void {
    if (!this.#isOpen) return;
    if (this.#reader.insidePdu || this.#isEstablished) {
      this.#options.logger.event('connection_closed', { ...this.#who, code: 'unexpected_pdu' });
    }
    this.#machine.on('connection-closed');
  }

  #onError(error: unknown): void {
    // In Sta3, the association request could not be admitted, so the connection is aborted too. In
    // all other closed states, there is nothing to do.
    if (!this.#isOpen && this.#machine.state !== 'Sta3') return;
    if (error instanceof SonogateError) {
      this.#abort(error.code, error.detail);
      return;
    }
    this.#machine.on('connection-closed');
    this.#options.logger.event('connection_lost', { ...this.#who, error: String(error) });
    this.#socket.destroy();
  }

  /**
   * Sends A-ABORT after a protocol error. Before an association has been requested, its source is the
   * service user, which states no reason (AA-1); afterwards, it is the service provider (AA-8; PS3.8
   * table 9-9).
   */
  #abort(code: ErrorCode, detail: string | undefined): void {
    const action = this.#machine.on('invalid-pdu');
    this.#options.logger.event('connection_aborted', { ...this.#who, code, detail });
    this.#socket.end(encodeAbort(action === 'AA-1' ? ABORT_BY_USER : abortFor(code)));
  }

  async #finish(): Promise<void> {
    this.#working = false;
    this.#socket.setTimeout(0);
    // After our last PDU, the peer has to close the connection. If it does not, the ARTIM timer
    // closes it. PDUs that still arrive are ignored (AA-6).
    this.#options.artim.start();
    this.#socket.resume();
    await this.#provider?.end();
    if (!this.#admitted) return;
    this.#admitted.ended?.();
    const end = this.#end;
    this.#options.logger.event('association_ended', { ...this.#who, end });
    try {
      await this.#options.storage.ended(this.#peer, end);
    } catch (error) {
      this.#options.logger.event('association_end_unrecorded', {
        ...this.#who,
        error: String(error),
      });
    }
  }

  get #who() {
    const { id, callingAeTitle, address } = this.#peer;
    return { association: id, callingAeTitle, address };
  }
}
