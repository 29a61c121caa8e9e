import type { Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { newUuid } from '../../platform/ids.ts';
import {
  type ChangeSource,
  correctStudies,
  type Demographics,
  issuerIn,
  type PatientKey,
  type Reached,
  renewIdentity,
} from './corrections.ts';

/** A merge of two patient IDs issued by one assigning authority (ADT^A40). */
export interface PatientMerge {
  prior: PatientKey;
  survivorId: string;
  /** The surviving patient's attributes in the message. */
  stated: Demographics;
}

/**
 * Records a merge: studies with the prior ID get the surviving ID, whether they have already
 * arrived or arrive later. An older merge never replaces a newer merge of the same ID.
 *
 * After a merge, the prior ID may be issued to another person and merged again. This second merge
 * therefore does not apply to a study whose birth date differs from the birth date in the message
 * (`Reached.unlike`). Such a study keeps the surviving ID of the first merge if it has that ID, and
 * otherwise the prior ID.
 */
export async function mergePatients(
  tx: Queryable,
  { prior, survivorId, stated }: PatientMerge,
  source: ChangeSource,
): Promise<Reached> {
  const { sender, controlId, effectiveAt, receivedAt } = source;
  const birthDate = stated.PatientBirthDate ?? '';
  const key = { patientId: survivorId, issuer: prior.authority };
  const { rows: others } = await tx.query<MergeRow & { newer: boolean }>(
    `SELECT *, effective_at > $4 AS newer FROM patient_merges
     WHERE authority = $1 AND withdrawn_at IS NULL AND prior_id IN ($2, $3)`,
    [prior.authority, prior.id, survivorId, effectiveAt],
  );
  const replaced = others.find(({ prior_id }) => prior_id === prior.id);
  if (replaced?.newer) return NOBODY;
  if (replaced?.survivor_id === survivorId) {
    await tx.query(
      `UPDATE patient_merges SET effective_at = $2, received_at = $3, sender = $4, control_id = $5,
         birth_date = coalesce(nullif($6, ''), birth_date) WHERE id = $1`,
      [replaced.id, effectiveAt, receivedAt, sender, controlId, birthDate],
    );
    return NOBODY;
  }
  const moved = replaced
    ? await withdrawMerge(tx, replaced.id, receivedAt, {
        ofBirthDate: replaced.birth_date === birthDate ? '' : birthDate,
      })
    : [];
  // If a merge from the surviving to the prior ID is in force, the two merges would form a cycle.
  // Only the newer one applies.
  const former = others.find(({ prior_id, newer }) => prior_id === survivorId && !newer);
  if (former && (await survivingId(tx, key)) === prior.id) {
    await withdrawMerge(tx, former.id, receivedAt);
  }
  if ((await survivingId(tx, key)) === prior.id) return NOBODY;
  const mergeId = newUuid();
  const declined = await declinedStudies(tx, prior, survivorId);
  await tx.query(
    `INSERT INTO patient_merges (id, authority, unissued, prior_id, survivor_id, effective_at,
       received_at, sender, control_id, birth_date)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      mergeId,
      ...[prior.authority, prior.unissued, prior.id, survivorId],
      ...[effectiveAt, receivedAt, sender, controlId, birthDate],
    ],
  );
  const reached = await correctStudies(tx, prior, { ...stated, PatientID: survivorId }, source, {
    mergeId,
    // In the first merge of an ID, the birth date of a study does not matter, because the sender
    // states that both IDs are one person's. It matters if the ID was merged before, or if a person
    // kept the study out of an earlier merge of these IDs.
    isUnlike: ({ id, identity: { PatientBirthDate: own } }) =>
      (replaced !== undefined || declined.includes(id)) &&
      !moved.includes(id) &&
      ![own, birthDate].includes('') &&
      own !== birthDate,
  });
  // The surviving ID may itself be the prior ID of another merge.
  for (const id of reached.corrected) {
    await applyMerges(tx, id, receivedAt);
  }
  return reached;
}

/** Returns the studies that a person kept out of an earlier merge of these IDs (`own-id`). */
async function declinedStudies(
  tx: Queryable,
  { id, authority }: PatientKey,
  survivorId: string,
): Promise<string[]> {
  const { rows } = await tx.query<{ study_id: string }>(
    `SELECT c.study_id FROM patient_corrections c JOIN patient_merges m ON m.id = c.merge_id
     WHERE m.prior_id = $1 AND m.authority = $2 AND m.survivor_id = $3
       AND c.withdrawn_at = c.received_at`,
    [id, authority, survivorId],
  );
  return rows.map(({ study_id }) => study_id);
}

const NOBODY: Reached = { corrected: [], unlike: [] };

/**
 * Withdraws a merge.
 * @param ofBirthDate restricts the withdrawal to studies with this birth date; '' for all studies.
 * If a study has no birth date, the merge's birth date is used instead.
 * @returns our ids of the studies that got their former ID back.
 */
async function withdrawMerge(
  tx: Queryable,
  id: string,
  at: Date,
  { ofBirthDate = '' }: { ofBirthDate?: string } = {},
): Promise<string[]> {
  await tx.query('UPDATE patient_merges SET withdrawn_at = $2 WHERE id = $1', [id, at]);
  const { rows } = await tx.query<{ study_id: string }>(
    `UPDATE patient_corrections c SET withdrawn_at = $2 FROM studies s, patient_merges m
     WHERE c.merge_id = $1 AND c.withdrawn_at IS NULL AND s.id = c.study_id AND m.id = c.merge_id
       AND ($3 = '' OR coalesce(nullif(s.identity ->> 'PatientBirthDate', ''), m.birth_date)
         IN ('', $3))
     RETURNING c.study_id`,
    [id, at, ofBirthDate],
  );
  for (const { study_id } of rows) await renewIdentity(tx, study_id);
  return rows.map(({ study_id }) => study_id);
}

/** A merge as shown to a person, without the patient IDs. */
export interface MergeNote {
  id: string;
  at: Date;
  sender: string;
  controlId: string;
  /** Number of studies that have the surviving ID because of this merge. */
  studies: number;
}

/**
 * Lists, newest first, the merges in force and those replaced merges that still apply to some
 * studies.
 */
export async function listMerges(database: Queryable): Promise<MergeNote[]> {
  const { rows } = await database.query<MergeNote>(
    `SELECT m.id, m.received_at AS at, m.sender, m.control_id AS "controlId",
       count(c.id)::integer AS studies
     FROM patient_merges m LEFT JOIN patient_corrections c
       ON c.merge_id = m.id AND c.withdrawn_at IS NULL
     WHERE m.withdrawn_at IS NULL OR c.id IS NOT NULL GROUP BY m.id ORDER BY m.received_at DESC`,
  );
  return rows;
}

/**
 * Separates patients that were merged by mistake.
 * @throws SonogateError `not_found`
 */
export async function separatePatients(
  tx: Queryable,
  id: string,
  at: Date,
): Promise<{ studies: number }> {
  const { rows } = await tx.query(
    `SELECT 1 FROM patient_merges m WHERE id = $1 AND (withdrawn_at IS NULL OR EXISTS (
       SELECT 1 FROM patient_corrections c WHERE c.merge_id = m.id AND c.withdrawn_at IS NULL))
     FOR UPDATE`,
    [id],
  );
  if (rows.length === 0) throw new SonogateError('not_found', `There is no merge ${id}.`);
  return { studies: (await withdrawMerge(tx, id, at)).length };
}

/** Maximum number of merges that are followed from one ID to the next. */
const LONGEST_CHAIN = 20;

interface MergeRow {
  id: string;
  prior_id: string;
  survivor_id: string;
  effective_at: Date;
  sender: string;
  control_id: string;
  birth_date: string;
}

/**
 * The patient ID under which a study continues, as decided by a person. The decision is needed if
 * the patient ID was merged but the study's birth date differs from that of the surviving patient.
 */
export const MERGE_DECISIONS = ['surviving-id', 'own-id'] as const;
export type MergeDecision = (typeof MERGE_DECISIONS)[number];

/** SQL: the merges of a study's patient ID for which the study has no correction yet. */
const MERGES_TO_APPLY = `SELECT m.*, m.birth_date <> '' AND s.identity ->> 'PatientBirthDate' <> ''
    AND m.birth_date <> s.identity ->> 'PatientBirthDate' AS is_doubtful
  FROM studies s JOIN patient_merges m ON m.prior_id = s.identity ->> 'PatientID'
  WHERE s.id = $1 AND m.withdrawn_at IS NULL
  AND (m.authority = ${issuerIn('s.identity')} OR (m.unissued AND ${issuerIn('s.identity')} = ''))
  AND NOT EXISTS (SELECT 1 FROM patient_corrections c
    WHERE c.study_id = s.id AND c.merge_id = m.id)`;

type MergeToApply = MergeRow & { is_doubtful: boolean };

/** Returns true if a person must decide under which patient ID a study continues. */
export async function isPerhapsMerged(database: Queryable, studyId: string): Promise<boolean> {
  const { rows } = await database.query<MergeToApply>(MERGES_TO_APPLY, [studyId]);
  return rows.some(({ is_doubtful }) => is_doubtful);
}

/**
 * Returns true if a patient ID of any issuer was merged into another. Only then can a study with
 * this ID have merges to apply. Looking for those takes several times as long.
 */
export async function isMergedId(database: Queryable, patientId: string): Promise<boolean> {
  const { rows } = await database.query<{ merged: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM patient_merges
       WHERE prior_id = $1 AND withdrawn_at IS NULL) AS merged`,
    [patientId],
    'is-merged-id',
  );
  return rows[0]?.merged ?? false;
}

/**
 * Gives the surviving ID to a study that arrived under a prior ID, before the study is interpreted.
 * If the study's birth date differs from that of the surviving patient, the prior ID may have been
 * reissued: the study keeps it until a person has decided. If the decision is `own-id`, the
 * correction is stored as already withdrawn, so that the study keeps its ID in later revisions too.
 */
export async function applyMerges(
  tx: Queryable,
  studyId: string,
  at: Date,
  decision: MergeDecision | null = null,
): Promise<'none' | 'applied' | 'doubtful'> {
  for (let outcome: 'none' | 'applied' = 'none'; ; outcome = 'applied') {
    // No merge is applied to a study twice, so the loop ends.
    const { rows } = await tx.query<MergeToApply>(`${MERGES_TO_APPLY} FOR UPDATE OF s`, [studyId]);
    const [merge] = rows;
    if (!merge) return outcome;
    if (merge.is_doubtful && decision === null) return 'doubtful';
    const isDeclined = merge.is_doubtful && decision === 'own-id';
    await tx.query(
      `INSERT INTO patient_corrections (study_id, patient_id, stated, effective_at, received_at,
         merge_id, sender, control_id, withdrawn_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        studyId,
        merge.prior_id,
        JSON.stringify({ PatientID: merge.survivor_id }),
        ...[merge.effective_at, at, merge.id, merge.sender, merge.control_id],
        isDeclined ? at : null,
      ],
    );
    await renewIdentity(tx, studyId);
  }
}

/**
 * Returns the patient IDs merged into this ID. Archives may hold earlier examinations under them.
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

/** Returns the patient ID into which this one was merged; the same ID if it was not merged. */
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
