import type { CallingAssociation } from './calling-association.ts';
import type { DimseProvider } from './dimse-provider.ts';
import { COMMAND, CollectedBytes, type CommandSet, RESPONSE_BIT, unexpected } from './message.ts';
import { MEDIUM_PRIORITY } from './requestor.ts';

/** A C-FIND, C-GET or C-MOVE request. */
interface DimseRequest {
  commandField: number;
  sopClassUid: string;
  transferSyntax: string;
  identifier: Buffer;
  moveDestination?: string | undefined;
}

/** One of the several responses to a C-FIND, C-GET or C-MOVE (PS3.7 9.1.2 to 9.1.4). */
export interface DimseResponse extends Pick<CommandSet, 'status' | 'errorComment'> {
  status: number;
  remaining: number | null;
  completed: number | null;
  failed: number | null;
  warning: number | null;
  dataSet: Buffer | null;
}

/**
 * Statuses after which the operation continues, and more responses follow (PS3.7 C.4.1.1.4, PS3.4
 * C.4.1.1.4).
 */
const PENDING: ReadonlySet<number> = new Set([0xff00, 0xff01]);
export const isPending = (status: number): boolean => PENDING.has(status);

/**
 * Maximum size of an identifier, which holds the attributes of one study, series or image, or a
 * list of failed objects.
 */
const MAX_IDENTIFIER_BYTES = 4 * 1024 * 1024;

/** Milliseconds to wait for a peer that does not respond to C-CANCEL. */
const CANCEL_PATIENCE_MS = 5000;

/**
 * Sends a request and yields every response. All but the last are pending.
 * @param provider serves the C-STORE requests that arrive in between (C-GET).
 * @param cancel sends a C-CANCEL when aborted; responses continue until the peer has ended the
 * operation.
 * @throws SonogateError `presentation_context_refused`, `peer_unreachable`, `unexpected_pdu`.
 */
export async function* responsesTo(
  association: CallingAssociation,
  request: DimseRequest,
  {
    provider,
    cancel,
  }: {
    provider?: DimseProvider | undefined;
    cancel?: AbortSignal | undefined;
  } = {},
): AsyncGenerator<DimseResponse> {
  const { sopClassUid, transferSyntax, identifier, commandField, moveDestination } = request;
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
    for await (const response of readResponses(association, messageId, provider)) {
      yield response;
      if (!isPending(response.status)) return;
    }
  } finally {
    canceling.end();
  }
}

/**
 * Sends a C-CANCEL when the signal aborts. The C-CANCEL identifies the message to be canceled
 * (PS3.7 9.3.2.3).
 */
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
    // An error can be ignored here: a lost connection is detected when the responses are read.
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

/** Yields the responses to one message. Requests from the peer are passed to `provider`. */
async function* readResponses(
  association: CallingAssociation,
  messageId: number,
  provider: DimseProvider | undefined,
): AsyncGenerator<DimseResponse> {
  let identifier = new CollectedBytes(MAX_IDENTIFIER_BYTES);
  for (;;) {
    const part = await association.nextPart();
    const { command } = part;
    if (!(command.commandField & RESPONSE_BIT)) {
      if (!provider) throw unexpected('The peer sent a request instead of a response.');
      await provider.take(part);
      continue;
    }
    if (command.messageIdBeingRespondedTo !== messageId) {
      throw unexpected('The peer responded to a different message.');
    }
    if (part.kind === 'data') {
      identifier.add(part.data);
      if (part.last) yield readResponse(command, identifier.whole());
    } else if (command.hasDataSet) {
      identifier = new CollectedBytes(MAX_IDENTIFIER_BYTES);
    } else {
      yield readResponse(command, null);
    }
  }
}

function readResponse(command: CommandSet, dataSet: Buffer | null): DimseResponse {
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
