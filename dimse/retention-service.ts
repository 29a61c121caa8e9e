import { z } from 'zod';
import type { Logger } from '../src/logging/logger.ts';
import {
  type KeptBecause,
  keptInWords,
  type RetentionParts,
  removeOldStudies,
} from './intake-retention.ts';

const EVERY_MILLISECONDS = 3_600_000;

/** Removes what is due now and every hour, until stopped. */
export function startRetention(parts: RetentionParts & { logger: Logger }): {
  stop(): Promise<void>;
} {
  const { logger } = parts;
  const pass = async () => {
    try {
      const removal = await removeOldStudies(parts, false);
      if (removal.studies + removal.quarantined > 0) logger.info(removal, 'old studies removed');
    } catch (error) {
      logger.warn({ err: error }, 'old studies could not be removed, will retry');
    }
  };
  let round = pass();
  const timer = setInterval(() => {
    round = round.then(pass);
  }, EVERY_MILLISECONDS);
  return {
    async stop() {
      clearInterval(timer);
      await round;
    },
  };
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
