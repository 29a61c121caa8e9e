import type { Database } from '../database/port.ts';
import type { Logger } from '../logging/logger.ts';
import type { Priority } from '../requests/port.ts';
import { logRounds, type Rounds, startRounds } from '../rounds.ts';
import type { RequestQueue } from './queue.ts';

const EVERY_MILLISECONDS = 2000;

/** A request that was put on the queue this long ago and still waits may have lost its job. */
const RECHECK_SECONDS = 30;

const BATCH = 500;

/**
 * Puts every request that should be worked on but is in nobody's hands back on the queue: new ones
 * that no pass has seen to, whose process may have ended before it made the job; queued ones whose
 * job was lost since; those whose worker died. Adding a job that exists is harmless, so nothing needs
 * to be known of the queue's inside.
 * @returns how many requests were put on the queue.
 */
export async function reconcile(
  database: Database,
  queue: Pick<RequestQueue, 'add'>,
): Promise<number> {
  const { rows } = await database.query<{ id: string; priority: Priority }>(
    `SELECT id, priority FROM requests
     WHERE status IN ('queued', 'preparing', 'running')
       AND (lease_until < now() OR (lease_until IS NULL
         AND (enqueued_at IS NULL OR enqueued_at < now() - make_interval(secs => $1))))
     ORDER BY enqueued_at NULLS FIRST, id LIMIT $2`,
    [RECHECK_SECONDS, BATCH],
  );
  if (rows.length === 0) return 0;
  await Promise.all(rows.map(({ id, priority }) => queue.add(id, priority)));
  await database.query('UPDATE requests SET enqueued_at = now() WHERE id = ANY($1::text[])', [
    rows.map(({ id }) => id),
  ]);
  return rows.length === BATCH ? rows.length + (await reconcile(database, queue)) : rows.length;
}

/** Reconciles now and every few seconds. Resolves after the first time. */
export async function startReconciler(
  database: Database,
  queue: Pick<RequestQueue, 'add'>,
  logger: Logger,
): Promise<Rounds> {
  const rounds = startRounds({
    work: () => reconcile(database, queue),
    pauseMilliseconds: EVERY_MILLISECONDS,
    ...logRounds(logger, 'queue', (error) =>
      logger.warn({ error: String(error) }, 'reconciling failed, will retry'),
    ),
  });
  await rounds.first;
  return rounds;
}
