import { type ReporterParts, tellReports } from './commitment-reporter.ts';
import { askForCommitment, type CommitmentScuParts } from './storage-commitment-scu.ts';

const ROUND_MILLISECONDS = 2000;

/** Storage Commitment that waits for nobody: asks for it, and tells of it, until stopped. */
export function startCommitmentRounds(parts: ReporterParts & CommitmentScuParts): {
  stop(): Promise<void>;
} {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  const work = async () => {
    await tellReports(parts);
    await askForCommitment(parts);
  };
  const schedule = () => {
    timer = setTimeout(() => {
      round = work()
        .catch((error: unknown) => parts.logger.error({ error: String(error) }, 'commitment'))
        .finally(() => {
          if (!stopped) schedule();
        });
    }, ROUND_MILLISECONDS);
  };
  schedule();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}
