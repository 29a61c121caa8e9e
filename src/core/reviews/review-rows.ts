import type { Change, Changed } from '../../../pipelines/contract/review.ts';
import type { Effect } from '../../../pipelines/result/decisions.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { announceChange } from '../requests/changes.ts';

/**
 * States of a review.
 *
 *   draft ──▶ in-review ──▶ signed ──▶ in-review ──▶ amended ──▶ in-review …
 *
 * `draft`: nobody has changed anything. A signed result that is changed again is in review until it
 * is signed once more, and then amended. The first signed result of a request is amended, too, if it
 * replaces the signed result of an earlier request for its study.
 */
export const REVIEW_STATES = ['draft', 'in-review', 'signed', 'amended'] as const;
export type ReviewState = (typeof REVIEW_STATES)[number];

export interface ReviewRow {
  state: ReviewState;
  revision: number;
  signed_revision: number;
}

export interface ChangeRow {
  id: number;
  at: Date;
  author_id: string;
  author: string;
  change: Change;
  effects: Effect[];
  before: Changed;
  after: Changed;
}

export interface SignatureRow {
  signed_revision: number;
  position: number;
  at: Date;
  observer_id: string;
  observer: string;
  organization: string;
  statement: string | null;
}

const UNTOUCHED: ReviewRow = { state: 'draft', revision: 0, signed_revision: 0 };

export async function findReview(database: Queryable, requestId: string): Promise<ReviewRow> {
  const { rows } = await database.query<ReviewRow>(
    'SELECT state, revision, signed_revision FROM reviews WHERE request_id = $1',
    [requestId],
  );
  return rows[0] ?? UNTOUCHED;
}

/**
 * Returns the review, locked until the transaction ends. It is created when the first change is
 * made.
 */
export async function lockReview(tx: Queryable, requestId: string): Promise<ReviewRow> {
  await tx.query(
    `INSERT INTO reviews (request_id, state) VALUES ($1, 'in-review')
     ON CONFLICT (request_id) DO NOTHING`,
    [requestId],
  );
  const { rows } = await tx.query<ReviewRow>(
    'SELECT state, revision, signed_revision FROM reviews WHERE request_id = $1 FOR UPDATE',
    [requestId],
  );
  return rows[0] ?? UNTOUCHED;
}

/** Stores the next state of a locked review and notifies everyone who has it open. */
export async function saveReview(tx: Queryable, requestId: string, next: ReviewRow): Promise<void> {
  await tx.query(
    `UPDATE reviews SET state = $2, revision = $3, signed_revision = $4, changed_at = now()
     WHERE request_id = $1`,
    [requestId, next.state, next.revision, next.signed_revision],
  );
  await announceChange(tx, requestId);
}

export async function listChanges(database: Queryable, requestId: string): Promise<ChangeRow[]> {
  const { rows } = await database.query<ChangeRow>(
    `SELECT id, at, author_id, author, change, effects, before, after FROM review_changes
     WHERE request_id = $1 ORDER BY id`,
    [requestId],
  );
  return rows;
}

export async function addChange(tx: Queryable, requestId: string, row: ChangeRow): Promise<void> {
  await tx.query(
    `INSERT INTO review_changes (request_id, id, at, author_id, author, change, effects, before, after)
     VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb, $8::jsonb, $9::jsonb)`,
    [
      requestId,
      row.id,
      row.at,
      row.author_id,
      row.author,
      ...[row.change, row.effects, row.before, row.after].map((each) => JSON.stringify(each)),
    ],
  );
}

/** Lists signatures, oldest first, including those of a revision not yet complete. */
export async function listSignatures(
  database: Queryable,
  requestId: string,
): Promise<SignatureRow[]> {
  const { rows } = await database.query<SignatureRow>(
    `SELECT signed_revision, position, at, observer_id, observer, organization, statement
     FROM review_signatures WHERE request_id = $1 ORDER BY signed_revision, position`,
    [requestId],
  );
  return rows;
}

export async function addSignature(
  tx: Queryable,
  requestId: string,
  row: SignatureRow,
): Promise<void> {
  await tx.query(
    `INSERT INTO review_signatures (request_id, signed_revision, position, at, observer_id, observer,
       organization, statement) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      requestId,
      row.signed_revision,
      row.position,
      row.at,
      row.observer_id,
      row.observer,
      row.organization,
      row.statement,
    ],
  );
}

/**
 * Removes the signatures of a revision that still lacks one: if the result is changed after the
 * first of two signatures, that signature no longer counts.
 */
export async function dropSignatures(
  tx: Queryable,
  requestId: string,
  signedRevision: number,
): Promise<void> {
  await tx.query('DELETE FROM review_signatures WHERE request_id = $1 AND signed_revision = $2', [
    requestId,
    signedRevision,
  ]);
}

/** Returns the ids of changes that have not been undone. An undo can itself be undone. */
export function notUndone(changes: readonly Pick<ChangeRow, 'id' | 'change'>[]): Set<number> {
  const left = new Set(changes.map(({ id }) => id));
  for (const { id, change } of changes.toReversed()) {
    if (change.kind === 'undo' && left.has(id)) left.delete(change.change);
  }
  return left;
}

/** Returns the effects, in order, of all changes that have not been undone. */
export function effectsOfAll(changes: readonly ChangeRow[]): Effect[] {
  const alive = notUndone(changes);
  return changes.filter(({ id }) => alive.has(id)).flatMap(({ effects }) => effects);
}

/**
 * Seconds after which a stream without a keep-alive is considered closed, because its process or
 * network failed.
 */
export const SEEN_SECONDS = 45;

/** Returns all readers who have the review open, each of them once. */
export async function listReaders(
  database: Queryable,
  requestId: string,
): Promise<{ id: string; name: string }[]> {
  const { rows } = await database.query<{ id: string; name: string }>(
    `SELECT DISTINCT reader_id AS id, reader AS name FROM review_readers
     WHERE request_id = $1 AND seen_at > now() - make_interval(secs => $2) ORDER BY reader`,
    [requestId, SEEN_SECONDS],
  );
  return rows;
}

/** Records that a stream is open, or renews its record, which expires after `SEEN_SECONDS`. */
export async function keepReader(
  database: Queryable,
  requestId: string,
  stream: string,
  reader: { id: string; name: string },
): Promise<void> {
  await database.query(
    `INSERT INTO review_readers (request_id, stream, reader_id, reader, seen_at)
     VALUES ($1, $2, $3, $4, now())
     ON CONFLICT (request_id, stream) DO UPDATE SET seen_at = now()`,
    [requestId, stream, reader.id, reader.name],
  );
}

export async function removeReader(
  database: Queryable,
  requestId: string,
  stream: string,
): Promise<void> {
  await database.query('DELETE FROM review_readers WHERE request_id = $1 AND stream = $2', [
    requestId,
    stream,
  ]);
  await announceChange(database, requestId);
}
