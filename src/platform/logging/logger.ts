import pino from 'pino';
import { EVENTS, type EventId, type FieldsOf, type PlainEventId } from './events.ts';

interface ErrorFields {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: ErrorFields;
}

/**
 * Returns the log fields for an error. All other properties of the error are omitted: a database
 * error has properties with the statement's parameters and the failed row, and thus possibly a
 * patient's name.
 */
export function errorFields(error: unknown): ErrorFields {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { code } = error as NodeJS.ErrnoException;
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' && { code }),
    ...(error.stack !== undefined && { stack: error.stack }),
    ...(error.cause !== undefined && { cause: errorFields(error.cause) }),
  };
}

/** The log used by every part of the gateway. Fields must not contain patient identity. */
export interface Logger {
  /** Writes a line that an operator may act on, at the level of its event. */
  event(id: PlainEventId): void;
  event<Id extends EventId>(id: Id, fields: FieldsOf<Id>): void;
  /** Writes a line for a developer. */
  debug(fields: object, text: string): void;
}

/**
 * Creates a logger that writes JSON lines to standard error, so that standard output contains
 * nothing but the output of a command. The line of an event has its id in `event`.
 * @param destination for tests.
 */
export function createLogger(
  level: string,
  destination: pino.DestinationStream = pino.destination({ fd: 2, sync: false }),
): Logger {
  const lines = pino(
    {
      level,
      base: null,
      serializers: { err: errorFields },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  );
  return {
    event(id: EventId, fields: object = {}) {
      const { level, text } = EVENTS[id];
      lines[level]({ event: id, ...fields }, text);
    },
    debug: (fields, text) => lines.debug(fields, text),
  };
}

export const silentLogger: Logger = createLogger('silent');

/** Called with each event, whichever levels are logged. */
export type OnEvent = (id: EventId, fields: Readonly<Record<string, unknown>>) => void;

/** Returns a logger that calls `onEvent` for every event before it writes the line. */
export function observedLogger(logger: Logger, onEvent: OnEvent): Logger {
  return {
    event<Id extends EventId>(id: Id, fields?: FieldsOf<Id>) {
      const given: object = fields ?? {};
      onEvent(id, { ...given });
      // An event without fields is one that has none.
      logger.event(id, given as FieldsOf<Id>);
    },
    debug: (fields, text) => logger.debug(fields, text),
  };
}
