import type { Source } from '../../config/schema.ts';
import { scheduleArchiveCount } from '../../src/core/studies/archive-count.ts';
import {
  type Completion,
  hastenCompletion,
  releaseDeadline,
} from '../../src/core/studies/completion.ts';
import { beginReception, type ReceptionParts } from '../../src/core/studies/receptions.ts';
import type { Arrival } from '../../src/core/studies/study-store.ts';
import { batched } from '../../src/platform/database/batched.ts';
import type { Database } from '../../src/platform/database/port.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import type { AssociationEnd, AssociationPeer, StorageService } from '../network/service-ports.ts';

/**
 * What an association says about the completion of its studies: an object that is still arriving
 * delays it, the release of the association brings it forward.
 */

/**
 * Wraps a storage service so that every process of the installation knows of an object that takes
 * long to arrive. Otherwise its study could be completed when the quiet time ends during the
 * transfer (`completeDueStudies`).
 */
export function noteReceptions(storage: StorageService, parts: ReceptionParts): StorageService {
  return {
    ...storage,
    async open(object, peer) {
      const reception = beginReception(peer, parts);
      const sink = await storage.open(object, peer);
      return {
        ...sink,
        async write(bytes) {
          await sink.write(bytes);
          await reception.progressed();
        },
        async commit() {
          await reception.progressed();
          try {
            await sink.commit();
          } catch (error) {
            await reception.ended();
            throw error;
          }
          // Until the object's row is in the database, the open reception prevents this process and
          // others from completing the study.
          void Promise.resolve(sink.recorded?.()).finally(reception.ended);
        },
        discard: () => sink.discard().finally(reception.ended),
      };
    },
  };
}

/** Tracks which open association, or store transaction, is sending objects of which study. */
interface StudyReleases {
  arrived(peer: AssociationPeer, source: string, arrival: Arrival): void;
  ended(peer: AssociationPeer, end: AssociationEnd): Promise<void>;
}

/**
 * Uses the release of an association as a completion signal. The signals are only in memory: when
 * the process ends, so do its associations, and the quiet time of their studies applies.
 */
export function watchReleases({
  sources,
  database,
  logger,
  now,
  onDeadline,
}: {
  sources: readonly Source[];
  database: Database;
  logger: Logger;
  now: () => Date;
  /** Called with the time at which a released study counts as complete. */
  onDeadline: (completeAfter: Date) => void;
}): StudyReleases {
  /**
   * For each open association, by id: the studies whose objects it has sent, with their source and
   * revision.
   */
  const open = new Map<string, Map<string, { source: string; revision: number }>>();
  // Associations that end at the same moment share one database statement.
  const hasten = batched(async (completions: readonly Completion[]) => {
    await hastenCompletion(database, completions, 'association-release');
    return completions.map(() => undefined);
  });
  return {
    arrived(peer, source, { studyId, revision }) {
      const studies = open.get(peer.id) ?? new Map();
      open.set(peer.id, studies.set(studyId, { source, revision }));
    },

    /**
     * After a release, a study completes sooner if its source is configured that way and no other
     * open association is sending objects of it. An abort is not a signal: the quiet time
     * continues.
     */
    async ended(peer, end) {
      const studies = open.get(peer.id);
      open.delete(peer.id);
      if (!studies) return;
      logger.event('association_studies', {
        association: peer.id,
        callingAeTitle: peer.callingAeTitle,
        studies: [...studies].map(([study, { revision }]) => ({ study, revision })),
        end,
      });
      for (const [studyId, { source }] of studies) {
        await scheduleArchiveCount(database, sources, { studyId, source, at: now() });
        if (end === 'aborted') continue;
        const completeAfter = releaseDeadline(sources, source, now());
        const elsewhere = [...open.values()].some((others) => others.has(studyId));
        if (!completeAfter || elsewhere) continue;
        await hasten({ studyId, completeAfter });
        onDeadline(completeAfter);
      }
    },
  };
}
