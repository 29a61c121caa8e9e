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
  /** Association → studies it brought objects of, with their source and the revision they are in. */
  readonly #open = new Map<string, Map<string, { source: string; revision: number }>>();
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

  arrived(peer: AssociationPeer, source: string, { studyId, revision }: Arrival): void {
    const studies = this.#open.get(peer.id) ?? new Map();
    this.#open.set(peer.id, studies.set(studyId, { source, revision }));
  }

  /**
   * On release, studies that no other open association brings objects of complete sooner, where
   * their source says so. An abort is no sign of completeness: their quiet time runs on.
   */
  async associationEnded(peer: AssociationPeer, end: AssociationEnd): Promise<void> {
    const studies = this.#open.get(peer.id);
    this.#open.delete(peer.id);
    if (!studies) return;
    const { config, database, logger, now } = this.#options;
    logger.info(
      {
        association: peer.id,
        callingAeTitle: peer.callingAeTitle,
        studies: [...studies].map(([study, { revision }]) => ({ study, revision })),
        end,
      },
      'association brought objects',
    );
    for (const [studyId, { source }] of studies) {
      await askSoon(database, config.sources, { studyId, source, at: now() });
      if (end === 'aborted') continue;
      const deadline = releaseDeadline(config.sources, source, now());
      const elsewhere = [...this.#open.values()].some((others) => others.has(studyId));
      if (!deadline || elsewhere) continue;
      await hastenCompletion(database, studyId, deadline, 'association-release');
    }
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
