import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { inParallel } from '../../platform/in-parallel.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { type Rounds, startRounds } from '../../platform/rounds.ts';
import { DAY_MS } from '../../platform/time.ts';
import { createAuditWriter } from '../audit/audit.ts';
import type { ReceivedObjects } from '../files/received-objects.ts';
import { NOTICES, WITHDRAWALS } from '../outbox/delivery.ts';
import { purgeNow, removeFilesOf } from '../requests/expiry.ts';
import { listArtifacts } from '../requests/results.ts';
import { forgetOldStatements } from './expected-objects.ts';
import {
  deleteRemovedObjects,
  FILES_AT_A_TIME,
  recordRemovedObjects,
  recordUnneededBlobs,
  removeOrphanedFiles,
  removePartialFiles,
  removeUnneededBlobs,
} from './intake-folder.ts';
import { removeQuarantined } from './quarantine.ts';
import { deleteSilentReceptions } from './receptions.ts';
import { findStudy } from './study-store.ts';

/**
 * Number of studies removed per transaction. With more, their rows would be locked for longer than
 * an arriving object may wait.
 */
const STUDIES_AT_A_TIME = 10;
/** Maximum number of studies per pass. After a short pause, the next pass handles the rest. */
const BATCH = 1000;

/**
 * Why a study is kept although it is old enough for removal. The first reason that applies is
 * reported.
 */
const KEPT_BECAUSE = {
  state: 'still being received, waiting to be routed, or held',
  request: 'a request is running, or a result is still stored',
  delivery: 'a delivery has not arrived',
  commitment: 'storage commitment is pending',
  retrieval: 'objects are being retrieved, or it is a prior of a newer study',
} as const;
type KeptBecause = keyof typeof KEPT_BECAUSE;
const REASONS = ['state', 'request', 'delivery', 'commitment', 'retrieval'] as const;

/** Returns the number of studies kept for each reason, with the reason as text. */
export function keptInWords(kept: Removal['kept']): { because: string; studies: number }[] {
  return REASONS.flatMap((reason) => {
    const studies = kept[reason];
    return studies === undefined ? [] : [{ because: KEPT_BECAUSE[reason], studies }];
  });
}

/**
 * SQL condition: true if a delivery `d` may still send objects or results of its study. Dead
 * deliveries count, because a person can replay or divert them. Exceptions are mails about a
 * finding, notifications to API clients, objects that de-identification would hold back again, and
 * withdrawals that people have to make at the receiver.
 */
const NEEDS_STUDY = `(d.state NOT IN ('delivered', 'diverted', 'closed')
  AND NOT (d.state = 'dead' AND (d.kind IN ${NOTICES}
    OR coalesce(d.code, '') IN ('deidentification_held', 'withdrawal_by_hand')
    OR (d.kind IN ${WITHDRAWALS} AND d.code IS NOT DISTINCT FROM 'ehr_already_verified'))))`;

/** SQL condition: true if a delivery may still send objects or results of study `s`. */
const AWAITS_DELIVERY = `(
  EXISTS (SELECT 1 FROM study_requests sr JOIN deliveries d ON d.request_id = sr.request_id
    WHERE sr.study_id = s.id AND ${NEEDS_STUDY})
  OR EXISTS (SELECT 1 FROM instances i JOIN deliveries d ON d.object = i.id::text
    WHERE i.study_id = s.id AND d.request_id IS NULL AND ${NEEDS_STUDY}))`;

/** SQL condition: true if study `s` has objects whose storage is yet to be committed, by us or a PACS. */
const AWAITS_COMMITMENT = `(
  s.id IN (SELECT i.study_id
    FROM commitment_reports c CROSS JOIN LATERAL jsonb_array_elements(c.committed) AS promised
      JOIN instances i ON i.sop_instance_uid = promised ->> 'sopInstanceUid'
    WHERE c.told_at IS NULL AND c.given_up_at IS NULL)
  OR EXISTS (SELECT 1 FROM study_requests sr JOIN deliveries d ON d.request_id = sr.request_id
    JOIN delivered_objects o ON o.delivery_id = d.id
    WHERE sr.study_id = s.id AND o.committed_at IS NULL AND o.failure_reason IS NULL)
  OR EXISTS (SELECT 1 FROM instances i JOIN deliveries d ON d.object = i.id::text
    JOIN delivered_objects o ON o.delivery_id = d.id
    WHERE i.study_id = s.id AND d.request_id IS NULL
      AND o.committed_at IS NULL AND o.failure_reason IS NULL))`;

/**
 * SQL condition: true while objects of study `s` are retrieved from an archive. If a process that
 * retrieves a prior is killed, nobody ends its retrieval: the repeated search adds another row. The
 * retrieval of a prior therefore counts only if its claim lasts at least until `lease`.
 */
const isRetrieved = (lease: string) => `EXISTS (SELECT 1 FROM retrievals f
  WHERE f.study_instance_uid = s.study_instance_uid AND f.state IN ('waiting', 'running')
    AND (f.purpose <> 'prior' OR f.taken_until >= ${lease}))`;

/**
 * Studies whose last object arrived before $1, with the reason why they are kept. A stored result
 * needs its study: without it, a copy for a PACS would have no patient. A study is also kept while
 * we still have to confirm to a cart that its objects are stored here (storage commitment), because
 * the cart may then delete its own copies.
 */
const OLD_STUDIES = `
  SELECT s.id, CASE
    WHEN s.state IN ('receiving', 'complete', 'held') THEN 'state'
    WHEN EXISTS (SELECT 1 FROM study_requests sr JOIN requests r ON r.id = sr.request_id
      WHERE sr.study_id = s.id
        AND (r.status NOT IN ('failed', 'canceled', 'rejected', 'expired') OR r.input IS NOT NULL))
      THEN 'request'
    WHEN ${AWAITS_DELIVERY} THEN 'delivery'
    WHEN ${AWAITS_COMMITMENT} THEN 'commitment'
    WHEN ${isRetrieved('$1')}
      OR EXISTS (SELECT 1 FROM prior_searches p
        JOIN studies younger ON younger.id = p.study_id AND younger.last_received_at >= $1
        WHERE p.instances && ARRAY(SELECT i.id FROM instances i WHERE i.study_id = s.id))
      THEN 'retrieval'
  END AS because
  FROM studies s WHERE s.last_received_at < $1`;

/**
 * The study $1, with the reason why a person cannot remove it now. Stored results are removed with
 * it, and a held study may be removed, because that is a decision, too.
 */
const ONE_STUDY = `
  SELECT CASE
    WHEN s.state IN ('receiving', 'complete') THEN 'state'
    WHEN EXISTS (SELECT 1 FROM requests r
      WHERE r.status IN ('queued', 'preparing', 'running') AND r.id IN (
        SELECT sr.request_id FROM study_requests sr WHERE sr.study_id = s.id
        UNION ALL SELECT sr.request_id FROM prior_searches p JOIN study_requests sr USING (study_id)
          WHERE p.instances && ARRAY(SELECT i.id FROM instances i WHERE i.study_id = s.id)))
      THEN 'request'
    WHEN ${AWAITS_DELIVERY} THEN 'delivery'
    WHEN ${AWAITS_COMMITMENT} THEN 'commitment'
    WHEN ${isRetrieved('now()')} THEN 'retrieval'
  END AS because
  FROM studies s WHERE s.id = $1`;

/** Why a person cannot remove a study now. */
const NOT_NOW_BECAUSE: Readonly<Record<KeptBecause, string>> = {
  state: 'it is still being received or waits to be routed',
  request: 'a request of this study, or of one that it is a prior of, is queued or running',
  delivery: 'a delivery is waiting or has failed; replay, divert or reject it first',
  commitment: 'storage commitment is pending',
  retrieval: 'its objects are being retrieved',
};

interface StoredFile {
  study: string;
  path: string;
  bytes: number;
  digest: string;
}

/** The studies that a pass has removed or, in a dry run, would remove. */
interface Removal {
  studies: number;
  objects: number;
  bytes: number;
  quarantined: number;
  /** Number of studies that are old enough for removal but were kept, by reason. */
  kept: Partial<Record<KeptBecause, number>>;
  /** True if further old studies are left for the next pass. */
  unfinished: boolean;
}

export interface RetentionParts {
  database: Database;
  dataDir: string;
  objects: ReceivedObjects;
  /** Number of days for which received studies are kept; null to keep them forever. */
  intakeDays: number | null;
  quarantineDays: number | null;
  now: () => Date;
  /** Maximum number of studies removed by a pass. */
  batch?: number;
  /** Ends the pass once the studies in progress are finished. */
  signal?: AbortSignal;
}

/**
 * Removes received studies that are old enough and no longer needed, with their rows, objects and
 * identity. Files are deleted first, while the row is locked, because a file without a row would be
 * registered as a new object. If several hosts share a bucket, each deletes its own copies,
 * whichever host removed the study.
 * @param dryRun only counts, and removes nothing.
 */
export async function removeOldStudies(parts: RetentionParts, dryRun: boolean): Promise<Removal> {
  const { database, intakeDays, quarantineDays, signal } = parts;
  const { batch = BATCH, now } = parts;
  const removal: Removal = {
    studies: 0,
    objects: 0,
    bytes: 0,
    quarantined: 0,
    kept: {},
    unfinished: false,
  };
  if (intakeDays !== null) {
    const cutoff = retentionCutoff(intakeDays, now());
    removal.kept = await countKept(database, cutoff);
    const ids = await freeStudies(database, cutoff, dryRun ? null : batch);
    for (let from = 0; from < ids.length && !signal?.aborted; from += STUDIES_AT_A_TIME) {
      const some = ids.slice(from, from + STUDIES_AT_A_TIME);
      const removed = dryRun
        ? { studies: some, files: await filesOf(database, some) }
        : await removeStudies(parts, { ids: some, cutoff, at: now() });
      removal.studies += removed.studies.length;
      removal.objects += removed.files.length;
      removal.bytes += removed.files.reduce((sum, { bytes }) => sum + bytes, 0);
    }
    // If the batch was full, there may be more old studies. But a pass that removed no study of its
    // batch is the last one, so that the passes come to an end.
    removal.unfinished = !dryRun && ids.length === batch && removal.studies > 0;
  }
  if (quarantineDays !== null) {
    const writeAudit = createAuditWriter(database);
    const about = { action: 'quarantine.remove', actor: 'gateway', outcome: 'success' } as const;
    removal.quarantined = await removeQuarantined(
      parts.dataDir,
      retentionCutoff(quarantineDays, now()),
      dryRun,
      (id) => writeAudit({ ...about, at: now(), detail: { id } }),
    );
  }
  if (!dryRun) await removeLeftovers(parts);
  return removal;
}

/** Removes what removed studies, interrupted transfers and ended associations have left behind. */
async function removeLeftovers(parts: RetentionParts): Promise<void> {
  const { database, dataDir, objects, intakeDays, now } = parts;
  await deleteRemovedObjects(parts);
  // A partial file that cannot be deleted is reported at the next startup.
  await removePartialFiles(dataDir, false, () => {});
  if (objects.shared) {
    if (intakeDays !== null) {
      await removeOrphanedFiles(parts, retentionCutoff(intakeDays, now()), now());
    }
    await removeUnneededBlobs(parts, now());
  }
  await forgetOldStatements(database, now());
  await deleteSilentReceptions(database, now());
}

/** Returns the time `days` before now. Objects that arrived earlier are old enough for removal. */
export function retentionCutoff(days: number, now: Date): Date {
  return new Date(now.getTime() - days * DAY_MS);
}

async function countKept(database: Queryable, cutoff: Date): Promise<Removal['kept']> {
  const { rows } = await database.query<{ because: KeptBecause; count: number }>(
    `SELECT because, count(*)::int AS count FROM (${OLD_STUDIES}) AS old
     WHERE because IS NOT NULL GROUP BY because`,
    [cutoff],
  );
  return Object.fromEntries(rows.map(({ because, count }) => [because, count]));
}

async function freeStudies(
  database: Queryable,
  cutoff: Date,
  limit: number | null,
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `SELECT id::text FROM (${OLD_STUDIES} ORDER BY s.last_received_at) AS old
     WHERE because IS NULL LIMIT $2`,
    [cutoff, limit],
  );
  return rows.map(({ id }) => id);
}

async function filesOf(database: Queryable, studies: readonly string[]): Promise<StoredFile[]> {
  const { rows } = await database.query<StoredFile>(
    `SELECT study_id::text AS study, path, bytes::float8 AS bytes, file_sha256 AS digest
     FROM instances WHERE study_id = ANY ($1::uuid[])`,
    [studies],
  );
  return rows;
}

/** Removes the selected studies, except those that have become needed again in the meantime. */
async function removeStudies(
  { database, dataDir, objects }: RetentionParts,
  { ids, cutoff, at }: { ids: readonly string[]; cutoff: Date; at: Date },
): Promise<{ studies: string[]; files: StoredFile[] }> {
  return database.transaction(async (tx) => {
    await tx.query(
      'SELECT 1 FROM studies WHERE id = ANY ($1::uuid[]) ORDER BY study_instance_uid FOR UPDATE',
      [ids],
    );
    const { rows } = await tx.query<{ id: string }>(
      `SELECT id::text FROM (${OLD_STUDIES} AND s.id = ANY ($2::uuid[])) AS old
       WHERE because IS NULL`,
      [cutoff, ids],
    );
    const studies = rows.map(({ id }) => id);
    const files = await filesOf(tx, studies);
    await deleteFiles(dataDir, files);
    await deleteRows(tx, studies, files, { objects, at });
    const counts = Map.groupBy(files, ({ study }) => study);
    const writeAudit = createAuditWriter(tx);
    await Promise.all(
      studies.map((studyId) =>
        writeAudit({
          at,
          action: 'study.purge',
          actor: 'gateway',
          studyId,
          outcome: 'success',
          detail: { objects: counts.get(studyId)?.length ?? 0 },
        }),
      ),
    );
    return { studies, files };
  });
}

/** Deletes the rows of studies that the transaction has locked. */
async function deleteRows(
  tx: Queryable,
  studies: readonly string[],
  files: readonly StoredFile[],
  { objects, at }: Pick<RetentionParts, 'objects'> & { at: Date },
): Promise<void> {
  if (objects.shared) {
    const digests = files.map(({ digest }) => digest);
    await recordUnneededBlobs(tx, digests, at);
  }
  await tx.query('DELETE FROM studies WHERE id = ANY ($1::uuid[])', [studies]);
}

/** Deletes those of the files that this host has. */
function deleteFiles(
  dataDir: string,
  files: readonly Pick<StoredFile, 'path'>[],
): Promise<unknown> {
  return inParallel(files, FILES_AT_A_TIME, ({ path }) => rm(join(dataDir, path), { force: true }));
}

/** A study that a person has removed. */
export interface RemovedStudy {
  studyId: string;
  objects: number;
  bytes: number;
  /** Number of requests whose result and input were purged. */
  results: number;
}

/**
 * Removes one study before its time, with its objects, rows, identity and results. What was sent to
 * others is not withdrawn. One transaction checks, records and removes everything in the database;
 * the files follow, and those on other hosts are deleted there (`deleteRemovedObjects`).
 * @param key our id or the Study Instance UID.
 * @param record writes the audit entry within the transaction, with our id of the study.
 * @throws SonogateError `not_found`, also if the study cannot be removed now.
 */
export async function removeStudy(
  { database, dataDir, objects, now }: RetentionParts,
  key: string,
  record: (studyId: string, tx: Queryable) => Promise<void>,
): Promise<RemovedStudy> {
  const at = now();
  const study = await findStudy(database, key);
  if (!study) throw new SonogateError('not_found', `There is no study ${key}.`);
  const { files, requests } = await database.transaction(async (tx) => {
    await tx.query('SELECT 1 FROM studies WHERE id = $1 FOR UPDATE', [study.id]);
    await requireRemovable(tx, study.id);
    await record(study.id, tx);
    const requests = await purgeRequestsOf(tx, study.id, { isShared: objects.shared, at });
    const files = await filesOf(tx, [study.id]);
    await recordRemovedObjects(
      tx,
      files.map(({ path }) => path),
      at,
    );
    await deleteRows(tx, [study.id], files, { objects, at });
    return { files, requests };
  });
  await deleteFiles(dataDir, files);
  for (const id of requests) await removeFilesOf(dataDir, id);
  return {
    studyId: study.id,
    objects: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    results: requests.length,
  };
}

async function requireRemovable(database: Queryable, studyId: string): Promise<void> {
  const { rows } = await database.query<{ because: KeptBecause | null }>(ONE_STUDY, [studyId]);
  const because = rows[0]?.because ?? null;
  if (because === null) return;
  const detail = `The study cannot be removed now: ${NOT_NOW_BECAUSE[because]}.`;
  throw new SonogateError('not_found', detail);
}

/**
 * Purges the requests of a study, all of which have ended.
 * @returns the ids of those that had not been purged yet.
 */
async function purgeRequestsOf(
  tx: Queryable,
  studyId: string,
  { isShared, at }: { isShared: boolean; at: Date },
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `SELECT r.id FROM study_requests sr JOIN requests r ON r.id = sr.request_id
     WHERE sr.study_id = $1 AND r.input IS NOT NULL`,
    [studyId],
  );
  for (const { id } of rows) {
    if (isShared) {
      const artifacts = await listArtifacts(tx, id);
      const digests = artifacts.map(({ sha256 }) => sha256);
      await recordUnneededBlobs(tx, digests, at);
    }
    await purgeNow(tx, id, at);
  }
  return rows.map(({ id }) => id);
}

const EVERY_MILLISECONDS = 3_600_000;
/** Milliseconds between two passes if the first left work for the second. */
const PAUSE_MILLISECONDS = 1000;

/** Removes old studies at once, and then every hour until stopped. */
export function startRetention(parts: RetentionParts & { logger: Logger }): Rounds {
  const { logger } = parts;
  const ending = new AbortController();
  let unfinished = false;
  const rounds = startRounds({
    async work() {
      unfinished = false;
      const { unfinished: more, ...removal } = await removeOldStudies(
        { ...parts, signal: ending.signal },
        false,
      );
      unfinished = more;
      if (removal.studies + removal.quarantined > 0) logger.event('studies_removed', removal);
    },
    pauseMilliseconds: () => (unfinished ? PAUSE_MILLISECONDS : EVERY_MILLISECONDS),
    onError: (error) => logger.event('studies_not_removed', { err: error }),
  });
  return {
    stop() {
      ending.abort();
      return rounds.stop();
    },
  };
}
