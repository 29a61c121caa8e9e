import { isUid } from '../../pipelines/dicom/uid.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import {
  COMMAND,
  CollectedBytes,
  type CommandSet,
  type MessagePart,
  RESPONSE_BIT,
  responseTo,
  unexpected,
} from './message.ts';
import type { AcceptedContext } from './negotiation.ts';
import {
  type AssociationLog,
  type AssociationPeer,
  MAX_NORMALIZED_BYTES,
  type NormalizedReport,
  type NormalizedRequest,
  type NormalizedService,
  type ObjectSink,
  type OutgoingObject,
  type QueryRequest,
  type QueryService,
  type StorageService,
} from './service-ports.ts';
import { hexDigits, STATUS, statusFor } from './status.ts';

export interface DimseProviderOptions {
  contexts: ReadonlyMap<number, AcceptedContext>;
  /**
   * SOP classes of which the peer is SCP. A C-GET sends no other objects, even if their context was
   * accepted (PS3.7 D.3.3.4). Absent if the peer receives nothing.
   */
  receiving?: ReadonlySet<string>;
  peer: AssociationPeer;
  /** Stores objects; null to refuse every object. */
  storage: StorageService | null;
  /** Serves normalized requests; null to answer each with the status "unrecognized operation". */
  normalized: NormalizedService | null;
  /** Serves queries; null or absent to answer each with the status "unrecognized operation". */
  query?: QueryService | null;
  /**
   * Sends a message, reading its data set piece by piece. Resolves when the message is written and
   * the socket has room for more.
   */
  sendObject?: (contextId: number, command: CommandSet, object: OutgoingObject) => Promise<void>;
  /** Resolves when the socket has room for more. */
  drained?: () => Promise<void>;
  send: (contextId: number, command: CommandSet, dataSet?: Buffer) => void;
  log: AssociationLog;
}

/** A request whose data set is still arriving. */
interface Request {
  contextId: number;
  command: CommandSet;
  sink: ObjectSink | null;
  dataSet: CollectedBytes;
  failure: unknown;
}

/** Normalized operations that we serve (PS3.7 10.1). */
const OPERATION: Readonly<Record<number, NormalizedRequest['operation']>> = {
  [COMMAND.nEventReport]: 'N-EVENT-REPORT',
  [COMMAND.nSet]: 'N-SET',
  [COMMAND.nAction]: 'N-ACTION',
  [COMMAND.nCreate]: 'N-CREATE',
};

/** Operations of the Query/Retrieve service class (PS3.7 9.1). */
const QUERY: Readonly<Record<number, QueryRequest['operation']>> = {
  [COMMAND.cFind]: 'C-FIND',
  [COMMAND.cMove]: 'C-MOVE',
  [COMMAND.cGet]: 'C-GET',
};

/** A query or retrieval that is being answered while further messages are read. */
interface Operation {
  messageId: number;
  canceled: AbortController;
  /** Our C-STORE requests that the peer has not answered yet, by message id. */
  stores: Map<number, (status: number | null) => void>;
  done: Promise<void>;
}

/** Priority (0000,0700): medium. */
const MEDIUM_PRIORITY = 0;

/**
 * Returns true if the data set of a request is collected in memory. Data sets of unrecognized
 * requests are discarded.
 */
const isKept = ({ commandField }: CommandSet): boolean =>
  OPERATION[commandField] !== undefined || QUERY[commandField] !== undefined;

/**
 * Serves C-ECHO, C-STORE, queries, retrievals and normalized requests on an established association
 * (PS3.7 9.3, 10.3). Other operations get the status "unrecognized", and their data sets are read
 * and discarded. The caller must wait until a part of a message has been processed before it passes
 * in the next. While a query or retrieval is being answered, further messages are read, so that the
 * peer can cancel the operation and respond to our sub-operations.
 */
export class DimseProvider {
  readonly #options: DimseProviderOptions;
  #request: Request | null = null;
  /** Our event reports that the peer has not confirmed yet, by message id. */
  readonly #unconfirmed = new Map<number, NormalizedReport>();
  #operation: Operation | null = null;
  #messageId = 0;

  constructor(options: DimseProviderOptions) {
    this.#options = options;
  }

  /**
   * True while a query or retrieval is carried out on our side. False while it waits for the peer to
   * answer a sub-operation.
   */
  get working(): boolean {
    return this.#operation !== null && this.#operation.stores.size === 0;
  }

  /**
   * Processes a part of a message.
   * @throws SonogateError `unexpected_pdu`; the association must then be aborted.
   */
  take(part: MessagePart): Promise<void> {
    return part.kind === 'command' ? this.#begin(part) : this.#takeData(part);
  }

  /**
   * Called when the association has ended. Discards the object being received, and cancels any
   * operation.
   */
  async end(): Promise<void> {
    if (this.#operation) {
      const { canceled, stores, done } = this.#operation;
      canceled.abort();
      for (const answered of stores.values()) answered(null);
      await done;
    }
    if (this.#request) await this.#discard(this.#request);
    this.#request = null;
  }

  async #begin({ contextId, command }: MessagePart & { kind: 'command' }): Promise<void> {
    const context = this.#options.contexts.get(contextId);
    if (!context) throw unexpected('A command arrived on a context that was not accepted.');
    if (command.commandField & RESPONSE_BIT) return this.#confirm(command);
    if (this.#operation && command.commandField !== COMMAND.cCancel) {
      throw unexpected('A request arrived while another operation was in progress.');
    }
    const dataSet = new CollectedBytes(MAX_NORMALIZED_BYTES);
    const request: Request = { contextId, command, sink: null, dataSet, failure: null };
    if (command.commandField === COMMAND.cStore && command.hasDataSet) {
      await this.#openSink(request, context);
    }
    if (command.hasDataSet) this.#request = request;
    else await this.#answer(request);
  }

  async #confirm({ messageIdBeingRespondedTo = 0, status }: CommandSet): Promise<void> {
    const stored = this.#operation?.stores.get(messageIdBeingRespondedTo);
    if (stored) return stored(status ?? null);
    const report = this.#unconfirmed.get(messageIdBeingRespondedTo);
    if (!report) throw unexpected('A response arrived without a request.');
    this.#unconfirmed.delete(messageIdBeingRespondedTo);
    if (status === STATUS.success) await report.acknowledged();
  }

  async #openSink(request: Request, { abstractSyntax, transferSyntax }: AcceptedContext) {
    const { affectedSopClassUid = '', affectedSopInstanceUid = '' } = request.command;
    const { storage, peer } = this.#options;
    try {
      if (!storage || affectedSopClassUid !== abstractSyntax) {
        throw new SonogateError('sop_class_not_supported');
      }
      if (!isUid(affectedSopInstanceUid)) throw new SonogateError('object_not_understood');
      const object = {
        sopClassUid: affectedSopClassUid,
        sopInstanceUid: affectedSopInstanceUid,
        transferSyntax,
      };
      request.sink = await storage.open(object, peer);
    } catch (error) {
      // The peer is still sending the data set. It is read to the end before the status is sent.
      request.failure = error;
    }
  }

  async #takeData({ data, last }: MessagePart & { kind: 'data' }): Promise<void> {
    const request = this.#request;
    if (!request) throw unexpected('A data set arrived with a response.');
    if (request.sink) {
      try {
        await request.sink.write(data);
      } catch (error) {
        request.failure = error;
        await this.#discard(request);
      }
    } else if (isKept(request.command)) {
      request.dataSet.add(data);
    }
    if (!last) return;
    this.#request = null;
    await this.#answer(request);
  }

  async #answer(request: Request): Promise<void> {
    const { command, contextId } = request;
    const { send } = this.#options;
    switch (command.commandField) {
      case COMMAND.cStore:
        return this.#answerStore(request);
      case COMMAND.cEcho:
        return send(contextId, responseTo(command, STATUS.success));
      case COMMAND.cCancel:
        if (this.#operation?.messageId === command.messageIdBeingRespondedTo) {
          this.#operation?.canceled.abort();
        }
        return;
      case COMMAND.cFind:
      case COMMAND.cMove:
      case COMMAND.cGet:
        return this.#startQuery(request);
      default:
        return this.#answerNormalized(request);
    }
  }

  async #answerNormalized({ command, contextId, dataSet }: Request): Promise<void> {
    const { send, log, normalized, contexts, peer } = this.#options;
    const operation = OPERATION[command.commandField];
    if (!operation || !normalized) {
      return send(contextId, responseTo(command, STATUS.unrecognizedOperation));
    }
    try {
      const { status, comment, errorId, sopInstanceUid, report } = await normalized(
        {
          operation,
          sopClassUid: command.affectedSopClassUid ?? command.requestedSopClassUid ?? '',
          sopInstanceUid: command.affectedSopInstanceUid ?? command.requestedSopInstanceUid ?? '',
          typeId: command.actionTypeId ?? command.eventTypeId ?? 0,
          transferSyntax: contexts.get(contextId)?.transferSyntax ?? '',
          dataSet: dataSet.whole(),
        },
        peer,
      );
      const named = sopInstanceUid
        ? { ...command, affectedSopInstanceUid: sopInstanceUid }
        : command;
      send(contextId, { ...responseTo(named, status, comment), errorId });
      if (report) this.#sendReport(contextId, command, report);
    } catch (error) {
      const { status, comment } = statusFor(error);
      log('normalized_request_refused', { operation, error: String(error) });
      send(contextId, responseTo(command, status, comment));
    }
  }

  #sendReport(contextId: number, request: CommandSet, report: NormalizedReport): void {
    const messageId = this.#nextMessageId();
    this.#unconfirmed.set(messageId, report);
    const eventReport = {
      commandField: COMMAND.nEventReport,
      hasDataSet: true,
      messageId,
      affectedSopClassUid: request.requestedSopClassUid,
      affectedSopInstanceUid: request.requestedSopInstanceUid,
      eventTypeId: report.eventTypeId,
    };
    this.#options.send(contextId, eventReport, report.dataSet);
  }

  /** Message ID (0000,0110) is US: after 65535 it begins again at 1. */
  #nextMessageId(): number {
    this.#messageId = (this.#messageId % 0xffff) + 1;
    return this.#messageId;
  }

  /** Begins to answer a query. The responses are sent while further messages are read. */
  #startQuery(request: Request): void {
    const { query } = this.#options;
    const { command, contextId } = request;
    if (!query) {
      this.#options.send(contextId, responseTo(command, STATUS.unrecognizedOperation));
      return;
    }
    const operation: Operation = {
      messageId: command.messageId ?? 0,
      canceled: new AbortController(),
      stores: new Map(),
      done: Promise.resolve(),
    };
    this.#operation = operation;
    operation.done = this.#answerQuery(request, query, operation).finally(() => {
      this.#operation = null;
    });
  }

  async #answerQuery(
    { command, contextId, dataSet }: Request,
    query: QueryService,
    operation: Operation,
  ): Promise<void> {
    const { send, log, contexts, peer, drained = async () => {} } = this.#options;
    const name = QUERY[command.commandField] ?? 'C-FIND';
    try {
      const answers = query(
        {
          operation: name,
          sopClassUid: command.affectedSopClassUid ?? '',
          transferSyntax: contexts.get(contextId)?.transferSyntax ?? '',
          identifier: dataSet.whole(),
          moveDestination: command.moveDestination?.trim() ?? '',
        },
        peer,
        {
          canceled: operation.canceled.signal,
          accepts: (sopClassUid) =>
            [...contexts.values()]
              .filter(
                ({ abstractSyntax }) =>
                  abstractSyntax === sopClassUid && this.#receives(abstractSyntax),
              )
              .map(({ transferSyntax }) => transferSyntax),
          store: (object) => this.#storeOver(object, operation),
          log,
        },
      );
      for await (const { status, comment, dataSet: sent, subOperations: counts } of answers) {
        await drained();
        const response = {
          ...responseTo(command, status, comment),
          hasDataSet: sent !== undefined,
          ...(counts && {
            // Only pending and canceled responses contain the number of remaining sub-operations
            // (PS3.7 9.1.3.1.6).
            ...((status === STATUS.pending || status === STATUS.canceled) && {
              remainingSubOperations: counts.remaining,
            }),
            completedSubOperations: counts.completed,
            failedSubOperations: counts.failed,
            warningSubOperations: counts.warning,
          }),
        };
        send(contextId, response, sent);
      }
    } catch (error) {
      const { status, comment } = statusFor(error);
      log('query_refused', { operation: name, error: String(error) });
      // An error of `send` is ignored: the association itself has failed, and no response can reach
      // the peer.
      try {
        send(contextId, responseTo(command, status, comment));
      } catch {}
    }
  }

  #receives(sopClassUid: string): boolean {
    return this.#options.receiving?.has(sopClassUid) ?? false;
  }

  /** Sends a C-STORE sub-operation over the association of its C-GET (PS3.4 C.4.3). */
  async #storeOver(object: OutgoingObject, { stores }: Operation): Promise<number | null> {
    const { contexts, sendObject } = this.#options;
    const [contextId] =
      [...contexts].find(
        ([, { abstractSyntax, transferSyntax }]) =>
          abstractSyntax === object.sopClassUid && transferSyntax === object.transferSyntax,
      ) ?? [];
    if (contextId === undefined || !sendObject || !this.#receives(object.sopClassUid)) return null;
    const messageId = this.#nextMessageId();
    const answer = new Promise<number | null>((resolve) => stores.set(messageId, resolve));
    try {
      const request = {
        commandField: COMMAND.cStore,
        hasDataSet: true,
        messageId,
        priority: MEDIUM_PRIORITY,
        affectedSopClassUid: object.sopClassUid,
        affectedSopInstanceUid: object.sopInstanceUid,
      };
      await sendObject(contextId, request, object);
      return await answer;
    } finally {
      stores.delete(messageId);
    }
  }

  async #answerStore({ command, contextId, sink, failure }: Request): Promise<void> {
    const { send, log } = this.#options;
    try {
      if (failure) throw failure;
      if (!sink) throw new SonogateError('object_not_understood');
      await sink.commit();
      send(contextId, responseTo(command, STATUS.success));
    } catch (error) {
      const { status, comment } = statusFor(error);
      log('object_refused', {
        status: hexDigits(status),
        error: error instanceof Error ? error.message : String(error),
      });
      send(contextId, responseTo(command, status, comment));
    }
  }

  async #discard(request: Request): Promise<void> {
    const { sink } = request;
    request.sink = null;
    try {
      await sink?.discard();
    } catch (error) {
      this.#options.log('object_leftover', { error: String(error) });
    }
  }
}
