import type { Config } from '../../../config/schema.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { logRounds, type Rounds, startRounds } from '../../platform/rounds.ts';
import { DAY_MS } from '../../platform/time.ts';
import type { BlobStore } from '../files/blob-store.ts';
import { AFTER_SIGNATURE } from '../outbox/delivery.ts';
import { removeResult, withdrawArtifacts } from './results.ts';
import { IllegalTransitionError, transition } from './transitions.ts';
import { removeWorkFolders } from './work-folder.ts';

const EVERY_MILLISECONDS = 60_000;
const BATCH = 100;

/**
 * SQL: destinations no longer wait for the signature of request `r`, because its result was signed
 * or withdrawn, or its study was interpreted again.
 */
const IS_SETTLED = `(r.withdrawal IS NOT NULL
  OR EXISTS (SELECT 1 FROM reviews v WHERE v.request_id = r.id AND v.signed_revision > 0)
  OR EXISTS (SELECT 1 FROM study_requests own JOIN study_requests later USING (study_id)
    WHERE own.request_id = r.id AND later.revision > own.revision))`;

interface ExpiryParts {
  database: Database;
  blobs: BlobStore;
  config: Pick<Config, 'dataDir' | 'retention'>;
  logger: Logger;
  now: () => Date;
}

/**
 * Purges what is due: succeeded requests become `expired`; requests that ended long enough ago lose
 * their result, input and clinical events. The row and its cost are kept. The next pass continues
 * where an interrupted pass stopped.
 */
export async function purgeExpired(parts: ExpiryParts): Promise<void> {
  const { database, blobs, config, logger, now } = parts;
  const at = now();
  const due = await database.query<{ id: string; unsent: string[] }>(
    `SELECT r.id, CASE WHEN ${IS_SETTLED} THEN '{}' ELSE ${AFTER_SIGNATURE} END AS unsent
     FROM requests r WHERE r.status = 'succeeded' AND r.expires_at <= $1 LIMIT $2`,
    [at, BATCH],
  );
  for (const { id, unsent } of due.rows) {
    try {
      await database.transaction((tx) => transition(tx, id, 'expired', { at }));
    } catch (error) {
      // Another process has purged the request in the meantime.
      if (error instanceof IllegalTransitionError) continue;
      throw error;
    }
    if (unsent.length === 0) continue;
    logger.event('result_never_signed', { request: id, destinations: unsent.join(', ') });
  }

  const old = new Date(at.getTime() - config.retention.days * DAY_MS);
  const ended = await database.query<{ id: string }>(
    `SELECT id FROM requests WHERE status IN ('expired', 'failed', 'canceled', 'rejected')
       AND ended_at <= $1 AND input IS NOT NULL LIMIT $2`,
    [old, BATCH],
  );
  for (const { id } of ended.rows) {
    await removeFilesOf(config.dataDir, id);
    await withdrawArtifacts(blobs, database, id, at);
    await database.transaction((tx) => forget(tx, id));
  }
}

/**
 * Purges an ended request before its time, within a transaction. Its files (`removeFilesOf`) and
 * copies of its artifacts in a bucket are left to the caller.
 */
export async function purgeNow(tx: Queryable, id: string, at: Date): Promise<void> {
  try {
    await transition(tx, id, 'expired', { at });
  } catch (error) {
    // The request failed, was canceled, or has expired.
    if (!(error instanceof IllegalTransitionError)) throw error;
  }
  await forget(tx, id);
}

/** Removes the files of a purged request from this host. */
export async function removeFilesOf(dataDir: string, id: string): Promise<void> {
  await removeResult(dataDir, id);
  await removeWorkFolders(dataDir, id);
}

async function forget(tx: Queryable, id: string): Promise<void> {
  await tx.query('DELETE FROM request_artifacts WHERE request_id = $1', [id]);
  await tx.query(
    `UPDATE request_events SET data = '{"purged": true}'::jsonb
     WHERE request_id = $1 AND name = 'triage'`,
    [id],
  );
  await tx.query(
    `UPDATE webhook_attempts SET answer = NULL
     WHERE delivery_id IN (SELECT id FROM deliveries WHERE request_id = $1)`,
    [id],
  );
  // The row is kept because the UID of a workitem must never be reused.
  await tx.query(
    `UPDATE workitems SET attributes = '{}', cancellation = NULL WHERE request_id = $1`,
    [id],
  );
  await tx.query(
    `UPDATE requests SET input = NULL, files = '[]'::jsonb, prior_files = '[]'::jsonb
     WHERE id = $1`,
    [id],
  );
}

/** Purges at once, and then every minute. */
export function startExpiry(parts: ExpiryParts): Rounds {
  return startRounds({
    work: () => purgeExpired(parts),
    pauseMilliseconds: EVERY_MILLISECONDS,
    ...logRounds(parts.logger, 'retention of requests', (error) =>
      parts.logger.event('purge_failed', { error: String(error) }),
    ),
  });
}
