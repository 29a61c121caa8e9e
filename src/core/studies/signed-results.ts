import type { Withdrawal } from '../../../pipelines/contract/withdrawal.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { earlierRequests, laterRequests } from './earlier-requests.ts';

/** A signed result: the request, and the signed revision, numbered from 1. */
interface SignedResult {
  request: string;
  revision: number;
}

/** SQL condition: the result under the review `v` was not withdrawn. */
const IN_FORCE = `NOT EXISTS (SELECT 1 FROM requests r
  WHERE r.id = v.request_id AND r.withdrawal IS NOT NULL)`;

/**
 * Returns the signed result that the result of a request replaces. It belongs to the newest earlier
 * request for the same study and endpoint whose result a person has signed and nobody has withdrawn.
 * Null if no such result exists.
 */
export async function signedBefore(
  database: Queryable,
  requestId: string,
): Promise<SignedResult | null> {
  const earlier = await earlierRequests(database, requestId);
  const { rows } = await database.query<SignedResult>(
    `SELECT request_id AS request, signed_revision AS revision FROM reviews v
     WHERE request_id = ANY ($1::text[]) AND signed_revision > 0 AND ${IN_FORCE}
     ORDER BY array_position($1::text[], request_id) LIMIT 1`,
    [earlier],
  );
  return rows[0] ?? null;
}

/**
 * Returns true if a later result of the same study and endpoint is signed, even if it was withdrawn:
 * an earlier result does not come into force again.
 */
export async function isSignedLater(database: Queryable, requestId: string): Promise<boolean> {
  const { rows } = await database.query(
    'SELECT 1 FROM reviews WHERE request_id = ANY ($1::text[]) AND signed_revision > 0 LIMIT 1',
    [await laterRequests(database, requestId)],
  );
  return rows.length > 0;
}

/**
 * Locks the study of a request until the transaction ends, so that only one of its results is
 * signed at a time.
 */
export async function lockStudyOf(tx: Queryable, requestId: string): Promise<void> {
  await tx.query(
    `SELECT 1 FROM studies s JOIN study_requests made ON made.study_id = s.id
     WHERE made.request_id = $1 FOR NO KEY UPDATE OF s`,
    [requestId],
  );
}

/**
 * Returns which signature makes the draft of a request outdated: `own` if its own result is signed;
 * otherwise `another` if an earlier or later result of the same study and endpoint is signed. Null
 * if no result is signed. Withdrawn results do not count.
 */
export async function signatureOver(
  database: Queryable,
  requestId: string,
): Promise<'own' | 'another' | null> {
  const others = [
    ...(await earlierRequests(database, requestId)),
    ...(await laterRequests(database, requestId)),
  ];
  const { rows } = await database.query<{ own: boolean }>(
    `SELECT request_id = $1 AS own FROM reviews v
     WHERE (request_id = $1 OR request_id = ANY ($2::text[])) AND signed_revision > 0 AND ${IN_FORCE}
     ORDER BY own DESC LIMIT 1`,
    [requestId, others],
  );
  const [signed] = rows;
  return signed ? (signed.own ? 'own' : 'another') : null;
}

/** A signature that completed a signed result. */
export interface ResultSignature {
  /** The time of the last signature, which is also `generated_at` of the result. */
  at: Date;
  /** Status of the signed result: `amended` if another signed result was in force before. */
  status: 'final' | 'amended';
}

/**
 * Returns the signatures of the results of these requests, oldest first. Those of results that were
 * withdrawn later are included, because a receiver may still have them.
 */
export async function resultSignatures(
  database: Queryable,
  requestIds: readonly string[],
): Promise<ResultSignature[]> {
  const { rows } = await database.query<{ at: Date; withdrawal: Withdrawal | null }>(
    `SELECT max(s.at) AS at, r.withdrawal
     FROM review_signatures s JOIN reviews v USING (request_id)
       JOIN requests r ON r.id = s.request_id
     WHERE s.request_id = ANY ($1::text[]) AND s.signed_revision <= v.signed_revision
     GROUP BY s.request_id, s.signed_revision, r.withdrawal ORDER BY at`,
    [requestIds],
  );
  return rows.map(({ at }, index) => {
    const inForce = rows
      .slice(0, index)
      .some(({ withdrawal }) => withdrawal === null || Date.parse(withdrawal.at) > at.getTime());
    return { at, status: inForce ? 'amended' : 'final' };
  });
}
