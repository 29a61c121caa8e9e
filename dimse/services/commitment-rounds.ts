import { logRounds, type Rounds, startRounds } from '../../src/rounds.ts';
import { type ReporterParts, tellReports } from './commitment-reporter.ts';
import { askForCommitment, type CommitmentScuParts } from './storage-commitment-scu.ts';

const ROUND_MILLISECONDS = 2000;

/** Storage Commitment that waits for nobody: asks for it, and tells of it, until stopped. */
export function startCommitmentRounds(parts: ReporterParts & CommitmentScuParts): Rounds {
  const { logger } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  const rounds = startRounds({
    async work() {
      await tellReports(parts);
      await askForCommitment({ ...parts, signal });
    },
    pauseMilliseconds: ROUND_MILLISECONDS,
    ...logRounds(logger, 'storage commitment', (error) =>
      logger.error({ err: error }, 'commitment'),
    ),
  });
  return {
    stop() {
      stopping.abort();
      return rounds.stop();
    },
  };
}
