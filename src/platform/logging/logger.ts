import pino from 'pino';
import type { LogEvent, NoFields } from './event.ts';

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
  event(event: LogEvent<NoFields>): void;
  event<Fields extends object>(event: LogEvent<Fields>, fields: NoInfer<Fields>): void;
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
    event({ id, level, text }: LogEvent, fields: object = {}) {
      lines[level]({ event: id, ...fields }, text);
    },
    debug: (fields, text) => lines.debug(fields, text),
  };
}

export const silentLogger: Logger = createLogger('silent');

/** Called with each event, whichever levels are logged. */
export type OnEvent = (id: string, fields: Readonly<Record<string, unknown>>) => void;

/** Returns a logger that calls `onEvent` for every event before it writes the line. */
export function observedLogger(logger: Logger, onEvent: OnEvent): Logger {
  return {
    event(event: LogEvent, fields: object = {}) {
      onEvent(event.id, { ...fields });
      logger.event(event, fields);
    },
    debug: (fields, text) => logger.debug(fields, text),
  };
}
