import { eventOf } from '../logging/events.ts';
import type { Logger } from '../logging/logger.ts';

/** Told of each line that stands in the table of log events, whatever level is written. */
export type OnEvent = (event: string, fields: Readonly<Record<string, unknown>>) => void;

type Line = Parameters<Logger['info']>;

/** A logger that tells of every event what it was and with which fields, and then logs as before. */
export function countedLogger(logger: Logger, onEvent: OnEvent): Logger {
  const counted =
    (write: (...line: Line) => void) =>
    (...line: Line): void => {
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
