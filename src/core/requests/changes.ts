import { setTimeout as delay } from 'node:timers/promises';
import type { PooledDatabase } from '../../platform/database/pooled.ts';
import type { Queryable } from '../../platform/database/port.ts';

const CHANNEL = 'sonogate_requests';

/**
 * Notifies every watcher of a request, in any process, that the request has changed. The
 * notification is sent when `tx` commits.
 */
export async function announceChange(tx: Queryable, id: string): Promise<void> {
  await tx.query('SELECT pg_notify($1, $2)', [CHANNEL, id]);
}

/** Committed changes to requests, made by any process. */
export interface ChangeFeed {
  /**
   * Calls `onChange` after each change to the request, and whenever a notification may have been
   * lost.
   */
  watch(id: string, onChange: () => void): () => void;
  /** Calls `onChange` with the id of each request that changes. Notifications may be lost. */
  watchAll(onChange: (id: string) => void): () => void;
  close(): Promise<void>;
}

interface Watched {
  onChange: Set<() => void>;
  /** Number of events that the request had at the last check; null before the first check. */
  seen: number | null;
}

const REQUESTS_PER_POLL = 500;

/**
 * Opens one subscription and one regular poll for all requests watched by this process. The poll
 * finds changes whose notification was lost.
 */
export async function openChangeFeed(
  database: PooledDatabase,
  lookEveryMs = 5000,
): Promise<ChangeFeed> {
  const watched = new Map<string, Watched>();
  const watchingAll = new Set<(id: string) => void>();
  const wake = (found: Watched | undefined) => {
    for (const onChange of [...(found?.onChange ?? [])]) onChange();
  };
  const unlisten = await database.listen(CHANNEL, (id) => {
    for (const onChange of watchingAll) if (id !== '') onChange(id);
    if (id !== '') wake(watched.get(id));
    else for (const each of [...watched.values()]) wake(each);
  });

  const look = async (ids: readonly string[]) => {
    const { rows } = await database.query<{ id: string; last_seq: number }>(
      'SELECT id, last_seq FROM requests WHERE id = ANY($1::text[])',
      [ids],
      'look-at-requests',
    );
    for (const { id, last_seq } of rows) {
      const found = watched.get(id);
      if (!found || found.seen === last_seq) continue;
      found.seen = last_seq;
      wake(found);
    }
  };
  const closing = new AbortController();
  const looking = (async () => {
    while (!closing.signal.aborted) {
      await delay(lookEveryMs, null, { signal: closing.signal }).catch(() => {});
      const ids = [...watched.keys()];
      for (let n = 0; n < ids.length && !closing.signal.aborted; n += REQUESTS_PER_POLL) {
        // While the database is unreachable, no watcher is notified. The next poll may succeed.
        await look(ids.slice(n, n + REQUESTS_PER_POLL)).catch(() => {});
      }
    }
  })();

  return {
    watch: (id, onChange) => {
      const found = watched.get(id) ?? { onChange: new Set(), seen: null };
      watched.set(id, found);
      found.onChange.add(onChange);
      return () => {
        found.onChange.delete(onChange);
        if (found.onChange.size === 0 && watched.get(id) === found) watched.delete(id);
      };
    },
    watchAll: (onChange) => {
      watchingAll.add(onChange);
      return () => watchingAll.delete(onChange);
    },
    close: async () => {
      closing.abort();
      await looking;
      await unlisten();
    },
  };
}

/**
 * Starts watching a request at once, so that a change before the first call of `next` is not
 * missed.
 */
export function armWatch(feed: ChangeFeed, id: string) {
  let wake = () => {};
  let changed = false;
  const unwatch = feed.watch(id, () => {
    changed = true;
    wake();
  });
  return {
    /**
     * Resolves at the next change, when `signal` aborts, or after the given number of milliseconds.
     */
    async next(signal?: AbortSignal, milliseconds?: number): Promise<void> {
      if (!changed && !signal?.aborted) {
        await new Promise<void>((resolve) => {
          const timer =
            milliseconds === undefined ? undefined : setTimeout(() => done(), milliseconds);
          const done = () => {
            clearTimeout(timer);
            signal?.removeEventListener('abort', done);
            resolve();
          };
          wake = done;
          signal?.addEventListener('abort', done, { once: true });
        });
        wake = () => {};
      }
      changed = false;
    },
    stop: unwatch,
  };
}
