import { isUid } from '../../pipelines/dicom/uid.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { LogEvent } from '../../src/platform/logging/event.ts';
import { EVENTS } from '../../src/platform/logging/events.ts';
import {
  COMMAND,
  type CommandSet,
  decodeCommandSet,
  MAX_COMMAND_BYTES,
  RESPONSE_BIT,
  responseTo,
} from './command-set.ts';
import type { AcceptedContext } from './negotiation.ts';
import type { PduEvent } from './pdu-reader.ts';
import type { AssociationPeer, ObjectSink, StorageService } from './service-ports.ts';
import {
  MAX_NORMALIZED_BYTES,
  type NormalizedRequest,
  type NormalizedService,
} from './service-ports.ts';
import { STATUS, statusFor } from './status.ts';

export interface DimseProviderOptions {
  contexts: ReadonlyMap<number, AcceptedContext>;
  peer: AssociationPeer;
  /** Null: no object is taken. */
  storage: StorageService | null;
  /** Null: normalized requests are answered as unrecognized. */
  normalized: NormalizedService | null;
  send: (contextId: number, command: CommandSet, dataSet?: Buffer) => void;
  log: <Fields extends object>(event: LogEvent<Fields>, fields: NoInfer<Fields>) => void;
}

type Fragment = PduEvent & { kind: 'fragment' };

/** A request whose data set is still coming. */
interface Message {
  contextId: number;
  command: CommandSet;
  sink: ObjectSink | null;
  /** Data set of a normalized request, as far as it has come. */
  parts: Buffer[];
  bytes: number;
  failure: unknown;
}

/** Normalized operations that we take (PS3.7 10.1). */
const OPERATION: Readonly<Record<number, NormalizedRequest['operation']>> = {
  [COMMAND.nEventReport]: 'N-EVENT-REPORT',
  [COMMAND.nSet]: 'N-SET',
  [COMMAND.nAction]: 'N-ACTION',
  [COMMAND.nCreate]: 'N-CREATE',
};

/**
 * C-ECHO, C-STORE and normalized requests on an established association (PS3.7 9.3, 10.3). The next fragment is handed in only
 * after the last one was taken; other operations are answered "unrecognized", their data sets are
 * read past.
 */
export class DimseProvider {
  readonly #options: DimseProviderOptions;
  #command: { contextId: number; parts: Buffer[]; bytes: number } | null = null;
  #message: Message | null = null;
  /** Our own requests that the peer has not answered yet: message id → what its answer means. */
  readonly #reported = new Map<number, () => Promise<void>>();
  #messageId = 0;

  constructor(options: DimseProviderOptions) {
    this.#options = options;
  }

  /** True while a message has begun and not ended. */
  get insideMessage(): boolean {
    return this.#command !== null || this.#message !== null;
  }

  /** @throws SonogateError `unexpected_pdu`; the association must then be aborted. */
  take(fragment: Fragment): Promise<void> {
    return fragment.command ? this.#takeCommand(fragment) : this.#takeData(fragment);
  }

  /** The association has ended: forgets the object under way. */
  async end(): Promise<void> {
    if (this.#message) await this.#discard(this.#message);
    this.#message = null;
  }

  async #takeCommand({ contextId, last, data }: Fragment): Promise<void> {
    if (this.#message) throw unexpected('A command came inside a data set.');
    this.#command ??= { contextId, parts: [], bytes: 0 };
    const command = this.#command;
    command.bytes += data.length;
    if (command.contextId !== contextId || command.bytes > MAX_COMMAND_BYTES) {
      throw unexpected('A command set is too long or changes its context.');
    }
    command.parts.push(data);
    if (!last) return;
    this.#command = null;
    await this.#begin(contextId, decodeCommandSet(Buffer.concat(command.parts)));
  }

  async #begin(contextId: number, command: CommandSet): Promise<void> {
    const context = this.#options.contexts.get(contextId);
    if (!context) throw unexpected('A command came on a context that was not accepted.');
    if (command.commandField & RESPONSE_BIT) return this.#acknowledge(command);
    const message: Message = { contextId, command, sink: null, parts: [], bytes: 0, failure: null };
    if (command.commandField === COMMAND.cStore && command.hasDataSet) {
      await this.#openSink(message, context);
    }
    if (command.hasDataSet) this.#message = message;
    else await this.#answer(message);
  }

  async #acknowledge({ messageIdBeingRespondedTo = 0, status }: CommandSet): Promise<void> {
    const acknowledged = this.#reported.get(messageIdBeingRespondedTo);
    if (!acknowledged) throw unexpected('A response came without a request.');
    this.#reported.delete(messageIdBeingRespondedTo);
    if (status === STATUS.success) await acknowledged();
  }

  async #openSink(message: Message, { abstractSyntax, transferSyntax }: AcceptedContext) {
    const { affectedSopClassUid = '', affectedSopInstanceUid = '' } = message.command;
    const { storage, peer } = this.#options;
    try {
      if (!storage || affectedSopClassUid !== abstractSyntax) {
        throw new SonogateError('sop_class_not_supported');
      }
      if (!isUid(affectedSopInstanceUid)) throw new SonogateError('object_not_understood');
      message.sink = await storage.open(
        {
          sopClassUid: affectedSopClassUid,
          sopInstanceUid: affectedSopInstanceUid,
          transferSyntax,
        },
        peer,
      );
    } catch (error) {
      // The data set follows all the same: it is read to its end, then the status is sent.
      message.failure = error;
    }
  }

  async #takeData({ contextId, last, data }: Fragment): Promise<void> {
    const message = this.#message;
    if (message?.contextId !== contextId) throw unexpected('Data came without a command.');
    if (message.sink) {
      try {
        await message.sink.write(data);
      } catch (error) {
        message.failure = error;
        await this.#discard(message);
      }
    } else if (OPERATION[message.command.commandField]) {
      message.bytes += data.length;
      if (message.bytes > MAX_NORMALIZED_BYTES) throw unexpected('A data set is too long.');
      message.parts.push(data);
    }
    if (!last) return;
    this.#message = null;
    await this.#answer(message);
  }

  async #answer(message: Message): Promise<void> {
    const { command, contextId } = message;
    const { send } = this.#options;
    switch (command.commandField) {
      case COMMAND.cStore:
        return this.#answerStore(message);
      case COMMAND.cEcho:
        return send(contextId, responseTo(command, STATUS.success));
      case COMMAND.cCancel:
        return;
      default:
        return this.#answerNormalized(message);
    }
  }

  async #answerNormalized({ command, contextId, parts }: Message): Promise<void> {
    const { send, log, normalized, contexts, peer } = this.#options;
    const operation = OPERATION[command.commandField];
    if (!operation || !normalized) {
      return send(contextId, responseTo(command, STATUS.unrecognizedOperation));
    }
    try {
      const { status, comment, sopInstanceUid, report } = await normalized(
        {
          operation,
          sopClassUid: command.affectedSopClassUid ?? command.requestedSopClassUid ?? '',
          sopInstanceUid: command.affectedSopInstanceUid ?? command.requestedSopInstanceUid ?? '',
          typeId: command.actionTypeId ?? command.eventTypeId ?? 0,
          transferSyntax: contexts.get(contextId)?.transferSyntax ?? '',
          dataSet: Buffer.concat(parts),
        },
        peer,
      );
      const named = sopInstanceUid
        ? { ...command, affectedSopInstanceUid: sopInstanceUid }
        : command;
      send(contextId, responseTo(named, status, comment));
      if (!report) return;
      this.#messageId += 1;
      this.#reported.set(this.#messageId, report.acknowledged);
      const eventReport = {
        commandField: COMMAND.nEventReport,
        hasDataSet: true,
        messageId: this.#messageId,
        affectedSopClassUid: command.requestedSopClassUid,
        affectedSopInstanceUid: command.requestedSopInstanceUid,
        eventTypeId: report.eventTypeId,
      };
      send(contextId, eventReport, report.dataSet);
    } catch (error) {
      const { status, comment } = statusFor(error);
      log(EVENTS.normalizedRequestRefused, { operation, error: String(error) });
      send(contextId, responseTo(command, status, comment));
    }
  }

  async #answerStore({ command, contextId, sink, failure }: Message): Promise<void> {
    const { send, log } = this.#options;
    try {
      if (failure) throw failure;
      if (!sink) throw new SonogateError('object_not_understood');
      await sink.commit();
      send(contextId, responseTo(command, STATUS.success));
    } catch (error) {
      const { status, comment } = statusFor(error);
      log(EVENTS.objectRefused, {
        status: status.toString(16).toUpperCase().padStart(4, '0'),
        error: error instanceof Error ? error.message : String(error),
      });
      send(contextId, responseTo(command, status, comment));
    }
  }

  async #discard(message: Message): Promise<void> {
    const { sink } = message;
    message.sink = null;
    try {
      await sink?.discard();
    } catch (error) {
      this.#options.log(EVENTS.objectLeftover, { error: String(error) });
    }
  }
}

function unexpected(detail: string): SonogateError {
  return new SonogateError('unexpected_pdu', detail);
}
