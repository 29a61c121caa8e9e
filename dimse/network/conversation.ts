import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { CallingAssociation } from './calling-association.ts';
import {
  COMMAND,
  type CommandSet,
  decodeCommandSet,
  MAX_COMMAND_BYTES,
  RESPONSE_BIT,
} from './command-set.ts';
import type { DimseProvider } from './dimse-provider.ts';
import { MEDIUM_PRIORITY } from './requestor.ts';

/** One of the several responses to a C-FIND, C-GET or C-MOVE (PS3.7 9.1.2 to 9.1.4). */
export interface DimseResponse extends Pick<CommandSet, 'status' | 'errorComment'> {
  status: number;
  remaining: number | null;
  completed: number | null;
  failed: number | null;
  warning: number | null;
  /** Identifier that came with it. */
  dataSet: Buffer | null;
}

/** PS3.7 C.4.1.1.4 and PS3.4 C.4.1.1.4: matches are continuing; more responses follow. */
const PENDING: ReadonlySet<number> = new Set([0xff00, 0xff01]);
export const isPending = (status: number): boolean => PENDING.has(status);

/** An identifier holds attributes of one study, series or image, or a list of failed objects. */
const MAX_IDENTIFIER_BYTES = 4 * 1024 * 1024;

/** A peer that is told to cancel and says nothing more is not waited for. */
const CANCEL_PATIENCE_MS = 5000;

export interface DimseRequest {
  commandField: number;
  sopClassUid: string;
  transferSyntax: string;
  identifier: Buffer;
  moveDestination?: string | undefined;
}

/**
 * Asks, and yields every response to the last, which is not pending.
 * @param provider takes the C-STORE requests that come in between (C-GET).
 * @param cancel sends a C-CANCEL; the responses go on until the peer has ended the operation.
 * @throws SonogateError `presentation_context_refused`, `peer_unreachable`, `unexpected_pdu`.
 */
export async function* responsesTo(
  association: CallingAssociation,
  question: DimseRequest,
  {
    provider,
    cancel,
  }: {
    provider?: DimseProvider | undefined;
    cancel?: AbortSignal | undefined;
  } = {},
): AsyncGenerator<DimseResponse> {
  const { sopClassUid, transferSyntax, identifier, commandField, moveDestination } = question;
  const contextId = association.contextFor(sopClassUid, transferSyntax);
  const messageId = await association.sendCommand(contextId, {
    commandField,
    hasDataSet: true,
    affectedSopClassUid: sopClassUid,
    priority: MEDIUM_PRIORITY,
    moveDestination,
  });
  await association.sendDataSet(contextId, identifier);

  const canceling = cancelOn(cancel, association, contextId, messageId);
  try {
    for await (const answer of answersTo(association, messageId, provider)) {
      yield answer;
      if (!isPending(answer.status)) return;
    }
  } finally {
    canceling.end();
  }
}

/** PS3.7 9.3.2.3: C-CANCEL names the message that it ends. */
function cancelOn(
  signal: AbortSignal | undefined,
  association: CallingAssociation,
  contextId: number,
  messageId: number,
): { end(): void } {
  let patience: NodeJS.Timeout | undefined;
  const onAbort = () => {
    const cancel = {
      commandField: COMMAND.cCancel,
      hasDataSet: false,
      messageIdBeingRespondedTo: messageId,
    };
    patience = setTimeout(() => association.abort(), CANCEL_PATIENCE_MS);
    // A connection that is lost meanwhile is seen by who reads the answers.
    association.sendAnswer(contextId, cancel).catch(() => {});
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  return {
    end() {
      clearTimeout(patience);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

/** Tells the responses to one message from the requests of the peer, which go to `provider`. */
async function* answersTo(
  association: CallingAssociation,
  messageId: number,
  provider: DimseProvider | undefined,
): AsyncGenerator<DimseResponse> {
  let command = new Parts(MAX_COMMAND_BYTES);
  let answer: { command: CommandSet; identifier: Parts } | null = null;
  for (;;) {
    const fragment = await association.nextFragment();
    if (!fragment.command) {
      if (answer) {
        answer.identifier.add(fragment.data);
        if (!fragment.last) continue;
        yield answerOf(answer.command, answer.identifier.whole());
        answer = null;
      } else if (provider) {
        await provider.take(fragment);
      } else {
        throw unexpected('Data came without a response.');
      }
      continue;
    }
    if (answer) throw unexpected('A command came inside an identifier.');
    command.add(fragment.data);
    if (!fragment.last) continue;
    const bytes = command.whole();
    command = new Parts(MAX_COMMAND_BYTES);
    const decoded = decodeCommandSet(bytes);
    if (!(decoded.commandField & RESPONSE_BIT)) {
      if (!provider) throw unexpected('The peer sent a request of its own.');
      await provider.take({ ...fragment, data: bytes });
      continue;
    }
    if (decoded.messageIdBeingRespondedTo !== messageId) {
      throw unexpected('The peer answered another message.');
    }
    if (decoded.hasDataSet) {
      answer = { command: decoded, identifier: new Parts(MAX_IDENTIFIER_BYTES) };
    } else {
      yield answerOf(decoded, null);
    }
  }
}

function answerOf(command: CommandSet, dataSet: Buffer | null): DimseResponse {
  if (command.status === undefined) throw unexpected('A response has no status.');
  return {
    status: command.status,
    errorComment: command.errorComment,
    remaining: command.remainingSubOperations ?? null,
    completed: command.completedSubOperations ?? null,
    failed: command.failedSubOperations ?? null,
    warning: command.warningSubOperations ?? null,
    dataSet,
  };
}

/** Pieces of one command set or identifier, up to a limit. */
class Parts {
  readonly #limit: number;
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#limit) throw unexpected(`More than ${this.#limit} bytes in one part.`);
    this.#parts.push(part);
  }

  whole(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

function unexpected(detail: string): SonogateError {
  return new SonogateError('unexpected_pdu', detail);
}
