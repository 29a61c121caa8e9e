import type { Config } from '../config/schema.ts';
import type { Database } from '../src/database/port.ts';
import type { Logger } from '../src/logging/logger.ts';
import { holdForArchive } from './archive/expected-count.ts';
import { expectedDeadline } from './completion.ts';
import { completeExpected, forgetExpectations } from './services/expected-objects.ts';
import { actOnStudy, type StudyActionParts } from './study-actions.ts';
import { claimCompleteStudies } from './study-store.ts';

export interface AssemblyOptions extends StudyActionParts {
  config: Pick<Config, 'dataDir' | 'sources' | 'destinations'>;
  database: Database;
  logger: Logger;
  now: () => Date;
}

const POLL_MILLISECONDS = 500;

/**
 * Turns each study that is complete into a request. The deadline stands in the row, so a restart
 * changes nothing.
 */
export class StudyAssembly {
  readonly #options: AssemblyOptions;
  #timer: NodeJS.Timeout | null = null;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: AssemblyOptions) {
    this.#options = options;
  }

  start(): void {
    this.#schedule();
  }

  /** Resolves when the round under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#round;
  }

  /** One round: the routing rules act on every study whose time has come, or it says why not. */
  async submitComplete(): Promise<void> {
    const { config, database, now } = this.#options;
    await completeExpected(database, (source) => expectedDeadline(config.sources, source, now()));
    await holdForArchive(database, config.sources, now());
    for (const study of await claimCompleteStudies(database, now())) {
      await forgetExpectations(database, study.study_instance_uid);
      await actOnStudy(study, this.#options);
    }
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#round = this.submitComplete()
        .catch((error: unknown) => {
          this.#options.logger.error({ error: String(error) }, 'study assembly');
        })
        .finally(() => {
          if (!this.#stopped) this.#schedule();
        });
    }, POLL_MILLISECONDS);
  }
}
