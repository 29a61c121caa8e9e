import type { Config } from '../config/schema.ts';
import type { Database } from '../src/database/port.ts';
import { catalogueEntry, SonogateError } from '../src/errors/catalogue.ts';
import type { Logger } from '../src/logging/logger.ts';
import type { Submit } from '../src/requests/port.ts';
import { releaseDeadline } from './completion.ts';
import type { AssociationEnd, AssociationPeer } from './network/storage-service.ts';
import { route, whyUnrouted } from './routing.ts';
import { instancesOf } from './study-queries.ts';
import {
  type Arrival,
  claimCompleteStudies,
  endRevision,
  hastenCompletion,
  postpone,
  recordSubmission,
  type StudyRow,
} from './study-store.ts';
import { factsOf, submissionOf } from './study-submission.ts';

export interface AssemblyOptions {
  config: Pick<Config, 'dataDir' | 'sources' | 'routing' | 'destinations'>;
  database: Database;
  submit: Submit;
  logger: Logger;
  now: () => Date;
}

const POLL_MILLISECONDS = 500;
/** A submission that failed for now is tried again after this. */
const RETRY_MILLISECONDS = 10_000;

/**
 * Decides when a study is complete and turns it into a request. The deadline stands in the row, so
 * a restart changes nothing; only which open association brings which study is kept in memory,
 * and with the process the associations end as well.
 */
export class StudyAssembly {
  readonly #options: AssemblyOptions;
  /** Association → studies it brought objects of, with their source. */
  readonly #open = new Map<string, Map<string, string>>();
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

  arrived(peer: AssociationPeer, source: string, { studyId }: Arrival): void {
    const studies = this.#open.get(peer.id) ?? new Map<string, string>();
    this.#open.set(peer.id, studies.set(studyId, source));
  }

  /**
   * On release, studies that no other open association brings objects of complete sooner, where
   * their source says so. An abort is no sign of completeness: their quiet time runs on.
   */
  async associationEnded(peer: AssociationPeer, end: AssociationEnd): Promise<void> {
    const studies = this.#open.get(peer.id);
    this.#open.delete(peer.id);
    if (!studies || end === 'aborted') return;
    const { config, database, now } = this.#options;
    for (const [studyId, source] of studies) {
      const deadline = releaseDeadline(config.sources, source, now());
      const elsewhere = [...this.#open.values()].some((others) => others.has(studyId));
      if (deadline && !elsewhere) await hastenCompletion(database, [studyId], deadline);
    }
  }

  /** One round: every study whose time has come becomes a request, or says why not. */
  async submitComplete(): Promise<void> {
    const { database, now } = this.#options;
    for (const study of await claimCompleteStudies(database, now())) {
      await this.#submitStudy(study);
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

  async #submitStudy(study: StudyRow): Promise<void> {
    const { config, database, submit, logger, now } = this.#options;
    const instances = await instancesOf(database, study);
    const { rule, verdicts } = route(config.routing.rules, factsOf(study, instances));
    const log = { study: study.id, revision: study.revision, objects: instances.length };
    if (!rule) {
      await endRevision(database, study, 'unrouted', whyUnrouted(verdicts));
      logger.warn({ ...log, code: 'study_not_routed' }, 'study not routed');
      return;
    }
    try {
      const request = await submit(submissionOf(study, instances, rule, config));
      await recordSubmission(database, study, {
        rule: rule.name,
        requestId: request.id,
        at: now(),
      });
      await endRevision(database, study, 'submitted', null);
      logger.info({ ...log, rule: rule.name, request: request.id }, 'study submitted');
    } catch (error) {
      await this.#onFailure(study, error, { ...log, rule: rule.name });
    }
  }

  /** What the core refuses for good is left to a person; anything else is tried again. */
  async #onFailure(study: StudyRow, error: unknown, log: object): Promise<void> {
    const { database, logger, now } = this.#options;
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof SonogateError && catalogueEntry(error.code).retry === 'permanent') {
      await endRevision(database, study, 'refused', message);
    } else {
      const until = new Date(now().getTime() + RETRY_MILLISECONDS);
      await postpone(database, study, until, message);
    }
    logger.error({ ...log, error: message }, 'study not submitted');
  }
}
