import type { LogEvent } from '../../platform/logging/event.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { logRounds, type Rounds, startRounds } from '../../platform/rounds.ts';

const EVERY_MS = 3_600_000;

/**
 * Runs a cleanup immediately and then every hour, one at a time, until stopped.
 * @param failed the event to log if the cleanup fails.
 */
export function startCleaning(
  clean: () => Promise<unknown>,
  failed: LogEvent<{ err: unknown }>,
  logger: Logger,
): Rounds {
  return startRounds({
    work: clean,
    pauseMilliseconds: EVERY_MS,
    ...logRounds(logger, 'cleaning', (error) => logger.event(failed, { err: error })),
  });
}
