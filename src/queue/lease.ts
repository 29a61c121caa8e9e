import type { Queryable } from '../database/port.ts';
import type { ChangeFeed } from '../requests/changes.ts';
import { LEASE_SECONDS, renewLease } from '../requests/take-up.ts';

/** Several renewals fit into a lease, so that one lost or slow query does not end a run. */
const RENEW_MILLISECONDS = (LEASE_SECONDS * 1000) / 5;

/**
 * Keeps a request in this worker's hands while it runs. `lost` aborts as soon as the request is no
 * longer ours: it was canceled, by whichever process, or another worker took it up.
 */
export function holdLease(database: Queryable, changes: ChangeFeed, id: string, attempt: number) {
  const lost = new AbortController();
  let current: Promise<void> = Promise.resolve();
  const renew = () => {
    current = current.then(async () => {
      // A database that cannot be reached says nothing; the lease runs out if it lasts.
      const ours = await renewLease(database, id, attempt).catch(() => true);
      if (!ours) lost.abort();
    });
  };
  const timer = setInterval(renew, RENEW_MILLISECONDS);
  const unwatch = changes.watch(id, renew);
  return {
    lost: lost.signal,
    /** Ends the renewing; none is under way when this resolves. */
    release: async () => {
      clearInterval(timer);
      unwatch();
      await current;
    },
  };
}
