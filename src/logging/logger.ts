import pino from 'pino';
import { errorFields } from './error-fields.ts';
import { eventOf } from './events.ts';

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
