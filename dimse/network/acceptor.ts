import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import {
  IMPLEMENTATION_CLASS_UID,
  IMPLEMENTATION_VERSION,
} from '../../pipelines/dicom/implementation.ts';
import { ERRORS, type ErrorCode, SonogateError } from '../../src/platform/errors/catalogue.ts';
import { EVENTS } from '../../src/platform/logging/events.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import { peerCertificate } from '../../src/platform/tls/certificates.ts';
import type { Artim } from './artim.ts';
import { type CommandSet, encodeCommandSet } from './command-set.ts';
import { DimseProvider } from './dimse-provider.ts';
import { answerContexts, type Offer, sentFragmentBytes, whyRejected } from './negotiation.ts';
import {
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
  StorageService,
} from './service-ports.ts';
import { abortFor, rejectionFor } from './status.ts';

/** Resolves when the peer has taken what was written, or the connection has closed. */
export async function drained(socket: Socket): Promise<void> {
  if (!socket.writableNeedDrain) return;
  await new Promise<void>((resolve) => {
    const onTaken = () => {
      socket.off('drain', onTaken).off('close', onTaken);
      resolve();
    };
    socket.on('drain', onTaken).on('close', onTaken);
  });
}

export interface AcceptorOptions {
  /** Called AE title that is ours; null answers to any (the receiver of a demo). */
  aeTitle: string | null;
  maxPduBytes: number;
  offer: Offer;
  admit: Admission;
  storage: StorageService;
  normalized?: NormalizedService | null;
  logger: Logger;
  /** Runs until the association, and from our last word on. */
  artim: Artim;
  /** Told of each association that is refused. */
  onRefused?: (peer: AssociationPeer, code: ErrorCode) => void;
}

/**
 * The acceptor's side of one association (PS3.8 9.2).
 *
 *   awaiting ──A-ASSOCIATE-RQ──▶ established ──A-RELEASE-RQ──▶ released
 *      │ refused                      │ A-ABORT, connection lost, bad PDU, idle
 *      ▼                              ▼
 *   rejected                       aborted
 *
 * ARTIM runs in every state but `established`; in that one the peer may be silent for its idle
 * timeout.
 *
 * The socket is read by one loop that waits for each fragment to be taken, so back-pressure reaches
 * the peer through TCP and fragments can never overtake each other, whatever their number per PDU.
 * Nor does it go on before the peer has taken our answers.
 */
const STATE = ['awaiting', 'established', 'released', 'rejected', 'aborted'] as const;
type State = (typeof STATE)[number];

export class Acceptor {
  readonly #socket: Socket;
  readonly #options: AcceptorOptions;
  readonly #reader: PduReader;
  #state: State = 'awaiting';
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
      first: [PDU.associateRequest],
      maxPduBytes: options.maxPduBytes,
    });
    this.#peer = {
      id: randomUUID(),
      callingAeTitle: '',
      calledAeTitle: '',
      address: socket.remoteAddress ?? '',
      certificate: socket instanceof TLSSocket ? peerCertificate(socket) : null,
    };
  }

  /** Serves the connection until it has ended. Never rejects: what goes wrong is logged. */
  async serve(): Promise<void> {
    // An error is seen by the loop as well; without a listener a late error would end the process.
    this.#socket.on('error', () => {});
    this.#socket.on('timeout', () => this.#onSilence());
    try {
      // The socket outlives the loop: our last PDU is still to be flushed.
      for await (const chunk of this.#socket.iterator({ destroyOnReturn: false })) {
        this.#working = true;
        for (const event of this.#reader.read(chunk as Buffer)) {
          await this.#handle(event);
          // It owes us that it reads our answers, which would pile up here.
          this.#working = false;
          await drained(this.#socket);
          this.#working = true;
          if (this.#state !== 'awaiting' && this.#state !== 'established') return;
        }
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

  /** Ends the association as the gateway stops: at once, or after the object that is under way. */
  stop(): void {
    this.#stopping = true;
    if (this.#state !== 'established' || this.#working || this.#provider?.insideMessage) return;
    this.#state = 'aborted';
    this.#endWith(encodeAbort({ source: 0, reason: 0 }));
  }

  async #handle(event: PduEvent): Promise<void> {
    if (event.kind === 'fragment') {
      if (!this.#provider || this.#state !== 'established') throw this.#unexpected('data');
      return this.#provider.take(event);
    }
    switch (event.type) {
      case PDU.associateRequest:
        if (this.#state !== 'awaiting') throw this.#unexpected('A-ASSOCIATE-RQ');
        return this.#onAssociateRequest(decodeAssociateRequest(event.body));
      case PDU.releaseRequest:
        if (this.#provider?.insideMessage) throw this.#unexpected('A-RELEASE-RQ');
        this.#state = 'released';
        this.#socket.end(encodeReleaseResponse());
        return;
      case PDU.abort:
        this.#state = 'aborted';
        this.#options.logger.event(EVENTS.associationAborted, { ...this.#who });
        // PS3.8 9.2.2, AA-3: who gets an A-ABORT closes the connection.
        this.#socket.destroy();
        return;
      default:
        throw this.#unexpected(`type ${event.type}`);
    }
  }

  #onAssociateRequest(request: AssociateRequest): void {
    const { aeTitle, admit, offer, maxPduBytes, artim, onRefused } = this.#options;
    this.#peer = {
      ...this.#peer,
      callingAeTitle: request.callingAeTitle,
      calledAeTitle: request.calledAeTitle,
    };
    const code = whyRejected(request, aeTitle);
    const admission = code === null ? admit(this.#peer) : { refused: code };
    if ('refused' in admission) {
      const { refused } = admission;
      this.#state = 'rejected';
      this.#socket.end(encodeReject(rejectionFor(refused)));
      this.#options.logger.event(EVENTS.associationRejected, {
        ...this.#who,
        code: refused,
        operator: ERRORS[refused].operator,
      });
      onRefused?.(this.#peer, refused);
      return;
    }
    this.#admitted = admission;
    this.#peer = { ...this.#peer, source: admission.source };
    const { answers, accepted } = answerContexts(request.contexts, offer);
    this.#provider = new DimseProvider({
      contexts: accepted,
      peer: this.#peer,
      storage: this.#options.storage,
      normalized: this.#options.normalized ?? null,
      send: (contextId, command, dataSet) => this.#send(contextId, command, dataSet),
      log: (event, fields) => this.#options.logger.event(event, { ...this.#who, ...fields }),
    });
    this.#fragmentBytes = sentFragmentBytes(request.maxPduBytes);
    this.#state = 'established';
    artim.stop();
    this.#socket.setTimeout(admission.idleTimeoutSeconds * 1000);
    this.#socket.write(
      encodeAssociateAccept({
        calledAeTitle: request.calledAeTitle,
        callingAeTitle: request.callingAeTitle,
        applicationContext: DICOM_APPLICATION_CONTEXT,
        contexts: answers,
        // What we can receive; the peer's own figure says what it can (PS3.8 D.1).
        maxPduBytes,
        implementationClassUid: IMPLEMENTATION_CLASS_UID,
        implementationVersion: IMPLEMENTATION_VERSION,
        // Whoever brings an N-EVENT-REPORT over an association of its own is SCP of the class.
        roles: request.roles ?? [],
      }),
    );
    this.#options.logger.event(EVENTS.associationAccepted, {
      ...this.#who,
      implementation: request.implementationVersion,
      accepted: accepted.size,
      refused: answers.length - accepted.size,
    });
  }

  #send(contextId: number, command: CommandSet, dataSet?: Buffer): void {
    this.#sendInParts(contextId, encodeCommandSet(command), true);
    if (dataSet) this.#sendInParts(contextId, dataSet, false);
  }

  #sendInParts(contextId: number, bytes: Buffer, command: boolean): void {
    const size = this.#fragmentBytes;
    for (let start = 0; start < bytes.length; start += size) {
      const part = bytes.subarray(start, start + size);
      const last = start + size >= bytes.length;
      this.#socket.write(Buffer.concat(encodeData(contextId, part, { command, last })));
    }
  }

  /** While we work on the bytes of a silent peer it owes us nothing. */
  #onSilence(): void {
    if (this.#state !== 'established') return;
    if (this.#working) {
      this.#socket.setTimeout(this.#socket.timeout ?? 0);
      return;
    }
    this.#options.logger.event(EVENTS.associationIdle, { ...this.#who });
    this.#state = 'aborted';
    this.#endWith(encodeAbort(abortFor('association_idle')));
  }

  #endWith(pdu: Buffer): void {
    this.#socket.end(pdu, () => this.#socket.destroy());
    // A peer that takes nothing any more does not take this either.
    this.#options.artim.start();
  }

  #onEndOfStream(): void {
    if (this.#state !== 'awaiting' && this.#state !== 'established') return;
    if (this.#reader.insidePdu || this.#state === 'established') {
      this.#options.logger.event(EVENTS.connectionClosed, { ...this.#who, code: 'unexpected_pdu' });
    }
    this.#state = 'aborted';
  }

  #onError(error: unknown): void {
    if (this.#state === 'released' || this.#state === 'rejected' || this.#state === 'aborted')
      return;
    this.#state = 'aborted';
    if (error instanceof SonogateError) {
      this.#options.logger.event(EVENTS.connectionAborted, {
        ...this.#who,
        code: error.code,
        detail: error.detail,
      });
      this.#socket.end(encodeAbort(abortFor(error.code)));
      return;
    }
    this.#options.logger.event(EVENTS.connectionLost, { ...this.#who, error: String(error) });
    this.#socket.destroy();
  }

  async #finish(): Promise<void> {
    this.#working = false;
    this.#socket.setTimeout(0);
    // The peer closes after our last word; one that does not is not waited for.
    this.#options.artim.start();
    this.#socket.resume();
    await this.#provider?.end();
    if (!this.#admitted) return;
    this.#admitted.ended?.();
    const end: AssociationEnd = this.#state === 'released' ? 'released' : 'aborted';
    this.#options.logger.event(EVENTS.associationEnded, { ...this.#who, end });
    try {
      await this.#options.storage.ended(this.#peer, end);
    } catch (error) {
      this.#options.logger.event(EVENTS.associationEndUnrecorded, {
        ...this.#who,
        error: String(error),
      });
    }
  }

  #unexpected(what: string): SonogateError {
    return new SonogateError('unexpected_pdu', `The peer sent ${what} while ${this.#state}.`);
  }

  /** Which association and which peer a line of the log is about. */
  get #who() {
    const { id, callingAeTitle, address } = this.#peer;
    return { association: id, callingAeTitle, address };
  }
}
