import pino from 'pino';

/** What every part of the gateway logs to. Fields must hold no patient identity. */
export type Logger = Pick<pino.Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error'>;

/** JSON lines on standard error, so that a command's own output on standard output stays clean. */
export function createLogger(level: string): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: false }),
  );
}

export const silentLogger: Logger = pino({ level: 'silent' });
