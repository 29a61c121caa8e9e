import type { Source } from '../../../config/schema.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';

/**
 * Receptions in progress: one row for each association on which an object takes long to arrive,
 * visible to every listener of the installation. When the quiet time of a study ends, the study is
 * not completed while its cart is still sending an object that may belong to it
 * (`completeDueStudies`).
 */

/**
 * Seconds after which a reception gets its row. Until then, it does not delay the completion of a
 * study. An object that begins to arrive within the last second of the quiet time is therefore a
 * late object, just like one that begins afterwards.
 */
const FIRST_ROW_AFTER_SECONDS = 1;

/** Seconds between two updates of the row while bytes arrive. */
const REFRESH_EVERY_SECONDS = 5;

/**
 * Maximum number of seconds for which one object may delay the studies of its cart. Otherwise a
 * peer sending a byte now and then could delay them forever. An object that takes longer counts as
 * late.
 */
const LONGEST_HOLD_SECONDS = 900;

/**
 * Idle timeout in seconds for objects that we retrieved ourselves, which therefore have no source.
 */
const IDLE_SECONDS_WITHOUT_SOURCE = 300;

export interface ReceptionParts {
  sources: readonly Pick<Source, 'name' | 'idleTimeoutSeconds'>[];
  database: Database;
  now: () => Date;
}

interface ReceivingAssociation {
  id: string;
  callingAeTitle: string;
  /** Name of the source under which the association was admitted. */
  source?: string;
}

interface ReceptionUnderWay {
  /** Called when more bytes of the object have arrived. */
  progressed(): Promise<void>;
  ended(): Promise<void>;
}

/** Tracks the reception of one object. A row is written only if the reception takes a long time. */
export function beginReception(
  { id, callingAeTitle, source = '' }: ReceivingAssociation,
  { sources, database, now }: ReceptionParts,
): ReceptionUnderWay {
  const idleSeconds =
    sources.find(({ name }) => name === source)?.idleTimeoutSeconds ?? IDLE_SECONDS_WITHOUT_SOURCE;
  const began = now();
  const heldUntil = began.getTime() + LONGEST_HOLD_SECONDS * 1000;
  let refreshedAt = began.getTime();
  let hasRow = false;
  return {
    async progressed() {
      const at = now().getTime();
      const wait = hasRow ? REFRESH_EVERY_SECONDS : FIRST_ROW_AFTER_SECONDS;
      // If the clock was set back, the row is refreshed at once.
      if (at >= refreshedAt && at - refreshedAt < wait * 1000) return;
      refreshedAt = at;
      hasRow = true;
      await ignoringFailure(
        database.query(
          `INSERT INTO receptions_under_way
             (association, source, calling_ae_title, began_at, silent_after)
           VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (association) DO UPDATE SET began_at = EXCLUDED.began_at,
             silent_after = EXCLUDED.silent_after`,
          [
            id,
            source,
            callingAeTitle,
            began,
            new Date(Math.min(at + (idleSeconds + REFRESH_EVERY_SECONDS) * 1000, heldUntil)),
          ],
        ),
      );
    },
    async ended() {
      if (!hasRow) return;
      await ignoringFailure(
        database.query('DELETE FROM receptions_under_way WHERE association = $1', [id]),
      );
    },
  };
}

/**
 * Runs a query on the row of a reception, ignoring its failure. If the database is unreachable, the
 * object is refused anyway, because its own row cannot be written. A reception row that could not
 * be deleted expires.
 */
async function ignoringFailure(query: Promise<unknown>): Promise<void> {
  await query.catch(() => {});
}

/**
 * Deletes all rows at the startup of a process that has the database to itself: the associations of
 * the previous process ended with it.
 */
export async function forgetReceptions(database: Queryable): Promise<void> {
  await database.query('DELETE FROM receptions_under_way');
}

/** Deletes rows left behind by processes that were killed while receiving an object. */
export async function deleteSilentReceptions(database: Queryable, now: Date): Promise<void> {
  await database.query('DELETE FROM receptions_under_way WHERE silent_after < $1', [now]);
}
