import type { Config } from '../config/schema.ts';
import { logRounds, type Rounds, startRounds } from '../src/rounds.ts';
import { holdForArchive } from './archive/expected-count.ts';
import { expectedDeadline } from './completion.ts';
import { completeExpected, forgetExpectations } from './services/expected-objects.ts';
import { actOnStudy, type StudyActionParts } from './study-actions.ts';
import { claimCompleteStudies } from './study-store.ts';

export interface AssemblyParts extends StudyActionParts {
  config: Pick<Config, 'dataDir' | 'sources' | 'destinations'>;
}

const POLL_MILLISECONDS = 500;

/**
 * Turns each study that is complete into a request. The deadline stands in the row, so a restart
 * changes nothing.
 */
export function startStudyAssembly(parts: AssemblyParts): Rounds {
  const { logger } = parts;
  return startRounds({
    work: () => submitComplete(parts),
    pauseMilliseconds: POLL_MILLISECONDS,
    ...logRounds(logger, 'study assembly', (error) =>
      logger.error({ err: error }, 'study assembly'),
    ),
  });
}

/** The routing rules act on every study whose time has come, or it says why not. */
async function submitComplete(parts: AssemblyParts): Promise<void> {
  const { config, database, now } = parts;
  await completeExpected(database, (source) => expectedDeadline(config.sources, source, now()));
  await holdForArchive(database, config.sources, now());
  for (const study of await claimCompleteStudies(database, now())) {
    await forgetExpectations(database, study.study_instance_uid);
    await actOnStudy(study, parts);
  }
}
