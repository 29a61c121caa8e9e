import { VERIFICATION } from '../../pipelines/dicom/sop-classes.ts';
import { IMPLICIT_VR_LITTLE_ENDIAN } from '../../pipelines/dicom/transfer-syntaxes.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import { CallingAssociation } from './calling-association.ts';
import type { CalledNode } from './dial.ts';
import { DimseProvider, type DimseProviderOptions } from './dimse-provider.ts';
import { COMMAND, type CommandSet } from './message.ts';
import type { ProposedContext, RoleSelection } from './pdu.ts';
import type { OutgoingObject } from './service-ports.ts';

interface Response {
  status: number;
  comment: string;
}

export const MEDIUM_PRIORITY = 0;

/**
 * Sends requests over one association: open the association, `store` one object after the other,
 * then `release` or `abort`. Every failure is a SonogateError. Its code shows whether the peer may
 * have the object: `peer_unreachable` if no byte of it was sent, `peer_connection_lost` afterwards.
 */
export class Requestor {
  readonly #association: CallingAssociation;

  private constructor(association: CallingAssociation) {
    this.#association = association;
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
  ): Promise<Requestor> {
    return new Requestor(await CallingAssociation.open(node, contexts, signal, roles));
  }

  get closed(): boolean {
    return this.#association.closed;
  }

  /** Returns true if the peer accepted a context for the object. */
  accepts({
    sopClassUid,
    transferSyntax,
  }: Pick<OutgoingObject, 'sopClassUid' | 'transferSyntax'>): boolean {
    return [...this.#association.contexts.values()].some(
      (context) =>
        context.abstractSyntax === sopClassUid && context.transferSyntax === transferSyntax,
    );
  }

  /**
   * Sends a C-STORE. Resolves with the peer's status, including failures.
   * @throws SonogateError `presentation_context_refused`, `peer_unreachable`,
   * `peer_connection_lost`.
   */
  async store(object: OutgoingObject): Promise<Response> {
    const association = this.#association;
    const contextId = association.contextFor(object.sopClassUid, object.transferSyntax);
    const messageId = await association.sendCommand(contextId, {
      commandField: COMMAND.cStore,
      hasDataSet: true,
      affectedSopClassUid: object.sopClassUid,
      affectedSopInstanceUid: object.sopInstanceUid,
      priority: MEDIUM_PRIORITY,
    });
    association.lossCode = 'peer_connection_lost';
    let sent = 0;
    for await (const fragment of object.read(association.fragmentBytes)) {
      sent += fragment.length;
      await association.sendFragment(contextId, fragment, sent === object.bytes);
    }
    if (sent !== object.bytes) {
      this.abort();
      throw new SonogateError('internal', `${sent} of ${object.bytes} bytes could be read.`);
    }
    const response = await this.#response(messageId);
    association.lossCode = 'peer_unreachable';
    return response;
  }

  /**
   * Sends a C-ECHO (PS3.4 Annex A). Resolves with the peer's status, including failures.
   * @throws SonogateError `presentation_context_refused`, `peer_unreachable`.
   */
  async echo(): Promise<Response> {
    const contextId = this.#association.contextFor(VERIFICATION, IMPLICIT_VR_LITTLE_ENDIAN);
    const messageId = await this.#association.sendCommand(contextId, {
      commandField: COMMAND.cEcho,
      hasDataSet: false,
      affectedSopClassUid: VERIFICATION,
    });
    return this.#response(messageId);
  }

  /**
   * Sends an N-ACTION or N-EVENT-REPORT with a data set of a few kilobytes. Resolves with the
   * peer's status, including failures.
   * @throws SonogateError `presentation_context_refused`, `peer_unreachable`,
   * `peer_connection_lost`.
   */
  async request(
    command: Omit<CommandSet, 'messageId' | 'hasDataSet'>,
    { sopClassUid, transferSyntax }: Pick<OutgoingObject, 'sopClassUid' | 'transferSyntax'>,
    dataSet: Buffer,
  ): Promise<Response> {
    const association = this.#association;
    const contextId = association.contextFor(sopClassUid, transferSyntax);
    const messageId = await association.sendCommand(contextId, { ...command, hasDataSet: true });
    association.lossCode = 'peer_connection_lost';
    await association.sendDataSet(contextId, dataSet);
    const response = await this.#response(messageId);
    association.lossCode = 'peer_unreachable';
    return response;
  }

  /**
   * Waits for a request from the peer on the same association, and answers it. Resolves without an
   * answer if no request arrives for `milliseconds`.
   * @throws SonogateError `peer_unreachable` if the peer ends the association, `unexpected_pdu`.
   */
  async serve(
    { peer, normalized, log }: Pick<DimseProviderOptions, 'peer' | 'normalized' | 'log'>,
    milliseconds: number,
  ): Promise<void> {
    const association = this.#association;
    let answered = false;
    const provider = new DimseProvider({
      contexts: association.contexts,
      peer,
      storage: null,
      normalized,
      // An error can be ignored here: a lost connection is detected when the next message is read.
      send: (contextId, command) => {
        answered = true;
        association.sendAnswer(contextId, command).catch(() => {});
      },
      log,
    });
    while (!answered && (await association.hears(milliseconds))) {
      await association.inTime(async () => {
        do await provider.take(await association.nextPart());
        while (association.insideMessage);
      });
    }
  }

  /**
   * Called when there is no further request for now. If the peer then ends the association, the
   * association becomes `closed`.
   */
  rest(): void {
    this.#association.rest();
  }

  release(): Promise<void> {
    return this.#association.release();
  }

  abort(): void {
    this.#association.abort();
  }

  /**
   * Waits for the response. If the peer responds to a different message, nothing more is sent over
   * this association.
   */
  async #response(messageId: number): Promise<Response> {
    const association = this.#association;
    try {
      const { kind, command } = await association.inTime(() => association.nextPart());
      // The responses to these requests have no data set.
      if (kind === 'data' || command.messageIdBeingRespondedTo !== messageId) {
        throw association.lost('The peer responded to a different message.');
      }
      if (command.status === undefined) throw association.lost('The response has no status.');
      return { status: command.status, comment: command.errorComment ?? '' };
    } catch (error) {
      if (!this.closed) this.abort();
      throw association.lost(error);
    }
  }
}
