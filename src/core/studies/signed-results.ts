import type { Queryable } from '../../platform/database/port.ts';
import { earlierRequests } from './study-store.ts';

/** A signed result: its request, and the signed revision, from 1. */
export interface SignedResult {
  request: string;
  revision: number;
}

/**
 * Returns the signed result that the result of a request replaces: that of the newest earlier
 * request of the same study and endpoint which a person has signed. Otherwise null.
 */
export async function signedBefore(
  database: Queryable,
  requestId: string,
): Promise<SignedResult | null> {
  const earlier = await earlierRequests(database, requestId);
  const { rows } = await database.query<SignedResult>(
    `SELECT request_id AS request, signed_revision AS revision FROM reviews
     WHERE request_id = ANY ($1::text[]) AND signed_revision > 0
     ORDER BY array_position($1::text[], request_id) LIMIT 1`,
    [earlier],
  );
  return rows[0] ?? null;
}

/**
 * Returns when each signed result of these requests was signed, oldest first. The time of its last
 * signature is also the `generated_at` of the result.
 */
export async function signingTimes(
  database: Queryable,
  requestIds: readonly string[],
): Promise<Date[]> {
  const { rows } = await database.query<{ at: Date }>(
    `SELECT max(s.at) AS at FROM review_signatures s JOIN reviews r USING (request_id)
     WHERE request_id = ANY ($1::text[]) AND s.signed_revision <= r.signed_revision
     GROUP BY request_id, s.signed_revision ORDER BY at`,
    [requestIds],
  );
  return rows.map(({ at }) => at);
}
