import pino from 'pino';
import { eventOf } from './events/catalogue.ts';

/** What a log line tells of an error. */
export interface ErrorFields {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: ErrorFields;
}

/**
 * The fields of an error that are the program's own words. All others stay out: what a database
 * says of a statement holds its parameters and the row that failed, a patient's name among them.
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

/** What every part of the gateway logs to. Fields must hold no patient identity. */
export type Logger = Pick<pino.Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error'>;

/**
 * JSON lines on standard error, so that a command's own output on standard output stays clean. A line
 * that stands in the table of events has the id of its event.
 * @param destination for tests.
 */
export function createLogger(
  level: string,
  destination: pino.DestinationStream = pino.destination({ fd: 2, sync: false }),
): Logger {
  return pino(
    {
      level,
      base: null,
      serializers: { err: errorFields },
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: {
        logMethod([first, text, ...more], method) {
          const named = typeof first === 'string' ? first : text;
          const event = typeof named === 'string' ? eventOf(named) : undefined;
          if (event === undefined) method.apply(this, [first, text, ...more] as Line);
          else if (typeof first === 'string') method.apply(this, [{ event }, first]);
          else method.apply(this, [{ event, ...(first as object) }, text, ...more] as Line);
        },
      },
    },
    destination,
  );
}

type Line = Parameters<pino.LogFn>;

export const silentLogger: Logger = pino({ level: 'silent' });

/** Told of each line that stands in the table of log events, whatever level is written. */
export type OnEvent = (event: string, fields: Readonly<Record<string, unknown>>) => void;

type LogLine = Parameters<Logger['info']>;

/** A logger that tells of every event what it was and with which fields, and then logs as before. */
export function countedLogger(logger: Logger, onEvent: OnEvent): Logger {
  const counted =
    (write: (...line: LogLine) => void) =>
    (...line: LogLine): void => {
      const [first, text]: readonly unknown[] = line;
      const named = typeof first === 'string' ? first : text;
      const event = typeof named === 'string' ? eventOf(named) : undefined;
      const fields = typeof first === 'object' && first !== null ? first : {};
      if (event !== undefined) onEvent(event, fields as Record<string, unknown>);
      write(...line);
    };
  return {
    trace: logger.trace.bind(logger),
    debug: logger.debug.bind(logger),
    info: counted((...line) => logger.info(...line)),
    warn: counted((...line) => logger.warn(...line)),
    error: counted((...line) => logger.error(...line)),
  };
}
