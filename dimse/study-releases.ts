import type { Source } from '../config/schema.ts';
import type { Database } from '../src/database/port.ts';
import type { Logger } from '../src/logging/logger.ts';
import { askSoon } from './archive/expected-count.ts';
import { releaseDeadline } from './completion.ts';
import type { AssociationEnd, AssociationPeer } from './network/storage-service.ts';
import { type Arrival, hastenCompletion } from './study-store.ts';

/** Which open association, or store transaction, brings objects of which study. */
export interface StudyReleases {
  arrived(peer: AssociationPeer, source: string, arrival: Arrival): void;
  ended(peer: AssociationPeer, end: AssociationEnd): Promise<void>;
}

/**
 * The release as a sign of completeness. Kept in memory: with the process the associations end as
 * well, and the quiet time of their studies runs on.
 */
export function watchReleases({
  sources,
  database,
  logger,
  now,
}: {
  sources: readonly Source[];
  database: Database;
  logger: Logger;
  now: () => Date;
}): StudyReleases {
  /** Association → studies it brought objects of, with their source and the revision they are in. */
  const open = new Map<string, Map<string, { source: string; revision: number }>>();
  return {
    arrived(peer, source, { studyId, revision }) {
      const studies = open.get(peer.id) ?? new Map();
      open.set(peer.id, studies.set(studyId, { source, revision }));
    },

    /**
     * On release, studies that no other open association brings objects of complete sooner, where
     * their source says so. An abort is no sign of completeness: their quiet time runs on.
     */
    async ended(peer, end) {
      const studies = open.get(peer.id);
      open.delete(peer.id);
      if (!studies) return;
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
        await askSoon(database, sources, { studyId, source, at: now() });
        if (end === 'aborted') continue;
        const deadline = releaseDeadline(sources, source, now());
        const elsewhere = [...open.values()].some((others) => others.has(studyId));
        if (!deadline || elsewhere) continue;
        await hastenCompletion(database, studyId, deadline, 'association-release');
      }
    },
  };
}
