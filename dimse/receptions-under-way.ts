import type { Source } from '../config/schema.ts';
import type { Database, Queryable } from '../src/database/port.ts';
import type { AssociationPeer, StorageService } from './network/storage-service.ts';

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
