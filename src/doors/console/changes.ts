import { SEEN_SECONDS } from '../../core/reviews/review-rows.ts';
import type { PooledDatabase } from '../../platform/database/pooled.ts';
import type { Logger } from '../../platform/logging/logger.ts';

const CHANNEL = 'sonogate_console';

/**
 * Milliseconds between two checks for changes without a notification: objects received for a study,
 * people who no longer have a review open, and changes whose notification was lost.
 */
const LOOK_MS = 1000;
/** Milliseconds to wait after a change, so that changes made together are sent together. */
const GATHER_MS = 150;
const MOST_AT_A_TIME = 500;
/**
 * Changes made in this period before a page first connects are sent to it as well, because the page
 * loaded its list shortly before. Repeats do no harm, because each event carries the complete row.
 */
const LOOK_BACK = '10 seconds';

interface Change {
  /** Key of the worklist row; '' if there is no such row. */
  key: string;
  delivery_id: string | null;
}

export interface ChangeBatch {
  /** Cursor after these changes. Passing it as `after` returns the changes that follow. */
  cursor: string;
  changes: Change[];
  /** True if `after` was too old and the changes since then are therefore unknown. */
  lost: boolean;
}

/** Streams changes to studies, requests and deliveries as any process commits them. */
export interface Changes {
  /**
   * Yields an empty batch with the starting cursor, then another batch whenever something has
   * changed. Ends when `signal` aborts.
   */
  follow(after: string | null, signal: AbortSignal): AsyncGenerator<ChangeBatch>;
  close(): Promise<void>;
}

interface Follower {
  wake(): void;
  /**
   * Keys of rows whose change is not in the log: an object was received, or somebody no longer has
   * the review open.
   */
  touched: Set<string>;
}

export async function openChanges(database: PooledDatabase, logger: Logger): Promise<Changes> {
  const followers = new Set<Follower>();
  const wakeAll = () => {
    for (const { wake } of followers) wake();
  };
  const unlisten = await database.listen(CHANNEL, wakeAll);

  let looked = new Date();
  const look = async () => {
    const since = looked;
    looked = new Date();
    if (followers.size === 0) return;
    const { rows } = await database.query<{ id: string }>(
      `SELECT id FROM studies WHERE state = 'receiving' AND last_received_at > $1`,
      [new Date(since.getTime() - LOOK_MS)],
    );
    const gone = await readersGone(database, since, looked);
    const touched = [...rows.map(({ id }) => id), ...gone];
    for (const follower of followers) for (const key of touched) follower.touched.add(key);
    wakeAll();
  };
  const timer = setInterval(() => {
    look().catch((error: unknown) => {
      logger.debug({ error: String(error) }, 'console could not check for changes');
    });
  }, LOOK_MS);

  async function* follow(after: string | null, signal: AbortSignal) {
    let woken = true;
    let wake = () => {};
    const follower: Follower = {
      touched: new Set(),
      wake: () => {
        woken = true;
        wake();
      },
    };
    followers.add(follower);
    const stop = () => follower.wake();
    signal.addEventListener('abort', stop);
    try {
      const known = after === null ? null : await isKept(database, after);
      let cursor = known && after !== null ? after : await startingPlace(database);
      yield { cursor, changes: [], lost: known === false };
      while (!signal.aborted) {
        woken = false;
        const logged = await readAfter(database, cursor);
        cursor = logged.cursor;
        const touched = [...follower.touched].map((key): Change => ({ key, delivery_id: null }));
        follower.touched.clear();
        const changes = [...logged.changes, ...touched];
        if (changes.length > 0) yield { cursor, changes, lost: false };
        if (logged.changes.length === MOST_AT_A_TIME) continue;
        if (!woken && !signal.aborted) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
      }
    } finally {
      signal.removeEventListener('abort', stop);
      followers.delete(follower);
    }
  }

  return {
    follow,
    close: async () => {
      clearInterval(timer);
      await unlisten();
    },
  };
}

/**
 * Returns the keys of rows whose review has lost a reader since the last check because a keep-alive
 * expired, for example after a process died. The change log does not show this, because no database
 * row changes at that moment.
 */
async function readersGone(database: PooledDatabase, since: Date, now: Date): Promise<string[]> {
  const { rows } = await database.query<{ key: string }>(
    `SELECT coalesce(r.source ->> 'study', r.id) AS key
     FROM review_readers v JOIN requests r ON r.id = v.request_id
     WHERE v.seen_at > $1::timestamptz - make_interval(secs => $3)
       AND v.seen_at <= $2::timestamptz - make_interval(secs => $3)`,
    [since, now, SEEN_SECONDS],
  );
  return rows.map(({ key }) => key);
}

const FORM = /^\d{1,20}\.\d{1,19}$/;

/** Whether the log still contains the last change that a page received. */
async function isKept(database: PooledDatabase, cursor: string): Promise<boolean> {
  if (!FORM.test(cursor)) return false;
  const [xid, seq] = cursor.split('.');
  const { rows } = await database.query(
    'SELECT 1 FROM console_changes WHERE seq = $2 AND xid = $1::text::xid8',
    [xid, seq],
  );
  return rows.length > 0;
}

/** Returns the cursor of the last change before the replayed period (`LOOK_BACK`). */
async function startingPlace(database: PooledDatabase): Promise<string> {
  const { rows } = await database.query<{ xid: string; seq: string }>(
    `SELECT xid::text, seq::text FROM console_changes
     WHERE at < clock_timestamp() - interval '${LOOK_BACK}' ORDER BY xid DESC, seq DESC LIMIT 1`,
  );
  const [row] = rows;
  return row ? `${row.xid}.${row.seq}` : '0.0';
}

/**
 * Returns the changes after a cursor, ordered by transaction. Stops before the oldest open
 * transaction, because its changes precede those of later transactions.
 */
async function readAfter(
  database: PooledDatabase,
  cursor: string,
): Promise<{ cursor: string; changes: Change[] }> {
  const [xid, seq] = cursor.split('.');
  const { rows } = await database.query<Change & { xid: string; seq: string }>(
    `SELECT xid::text, seq::text, key, delivery_id FROM console_changes
     WHERE (xid, seq) > ($1::text::xid8, $2::bigint)
       AND xid < pg_snapshot_xmin(pg_current_snapshot())
     ORDER BY xid, seq LIMIT ${MOST_AT_A_TIME}`,
    [xid, seq],
  );
  const last = rows.at(-1);
  return {
    cursor: last ? `${last.xid}.${last.seq}` : cursor,
    changes: rows.map(({ key, delivery_id }) => ({ key, delivery_id })),
  };
}
