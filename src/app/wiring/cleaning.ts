import type { Logger } from '../../platform/logging/logger.ts';
import { logRounds, type Rounds, startRounds } from '../../platform/rounds.ts';

const EVERY_MS = 3_600_000;

/**
 * Runs a cleanup immediately and then every hour, one at a time, until stopped.
 * @param failed logs that a cleanup failed.
 */
export function startCleaning(
  clean: () => Promise<unknown>,
  failed: (err: unknown) => void,
  logger: Logger,
): Rounds {
  return startRounds({
    work: clean,
    pauseMilliseconds: EVERY_MS,
    ...logRounds(logger, 'cleaning', failed),
  });
}
