import { z } from 'zod';
import type { Logger } from '../src/logging/logger.ts';
import { type Rounds, startRounds } from '../src/rounds.ts';
import {
  type KeptBecause,
  keptInWords,
  type RetentionParts,
  removeOldStudies,
} from './intake-retention.ts';

const EVERY_MILLISECONDS = 3_600_000;

/** Removes what is due now and every hour, until stopped. */
export function startRetention(parts: RetentionParts & { logger: Logger }): Rounds {
  const { logger } = parts;
  return startRounds({
    async work() {
      const removal = await removeOldStudies(parts, false);
      if (removal.studies + removal.quarantined > 0) logger.info(removal, 'old studies removed');
    },
    pauseMilliseconds: EVERY_MILLISECONDS,
    onError: (error) => logger.warn({ err: error }, 'old studies could not be removed, will retry'),
  });
}

const cleanSchema = z.strictObject({ dryRun: z.boolean(), person: z.string().optional() });

/** The clean-up as an operation of the admin socket; `kept` is in words. */
export function retentionOperations(
  parts: RetentionParts,
): Record<string, (parameters: unknown) => Promise<unknown>> {
  return {
    'retention.clean': async (parameters) => {
      const { dryRun } = cleanSchema.parse(parameters);
      const { kept, ...removal } = await removeOldStudies(parts, dryRun);
      const words = Object.entries(kept).map(([because, studies]) => {
        return { because: keptInWords(because as KeptBecause), studies };
      });
      return { ...removal, kept: words };
    },
  };
}
