import type { PooledDatabase } from '../database/pooled.ts';
import type { Queryable } from '../database/port.ts';

const CHANNEL = 'sonogate_requests';

/** Tells whoever watches a request, in any process, that it changed; sent when `tx` commits. */
export async function announceChange(tx: Queryable, id: string): Promise<void> {
  await tx.query('SELECT pg_notify($1, $2)', [CHANNEL, id]);
}

/** Changes of requests as they are committed, by whichever process. */
export interface ChangeFeed {
  /** Calls `onChange` after each change of the request, and when one may have been missed. */
  watch(id: string, onChange: () => void): () => void;
  close(): Promise<void>;
}

export async function openChangeFeed(database: PooledDatabase): Promise<ChangeFeed> {
  const watchers = new Map<string, Set<() => void>>();
  const unlisten = await database.listen(CHANNEL, (id) => {
    const concerned = id === '' ? [...watchers.values()] : [watchers.get(id) ?? new Set()];
    for (const set of concerned) for (const onChange of [...set]) onChange();
  });
  return {
    watch: (id, onChange) => {
      const set = watchers.get(id) ?? new Set();
      watchers.set(id, set.add(onChange));
      return () => {
        set.delete(onChange);
        if (set.size === 0 && watchers.get(id) === set) watchers.delete(id);
      };
    },
    close: unlisten,
  };
}

/**
 * Waits for the next change after `arm` was called, for at most `milliseconds`; a change between
 * arming and waiting is not missed.
 */
export function armWatch(feed: ChangeFeed, id: string) {
  let wake = () => {};
  let changed = false;
  const unwatch = feed.watch(id, () => {
    changed = true;
    wake();
  });
  return {
    async next(milliseconds: number, signal?: AbortSignal): Promise<void> {
      if (!changed && !signal?.aborted && milliseconds > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, milliseconds);
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
