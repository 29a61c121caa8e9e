import type { Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { newUuid } from '../../platform/ids.ts';
import {
  type ChangeSource,
  correctStudies,
  type Demographics,
  type PatientKey,
  renewIdentity,
} from './corrections.ts';

/** A merge of two patient IDs of one assigning authority (ADT^A40). */
export interface PatientMerge {
  prior: PatientKey;
  survivorId: string;
  /** The attributes of the surviving patient in the message. */
  stated: Demographics;
}

/**
 * Records a merge: studies with the prior ID get the surviving ID, both those that have arrived and
 * those that arrive later. An older merge never replaces a newer merge of the same ID. @returns the
 * number of studies that changed.
 */
export async function mergePatients(
  tx: Queryable,
  { prior, survivorId, stated }: PatientMerge,
  source: ChangeSource,
): Promise<number> {
  const { sender, controlId, effectiveAt, receivedAt } = source;
  const key = { patientId: survivorId, issuer: prior.authority };
  const { rows: others } = await tx.query<{ id: string; prior_id: string; newer: boolean }>(
    `SELECT id, prior_id, effective_at > $4 AS newer FROM patient_merges
     WHERE authority = $1 AND withdrawn_at IS NULL AND prior_id IN ($2, $3)`,
    [prior.authority, prior.id, survivorId, effectiveAt],
  );
  if (others.some(({ prior_id, newer }) => prior_id === prior.id && newer)) return 0;
  for (const { id, newer } of others) if (!newer) await withdrawMerge(tx, id, receivedAt);
  // A newer merge in the other direction takes precedence; together both merges would form a
  // circle.
  if ((await survivingId(tx, key)) === prior.id) return 0;
  const mergeId = newUuid();
  await tx.query(
    `INSERT INTO patient_merges (id, authority, unissued, prior_id, survivor_id, effective_at,
       received_at, sender, control_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      mergeId,
      ...[prior.authority, prior.unissued, prior.id, survivorId],
      ...[effectiveAt, receivedAt, sender, controlId],
    ],
  );
  const changed = { ...stated, PatientID: survivorId };
  return (await correctStudies(tx, prior, changed, source, { mergeId })).corrected.length;
}

/** Withdraws a merge. @returns the number of studies that have their former ID again. */
async function withdrawMerge(tx: Queryable, id: string, at: Date): Promise<number> {
  await tx.query('UPDATE patient_merges SET withdrawn_at = $2 WHERE id = $1', [id, at]);
  const { rows } = await tx.query<{ study_id: string }>(
    `UPDATE patient_corrections SET withdrawn_at = $2
     WHERE merge_id = $1 AND withdrawn_at IS NULL RETURNING study_id`,
    [id, at],
  );
  for (const { study_id } of rows) await renewIdentity(tx, study_id);
  return rows.length;
}

/** A merge as a person sees it, without the patient IDs. */
export interface MergeNote {
  id: string;
  at: Date;
  sender: string;
  controlId: string;
  /** Number of studies that have the surviving ID because of this merge. */
  studies: number;
}

/** Lists the merges that are valid, newest first. */
export async function listMerges(database: Queryable): Promise<MergeNote[]> {
  const { rows } = await database.query<MergeNote>(
    `SELECT m.id, m.received_at AS at, m.sender, m.control_id AS "controlId",
       count(c.id)::integer AS studies
     FROM patient_merges m LEFT JOIN patient_corrections c
       ON c.merge_id = m.id AND c.withdrawn_at IS NULL
     WHERE m.withdrawn_at IS NULL GROUP BY m.id ORDER BY m.received_at DESC`,
  );
  return rows;
}

/** Separates patients that were merged by mistake. @throws SonogateError `not_found` */
export async function separatePatients(
  tx: Queryable,
  id: string,
  at: Date,
): Promise<{ studies: number }> {
  const { rows } = await tx.query(
    'SELECT 1 FROM patient_merges WHERE id = $1 AND withdrawn_at IS NULL FOR UPDATE',
    [id],
  );
  if (rows.length === 0) throw new SonogateError('not_found', `There is no merge ${id}.`);
  return { studies: await withdrawMerge(tx, id, at) };
}

/** Maximum number of merges that are followed from one ID to the next. */
const LONGEST_CHAIN = 20;

interface MergeRow {
  id: string;
  authority: string;
  unissued: boolean;
  survivor_id: string;
  effective_at: Date;
  received_at: Date;
  sender: string;
  control_id: string;
}

/**
 * Gives a study that arrived under a prior ID the surviving ID, before the study is interpreted.
 * @returns whether the study changed.
 */
export async function applyMerges(tx: Queryable, studyId: string, at: Date): Promise<boolean> {
  for (let step = 0; step < LONGEST_CHAIN; step += 1) {
    const { rows } = await tx.query<MergeRow & { prior_id: string }>(
      `SELECT m.* FROM studies s JOIN patient_merges m ON m.prior_id = s.identity ->> 'PatientID'
       WHERE s.id = $1 AND m.withdrawn_at IS NULL AND (
         m.authority = coalesce(nullif(s.identity ->> 'IssuerOfPatientID', ''),
           s.identity -> 'IssuerOfPatientIDQualifiers' ->> 'UniversalEntityID', '')
         OR (m.unissued AND coalesce(s.identity ->> 'IssuerOfPatientID', '') = ''
           AND s.identity -> 'IssuerOfPatientIDQualifiers' IS NULL))`,
      [studyId],
    );
    const [merge] = rows;
    if (!merge) return step > 0;
    await tx.query(
      `INSERT INTO patient_corrections
         (study_id, patient_id, stated, effective_at, received_at, merge_id, sender, control_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        studyId,
        merge.prior_id,
        JSON.stringify({ PatientID: merge.survivor_id }),
        ...[merge.effective_at, at, merge.id, merge.sender, merge.control_id],
      ],
    );
    await renewIdentity(tx, studyId);
  }
  return true;
}

/**
 * Returns the patient IDs that were merged into this ID. Archives may have earlier examinations
 * under these IDs.
 */
export async function priorIdsOf(
  database: Queryable,
  { patientId, issuer }: { patientId: string; issuer: string },
): Promise<string[]> {
  const { rows } = await database.query<{ prior_id: string }>(
    `WITH RECURSIVE former (id) AS (
       SELECT $1::text
       UNION SELECT m.prior_id FROM patient_merges m JOIN former f ON m.survivor_id = f.id
       WHERE m.withdrawn_at IS NULL AND (m.authority = $2 OR (m.unissued AND $2 = '')))
     SELECT id AS prior_id FROM former WHERE id <> $1 ORDER BY id LIMIT ${LONGEST_CHAIN}`,
    [patientId, issuer],
  );
  return rows.map(({ prior_id }) => prior_id);
}

/** Returns the patient ID into which this ID was merged; the same ID if it was not merged. */
export async function survivingId(
  database: Queryable,
  { patientId, issuer }: { patientId: string; issuer: string },
): Promise<string> {
  let current = patientId;
  for (let step = 0; step < LONGEST_CHAIN; step += 1) {
    const { rows } = await database.query<{ survivor_id: string }>(
      `SELECT survivor_id FROM patient_merges WHERE prior_id = $1 AND withdrawn_at IS NULL
         AND (authority = $2 OR (unissued AND $2 = ''))`,
      [current, issuer],
    );
    const [row] = rows;
    if (!row) return current;
    current = row.survivor_id;
  }
  return current;
}
