import type { Source } from '../../config/schema.ts';
import { releaseDeadline } from '../../src/core/studies/completion.ts';
import { type Arrival, hastenCompletion } from '../../src/core/studies/study-store.ts';
import type { Database, Queryable } from '../../src/platform/database/port.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import { scheduleArchiveCount } from '../archive/expected-count.ts';
import type { AssociationEnd, AssociationPeer, StorageService } from '../network/service-ports.ts';

/**
 * An object that takes longer is noted. One that begins so shortly before the quiet time of its study
 * is over is late, as one that begins just after.
 */
const NOTE_AFTER_SECONDS = 1;

/** While its bytes move it is noted again as often. */
const NOTE_EVERY_SECONDS = 5;

/** Of what we fetch ourselves, which comes from no source. */
const IDLE_SECONDS_OF_OTHERS = 300;

export interface ReceptionParts {
  sources: readonly Pick<Source, 'name' | 'idleTimeoutSeconds'>[];
  database: Database;
  now: () => Date;
}

/**
 * A storage service that notes which associations are inside an object, where all listeners of the
 * site see it: a long cine may be of a study whose quiet time is over (study-store.ts).
 */
export function noteReceptions(storage: StorageService, parts: ReceptionParts): StorageService {
  return {
    ...storage,
    async open(object, peer) {
      const reception = beginReception(peer, parts);
      const sink = await storage.open(object, peer);
      return {
        async write(bytes) {
          await sink.write(bytes);
          await reception.moved();
        },
        async commit() {
          await reception.moved();
          await sink.commit().finally(reception.ended);
        },
        discard: () => sink.discard().finally(reception.ended),
      };
    },
  };
}

function beginReception(peer: AssociationPeer, { sources, database, now }: ReceptionParts) {
  const source = peer.source ?? '';
  const idleSeconds =
    sources.find(({ name }) => name === source)?.idleTimeoutSeconds ?? IDLE_SECONDS_OF_OTHERS;
  const began = now();
  let last = began.getTime();
  let noted = false;
  return {
    async moved() {
      const at = now().getTime();
      // A clock that was set back is waited for no longer.
      const wait = noted ? NOTE_EVERY_SECONDS : NOTE_AFTER_SECONDS;
      if (at >= last && at - last < wait * 1000) return;
      last = at;
      noted = true;
      await unlessAway(
        database.query(
          `INSERT INTO receptions_under_way
             (association, source, calling_ae_title, began_at, silent_after)
           VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (association) DO UPDATE SET began_at = EXCLUDED.began_at,
             silent_after = EXCLUDED.silent_after`,
          [
            peer.id,
            source,
            peer.callingAeTitle,
            began,
            new Date(at + (idleSeconds + NOTE_EVERY_SECONDS) * 1000),
          ],
        ),
      );
    },
    async ended() {
      if (!noted) return;
      const forgotten = database.query('DELETE FROM receptions_under_way WHERE association = $1', [
        peer.id,
      ]);
      await unlessAway(forgotten);
    },
  };
}

/** Without the database the object gets no row either, and its sender is told so; a note runs out. */
async function unlessAway(noting: Promise<unknown>): Promise<void> {
  await noting.catch(() => {});
}

/** Forgets what processes left that were killed inside an object. */
export async function forgetSilentReceptions(database: Queryable, now: Date): Promise<void> {
  await database.query('DELETE FROM receptions_under_way WHERE silent_after < $1', [now]);
}

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
        await scheduleArchiveCount(database, sources, { studyId, source, at: now() });
        if (end === 'aborted') continue;
        const deadline = releaseDeadline(sources, source, now());
        const elsewhere = [...open.values()].some((others) => others.has(studyId));
        if (!deadline || elsewhere) continue;
        await hastenCompletion(database, studyId, deadline, 'association-release');
      }
    },
  };
}
