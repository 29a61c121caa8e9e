import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RETRIEVED_STORAGE } from '../../pipelines/dicom/sop-classes.ts';
import { expectObjects } from '../../src/core/studies/expected-objects.ts';
import { reopenPrior } from '../../src/core/studies/priors.ts';
import { findStudy, ownSeries, receivedUids } from '../../src/core/studies/study-store.ts';
import type { FoundObject, Retrieval } from '../../src/operations/operations.ts';
import { DatabaseUnreachableError } from '../../src/platform/database/pooled.ts';
import type { Database, Queryable } from '../../src/platform/database/port.ts';
import { ERRORS, type ErrorCode, SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import { whileRenewing } from '../../src/platform/rounds.ts';
import { secondsAfter } from '../../src/platform/time.ts';
import type { StorageService } from '../network/service-ports.ts';
import type { Archive, Retrieved } from './archive.ts';

/**
 * Returns those objects in an archive that we accept: their SOP class is supported, and they are
 * not results of this gateway.
 */
export async function objectsWeAccept(
  database: Queryable,
  studyInstanceUid: string,
  objects: readonly FoundObject[],
): Promise<FoundObject[]> {
  const ours = await ownSeries(database, studyInstanceUid);
  return objects.filter(
    ({ sopClassUid, seriesInstanceUid }) =>
      (sopClassUid === '' || RETRIEVED_STORAGE.has(sopClassUid)) && !ours.has(seriesInstanceUid),
  );
}

/**
 * Why objects are retrieved: a person asked for the study, some of its objects have not arrived, or
 * it is a prior.
 */
type RetrievalPurpose = 'study' | 'missing' | 'prior';

interface RetrievalRow extends Retrieval {
  study_instance_uid: string;
  purpose: RetrievalPurpose;
}

export interface RetrievalParts {
  database: Database;
  storage: StorageService;
  logger: Logger;
  now: () => Date;
}

/**
 * Seconds for which a claim on a retrieval, or on a search for priors, lasts unless it is renewed.
 * If it is not renewed, for example because the process was killed, another process may claim the
 * work.
 */
export const LEASE_SECONDS = 30;
/**
 * The row of a prior's retrieval is valid for this many seconds unless it is renewed. While it is
 * valid, arriving objects count as objects of the prior. The time is long because the archive may
 * still send objects after this process has been killed.
 */
const PRIOR_SECONDS = 900;
export const RENEW_MILLISECONDS = (LEASE_SECONDS * 1000) / 3;
/**
 * Milliseconds to wait for late objects: in a C-MOVE, an object may be committed shortly after the
 * archive's final response.
 */
const ARRIVAL_PATIENCE_MS = 5000;
const ARRIVAL_POLL_MS = 100;

/** Class of the advisory locks of requested retrievals: "MOVE" in ASCII. */
const ADVISORY_LOCKS = 0x4d4f5645;

/**
 * Requests a retrieval, or reuses one already waiting or running. Concurrent requests for the same
 * objects are serialized, so that each study is retrieved once.
 * @returns its id.
 */
export async function requestRetrieval(
  database: Database,
  wanted: { archive: string; studyInstanceUid: string; purpose: RetrievalPurpose },
  at: Date,
): Promise<string> {
  const { archive, studyInstanceUid, purpose } = wanted;
  return database.transaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [
      ADVISORY_LOCKS,
      [purpose, archive, studyInstanceUid].join(' '),
    ]);
    const { rows } = await tx.query<{ id: string }>(
      `SELECT id FROM retrievals WHERE study_instance_uid = $1 AND archive = $2 AND purpose = $3
         AND state IN ('waiting', 'running')`,
      [studyInstanceUid, archive, purpose],
    );
    if (rows[0]) return rows[0].id;
    const id = randomUUID();
    await tx.query(
      `INSERT INTO retrievals (id, archive, study_instance_uid, purpose, state, asked_at)
       VALUES ($1, $2, $3, $4, 'waiting', $5)`,
      [id, archive, studyInstanceUid, purpose, at],
    );
    return id;
  });
}

/**
 * Finds a retrieval.
 * @returns null if there is none with this id.
 */
export async function findRetrieval(database: Queryable, id: string): Promise<RetrievalRow | null> {
  const { rows } = await database.query<RetrievalRow>(
    `SELECT id, archive, study_instance_uid, purpose, state, wanted, here, code, detail
     FROM retrievals WHERE id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

/**
 * Claims the archive's oldest retrieval that no process is working on.
 * @returns null if there is none.
 */
export async function claimRetrieval(
  database: Database,
  archive: string,
  at: Date,
): Promise<RetrievalRow | null> {
  const { rows } = await database.query<RetrievalRow>(
    `UPDATE retrievals SET state = 'running', taken_until = $2 WHERE id = (
       SELECT id FROM retrievals
       WHERE archive = $3 AND purpose <> 'prior'
         AND (state = 'waiting' OR (state = 'running' AND taken_until < $1))
       ORDER BY asked_at LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING id, archive, study_instance_uid, purpose, state, wanted, here, code, detail`,
    [at, secondsAfter(at, LEASE_SECONDS), archive],
  );
  return rows[0] ?? null;
}

/** Carries out a claimed retrieval and records its outcome. */
export function runRetrieval(
  row: RetrievalRow,
  archive: Archive,
  parts: RetrievalParts,
  signal: AbortSignal,
): Promise<void> {
  return renewing(row.id, LEASE_SECONDS, parts, () => retrieve(row, archive, parts, signal));
}

/** Renews the lease of a retrieval while it is carried out. */
function renewing<Result>(
  id: string,
  leaseSeconds: number,
  { database, now }: RetrievalParts,
  work: () => Promise<Result>,
): Promise<Result> {
  const renew = () =>
    database.query("UPDATE retrievals SET taken_until = $2 WHERE id = $1 AND state = 'running'", [
      id,
      secondsAfter(now(), leaseSeconds),
    ]);
  return whileRenewing({ renew, everyMilliseconds: RENEW_MILLISECONDS }, work);
}

async function retrieve(
  row: RetrievalRow,
  archive: Archive,
  parts: RetrievalParts,
  signal: AbortSignal,
): Promise<void> {
  const { database, now } = parts;
  const study = row.study_instance_uid;
  let objects: FoundObject[] = [];
  try {
    const there = await archive.objects(study, { signal });
    objects = await objectsWeAccept(database, study, there);
    if (objects.length === 0) {
      const detail = `${archive.name} has no object of this study that can be received.`;
      const outcome = { state: 'failed', code: 'not_found', detail } as const;
      return await ended(row.id, archive, outcome, parts);
    }
    const every = there.length === objects.length;
    const outcome = await fetchObjects({ ...row, objects, every }, archive, parts, signal);
    if (row.purpose === 'study') await reopenPrior(database, study, now());
    await ended(row.id, archive, outcome, parts);
  } catch (error) {
    if (signal.aborted) return await giveBack(database, row.id);
    // An outage of our database shows nothing about the archive. The retrieval is repeated when
    // its lease has expired.
    if (error instanceof DatabaseUnreachableError) throw error;
    const held = await receivedUids(database, study);
    const here = objects.filter(({ sopInstanceUid }) => held.has(sopInstanceUid)).length;
    await ended(row.id, archive, { ...failureOf(error), wanted: objects.length, here }, parts);
  }
}

/**
 * Retrieves those objects of a prior that have not yet been received. The retrieval's row is
 * written before the first object arrives, so that the intake recognizes the objects as those of a
 * prior.
 * @returns the outcome, with the number of objects received.
 */
export async function fetchPrior(
  studyInstanceUid: string,
  objects: readonly FoundObject[],
  archive: Archive,
  parts: RetrievalParts,
  signal: AbortSignal,
): Promise<Outcome> {
  const { database, now } = parts;
  const id = randomUUID();
  await database.query(
    `INSERT INTO retrievals (id, archive, study_instance_uid, purpose, state, asked_at, taken_until)
     VALUES ($1, $2, $3, 'prior', 'running', $4, $5)`,
    [id, archive.name, studyInstanceUid, now(), secondsAfter(now(), PRIOR_SECONDS)],
  );
  const wanted = {
    study_instance_uid: studyInstanceUid,
    purpose: 'prior',
    objects,
    every: false,
  } as const;
  const outcome = await renewing(id, PRIOR_SECONDS, parts, () =>
    fetchObjects(wanted, archive, parts, signal).catch((error: unknown) => {
      if (error instanceof DatabaseUnreachableError) throw error;
      return failureOf(error);
    }),
  );
  await ended(id, archive, outcome, parts);
  return outcome;
}

interface Outcome {
  state: 'succeeded' | 'failed';
  wanted?: number;
  here?: number;
  code?: ErrorCode | null;
  detail?: string;
  /** The error that ended the retrieval, for the log. */
  error?: string;
}

interface Fetch extends Pick<RetrievalRow, 'study_instance_uid' | 'purpose'> {
  objects: readonly FoundObject[];
  /** True if `objects` are all the objects that the archive has of the study. */
  every: boolean;
}

async function fetchObjects(
  { study_instance_uid: study, purpose, objects, every }: Fetch,
  archive: Archive,
  { database, storage, now }: RetrievalParts,
  signal: AbortSignal,
): Promise<Outcome> {
  const wanted = objects.map(({ sopInstanceUid }) => sopInstanceUid);
  const missingNow = async () => {
    const held = await receivedUids(database, study);
    return objects.filter(({ sopInstanceUid }) => !held.has(sopInstanceUid));
  };
  let missing = await missingNow();
  const before = missing.length;
  let retrieved: Retrieved | null = null;
  if (missing.length > 0) {
    if (purpose === 'study') {
      await expectObjects(database, {
        studyInstanceUid: study,
        statedBy: archive.name,
        signal: 'expected-count',
        sopInstanceUids: wanted,
        statedAt: now(),
      });
    }
    retrieved = await archive.retrieve(
      {
        studyInstanceUid: study,
        objects: missing,
        whole: every && missing.length === objects.length,
        source: (await findStudy(database, study))?.source ?? archive.name,
        into: storage,
      },
      { signal },
    );
    const patience = Date.now() + ARRIVAL_PATIENCE_MS;
    for (missing = await missingNow(); missing.length > 0; missing = await missingNow()) {
      if (retrieved.completed < before || Date.now() > patience) break;
      await sleep(ARRIVAL_POLL_MS);
    }
  }
  const here = objects.length - missing.length;
  const counts = { wanted: objects.length, here };
  if (missing.length === 0) {
    return { state: 'succeeded', ...counts, detail: `${before} fetched, all ${here} received` };
  }
  const words = retrieved?.detail ? ` (${retrieved.detail})` : '';
  return {
    state: 'failed',
    ...counts,
    code: 'archive_refused_query',
    detail: `${archive.name} gave ${before - missing.length} of ${before} objects${words}`,
  };
}

/**
 * Releases the retrieval because the gateway is stopping. It can then be claimed by another
 * process, or by this gateway after its next startup.
 */
async function giveBack(database: Queryable, id: string): Promise<void> {
  await database.query(
    "UPDATE retrievals SET state = 'waiting', taken_until = NULL WHERE id = $1",
    [id],
  );
}

/**
 * Seconds after the end of a retrieval during which arriving objects still count as retrieved: some
 * arrive shortly after the final response.
 */
const LATE_ARRIVALS_SECONDS = 10;

/** Records the outcome of a retrieval, and logs it if objects are missing. */
async function ended(
  id: string,
  { name }: Pick<Archive, 'name'>,
  { state, wanted = 0, here = 0, code = null, detail = '', error }: Outcome,
  { database, logger, now }: RetrievalParts,
): Promise<void> {
  const at = now();
  await database.query(
    `UPDATE retrievals SET state = $2, wanted = $3, here = $4, code = $5, detail = $6, ended_at = $7,
       taken_until = $8 WHERE id = $1`,
    [id, state, wanted, here, code, detail, at, secondsAfter(at, LATE_ARRIVALS_SECONDS)],
  );
  if (state !== 'failed') return;
  const counts = { wanted, received: here };
  const why = { code: code ?? 'internal', ...(error && { error }) };
  logger.event('archive_retrieval_failed', { archive: name, retrieval: id, ...counts, ...why });
}

function failureOf(error: unknown): Outcome {
  const code = error instanceof SonogateError ? error.code : 'internal';
  const detail = error instanceof SonogateError ? (error.detail ?? '') : '';
  const text = `${ERRORS[code].title}. ${detail}`.trim();
  return { state: 'failed', code, detail: text, error: String(error) };
}
