import type { Database, Queryable } from '../../platform/database/port.ts';
import type { ChangeFeed } from './changes.ts';
import type { StoredRequest } from './request.ts';
import { lockRequest, STAGES, transition } from './transitions.ts';

/**
 * If the pipeline process of a request dies this many times, the request fails. The run is thus
 * repeated once.
 */
export const MAX_CRASHES = 2;

/**
 * Maximum number of unfinished runs of a request, after which the request fails. In practice, only
 * runs that found the disk full can reach this number: crashes have a lower limit (`MAX_CRASHES`),
 * and runs lost because the whole gateway died do not count. The pipeline runs in a separate
 * process with limited memory, so the request cannot have killed the gateway.
 */
export const MAX_ATTEMPTS = 5;

/** Seconds after which a worker that has not renewed its lease is regarded as dead. */
const LEASE_SECONDS = 20;

/**
 * Claims a request for this worker, if it is queued or its worker has died. Its `attempts` column
 * is the fencing token of every later change.
 * @returns null if the request has ended, if a living worker holds it, or if its runs have failed
 * too often (`MAX_CRASHES`, `MAX_ATTEMPTS`). In the last case, the request fails with
 * `pipeline_crashed`.
 */
export function claimRequest(
  database: Database,
  id: string,
  at: Date,
): Promise<StoredRequest | null> {
  return database.transaction(async (tx) => {
    const row = await lockRequest(tx, id);
    if (!row || !(await isFree(tx, id))) return null;
    const counted = row.attempts - row.lost_runs;
    if (row.crashes >= MAX_CRASHES || counted >= MAX_ATTEMPTS) {
      const why =
        row.crashes > 0
          ? `the pipeline process died in ${row.crashes} of them`
          : 'see the log for the reason, such as a full disk';
      const detail = `None of ${counted} attempts finished; ${why}.`;
      await transition(tx, id, 'failed', { at, fault: { code: 'pipeline_crashed', detail } });
      return null;
    }
    // A lease that expired was never released, so the gateway process that held it has died.
    const { rows } = await tx.query<StoredRequest>(
      `UPDATE requests SET attempts = attempts + 1,
         lost_runs = lost_runs + (lease_until IS NOT NULL)::integer,
         lease_until = now() + make_interval(secs => $2) WHERE id = $1 RETURNING *`,
      [id, LEASE_SECONDS],
    );
    return row.status === 'queued'
      ? transition(tx, id, 'preparing', { at, stage: STAGES.validating })
      : (rows[0] ?? null);
  });
}

/**
 * Returns true if the request has not ended and no worker holds it. The lease is checked against
 * the database clock, which all workers share.
 */
async function isFree(tx: Queryable, id: string): Promise<boolean> {
  const { rows } = await tx.query(
    `SELECT 1 FROM requests WHERE id = $1 AND status IN ('queued', 'preparing', 'running')
       AND (lease_until IS NULL OR lease_until < now())`,
    [id],
  );
  return rows.length > 0;
}

/**
 * Renews the lease.
 * @returns false if the request no longer belongs to this worker.
 */
async function renewLease(database: Queryable, id: string, attempt: number) {
  const { rowCount } = await database.query(
    `UPDATE requests SET lease_until = now() + make_interval(secs => $3)
     WHERE id = $1 AND attempts = $2 AND status IN ('preparing', 'running')`,
    [id, attempt, LEASE_SECONDS],
  );
  return rowCount === 1;
}

/**
 * Releases a request that has not ended, so that it can be claimed again. A run that was
 * interrupted, because the gateway stops or the database was unreachable, does not count against
 * the request. A run that found the disk full does, because its input may be what fills the disk. A
 * crash counts both as an attempt and as a crash.
 *
 * `attempts` itself never decreases: it is the fencing token, and names the work folder of the run.
 */
export async function releaseRequest(
  database: Queryable,
  id: string,
  attempt: number,
  why: 'crashed' | 'interrupted' | 'out-of-space',
): Promise<void> {
  await database.query(
    `UPDATE requests SET lease_until = NULL, enqueued_at = NULL,
       lost_runs = lost_runs + $3, crashes = crashes + $4
     WHERE id = $1 AND attempts = $2 AND status IN ('preparing', 'running')`,
    [id, attempt, why === 'interrupted' ? 1 : 0, why === 'crashed' ? 1 : 0],
  );
}

/**
 * Ends all leases at the startup of a process that has the database to itself. No other worker can
 * be alive, so the leases belong to lost runs.
 */
export async function endAllLeases(database: Queryable): Promise<void> {
  await database.query(
    `UPDATE requests SET lease_until = NULL, enqueued_at = NULL,
       lost_runs = lost_runs + (lease_until IS NOT NULL)::integer
     WHERE status IN ('queued', 'preparing', 'running')`,
  );
}

/**
 * Milliseconds between two renewals. A lease lasts for several of them, so that one lost or slow
 * query does not end a run.
 */
const RENEW_MILLISECONDS = (LEASE_SECONDS * 1000) / 5;

/**
 * Renews the lease of a running request. `lost` aborts as soon as the request no longer belongs to
 * this worker, because it was canceled or another worker claimed it.
 */
export function holdLease(database: Queryable, changes: ChangeFeed, id: string, attempt: number) {
  const lost = new AbortController();
  let current: Promise<void> = Promise.resolve();
  const renew = () => {
    current = current.then(async () => {
      // While the database is unreachable, this worker assumes that the request is still its own.
      // If the outage outlasts the lease, the first renewal after it shows whether another worker
      // has claimed the request.
      const ours = await renewLease(database, id, attempt).catch(() => true);
      if (!ours) lost.abort();
    });
  };
  const timer = setInterval(renew, RENEW_MILLISECONDS);
  const unwatch = changes.watch(id, renew);
  return {
    lost: lost.signal,
    /** Stops renewing the lease. Resolves when no renewal is in progress. */
    release: async () => {
      clearInterval(timer);
      unwatch();
      await current;
    },
  };
}
