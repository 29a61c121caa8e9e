import type { Queryable } from '../database/port.ts';
import { BREAKER_SHUT } from './breaker.ts';
import type { DeliveryRow } from './deliveries.ts';
import { SOMETHING_AHEAD } from './order.ts';
import type { Delivery, DeliveryKind } from './port.ts';

/** A delivery in the hands of the outbox; `tries` counts from when a person last sent it again. */
export interface ClaimedDelivery extends Delivery {
  tries: number;
}

/** SQL: whether `d` must wait although it is due: for what goes before it, or for its peer. */
const WAITS_FOR_OTHERS = `(${SOMETHING_AHEAD} OR ${BREAKER_SHUT})`;

/**
 * Takes the delivery that has waited longest, of a kind in `kinds` and to none of `busy`, with a
 * lease: should this process die, it is due again when the lease ends.
 */
export async function claimDelivery(
  database: Queryable,
  kinds: readonly DeliveryKind[],
  busy: readonly string[],
  leaseSeconds: number,
): Promise<ClaimedDelivery | null> {
  const { rows } = await database.query<DeliveryRow>(
    `UPDATE deliveries SET state = 'sending', attempt = attempt + 1,
       lease_until = now() + make_interval(secs => $3)
     WHERE id = (
       SELECT id FROM deliveries d
       WHERE kind = ANY ($1::text[]) AND NOT destination = ANY ($2::text[])
         AND ((state = 'pending' AND next_at <= now())
           OR (state = 'sending' AND lease_until < now()))
         AND NOT EXISTS (SELECT 1 FROM destination_holds h
           WHERE h.destination = d.destination AND h.until > now())
         AND NOT ${WAITS_FOR_OTHERS}
       ORDER BY next_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING *`,
    [kinds, busy, leaseSeconds],
  );
  const [row] = rows;
  return row
    ? {
        id: row.id,
        requestId: row.request_id ?? '',
        kind: row.kind,
        destination: row.destination,
        object: row.object,
        attempt: row.attempt,
        tries: row.attempt - row.attempts_before,
      }
    : null;
}

/** Keeps a delivery that is being sent; false when it is no longer this attempt's. */
export async function renewDelivery(
  database: Queryable,
  { id, attempt }: Delivery,
  leaseSeconds: number,
): Promise<boolean> {
  const { rowCount } = await database.query(
    `UPDATE deliveries SET lease_until = now() + make_interval(secs => $3)
     WHERE id = $1 AND attempt = $2 AND state = 'sending'`,
    [id, attempt, leaseSeconds],
  );
  return rowCount === 1;
}

/**
 * Seconds until the next delivery to none of `busy` may be due (0 or less: now); null when none
 * waits.
 */
export async function secondsUntilDue(
  database: Queryable,
  kinds: readonly DeliveryKind[],
  busy: readonly string[],
): Promise<number | null> {
  const { rows } = await database.query<{ seconds: number | null }>(
    `SELECT EXTRACT(EPOCH FROM min(GREATEST(
         CASE WHEN d.state = 'sending' THEN d.lease_until ELSE d.next_at END,
         COALESCE(h.until, '-infinity'))) - now())::float8 AS seconds
     FROM deliveries d LEFT JOIN destination_holds h USING (destination)
     WHERE NOT ${WAITS_FOR_OTHERS} AND d.kind = ANY ($1::text[]) AND d.state IN ('pending', 'sending')
       AND NOT d.destination = ANY ($2::text[])`,
    [kinds, busy],
  );
  return rows[0]?.seconds ?? null;
}
