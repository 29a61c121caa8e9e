import type { Queryable } from '../database/port.ts';
import { BREAKER_SHUT } from './breaker.ts';
import type { DeliveryRow } from './deliveries.ts';
import { SOMETHING_AHEAD } from './order.ts';
import type { Delivery, DeliveryKind } from './port.ts';

/** A delivery in the hands of the outbox; both count from when a person last sent it again. */
export interface ClaimedDelivery extends Delivery {
  tries: number;
  /** Failures before this attempt that may be the object's own. */
  ownFailures: number;
}

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
         AND NOT ${BREAKER_SHUT} AND NOT ${SOMETHING_AHEAD}
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
        ownFailures: row.own_failures,
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

/** What came due just now may have come so after the last look for it. */
const JUST_NOW = "interval '0.2 seconds'";

/**
 * Seconds until a delivery to none of `busy` comes due, a lease runs out or a hold ends (0 or less:
 * just now); null when none will. What is due and waits for others is not counted: their end wakes
 * the outbox.
 */
export async function secondsUntilDue(
  database: Queryable,
  kinds: readonly DeliveryKind[],
  busy: readonly string[],
): Promise<number | null> {
  const { rows } = await database.query<{ seconds: number | null }>(
    `SELECT EXTRACT(EPOCH FROM LEAST(
       (SELECT min(next_at) FROM deliveries WHERE state = 'pending'
          AND next_at > now() - ${JUST_NOW}
          AND kind = ANY ($1::text[]) AND NOT destination = ANY ($2::text[])),
       (SELECT min(lease_until) FROM deliveries WHERE state = 'sending'
          AND lease_until > now() - ${JUST_NOW}
          AND kind = ANY ($1::text[]) AND NOT destination = ANY ($2::text[])),
       (SELECT min(until) FROM destination_holds WHERE until > now())) - now())::float8 AS seconds`,
    [kinds, busy],
  );
  return rows[0]?.seconds ?? null;
}
