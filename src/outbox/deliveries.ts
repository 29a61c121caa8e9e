import type { Database, Queryable } from '../database/port.ts';
import type { ErrorCode } from '../errors/catalogue.ts';
import { SonogateError } from '../errors/catalogue.ts';
import { newId } from '../requests/ids.ts';
import type { DeliveryTarget } from '../requests/port.ts';
import type { Delivery, DeliveryKind, SendOutcome } from './port.ts';
import type { DeliveryState } from './states.ts';

/** Wakes the outbox of every process; sent when the transaction commits. */
export const OUTBOX_CHANNEL = 'sonogate_outbox';

/** A row of `deliveries`. */
export interface DeliveryRow {
  id: string;
  /** Null for a received object that is forwarded as it came. */
  request_id: string | null;
  kind: DeliveryKind;
  destination: string;
  object: string;
  state: DeliveryState;
  attempt: number;
  /** Attempts made before a person sent it again. */
  attempts_before: number;
  next_at: Date;
  give_up_at: Date;
  /** Of the last failure; null while there was none. */
  code: ErrorCode | null;
  detail: string | null;
  created_at: Date;
  ended_at: Date | null;
  /** When the PACS committed to keep what it took; null also where it is not asked. */
  committed_at: Date | null;
}

/** A delivery in the hands of the outbox; `tries` counts from when a person last sent it again. */
export interface ClaimedDelivery extends Delivery {
  tries: number;
}

/** Makes the deliveries of a request; one that exists already stays as it is. */
export async function enqueueDeliveries(
  tx: Queryable,
  requestId: string,
  targets: readonly DeliveryTarget[],
  giveUpSeconds: number,
): Promise<void> {
  for (const { kind, destination, object } of targets) {
    await tx.query(
      `INSERT INTO deliveries (id, request_id, kind, destination, object, give_up_at)
       VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))
       ON CONFLICT (request_id, destination, object) DO NOTHING`,
      [
        newId(kind === 'webhook' ? 'whd' : 'dlv'),
        requestId,
        kind,
        destination,
        object,
        giveUpSeconds,
      ],
    );
  }
  if (targets.length > 0) await tx.query('SELECT pg_notify($1, $2)', [OUTBOX_CHANNEL, requestId]);
}

/** Makes the deliveries that send received objects on; an object goes to a destination once. */
export async function enqueueForwards(
  tx: Queryable,
  instanceIds: readonly string[],
  destinations: readonly string[],
  giveUpSeconds: number,
): Promise<void> {
  for (const destination of destinations) {
    for (const instanceId of instanceIds) {
      await tx.query(
        `INSERT INTO deliveries (id, request_id, kind, destination, object, give_up_at)
         VALUES ($1, NULL, 'forward', $2, $3, now() + make_interval(secs => $4))
         ON CONFLICT (object, destination) WHERE request_id IS NULL DO NOTHING`,
        [newId('dlv'), destination, instanceId, giveUpSeconds],
      );
    }
  }
  if (destinations.length > 0) await tx.query('SELECT pg_notify($1, $2)', [OUTBOX_CHANNEL, '']);
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

/** Every change after a send carries the attempt: an attempt whose lease ran out changes nothing. */
const OWN = `id = $1 AND attempt = $2 AND state = 'sending'`;

export async function markDelivered(
  database: Database,
  { id, attempt, destination }: Delivery,
  { detail, objects = [] }: Extract<SendOutcome, { outcome: 'delivered' }>,
): Promise<void> {
  await database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `UPDATE deliveries SET state = 'delivered', ended_at = now(), lease_until = NULL,
         code = NULL, detail = $3, committed_at = NULL WHERE ${OWN}`,
      [id, attempt, detail],
    );
    if (rowCount !== 1) return;
    for (const { sopClassUid, sopInstanceUid } of objects) {
      await tx.query(
        `INSERT INTO delivered_objects (delivery_id, destination, sop_class_uid, sop_instance_uid)
         VALUES ($1, $2, $3, $4)
         ON CONFLICT (delivery_id, sop_instance_uid) DO UPDATE SET transaction_uid = NULL,
           asked_at = NULL, committed_at = NULL, failure_reason = NULL`,
        [id, destination, sopClassUid, sopInstanceUid],
      );
    }
  });
}

export async function markDead(
  database: Queryable,
  { id, attempt }: Delivery,
  code: ErrorCode,
  detail: string,
): Promise<void> {
  await database.query(
    `UPDATE deliveries SET state = 'dead', ended_at = now(), lease_until = NULL,
       code = $3, detail = $4 WHERE ${OWN}`,
    [id, attempt, code, detail],
  );
}

/**
 * Puts a failed delivery back for `waitSeconds`, or ends it when its time is over.
 * @returns the state it is in now; null when it was no longer this attempt's.
 */
export async function putBack(
  database: Queryable,
  { id, attempt }: Delivery,
  code: ErrorCode,
  detail: string,
  waitSeconds: number,
): Promise<DeliveryState | null> {
  const { rows } = await database.query<{ state: DeliveryState }>(
    `UPDATE deliveries SET lease_until = NULL, code = $3, detail = $4,
       state = CASE WHEN give_up_at <= now() THEN 'dead' ELSE 'pending' END,
       ended_at = CASE WHEN give_up_at <= now() THEN now() END,
       next_at = now() + make_interval(secs => $5)
     WHERE ${OWN} RETURNING state`,
    [id, attempt, code, detail, waitSeconds],
  );
  return rows[0]?.state ?? null;
}

/** Holds every delivery to a destination that asked to be left alone. */
export async function holdDestination(
  database: Queryable,
  destination: string,
  seconds: number,
): Promise<void> {
  await database.query(
    `INSERT INTO destination_holds (destination, until)
     VALUES ($1, now() + make_interval(secs => $2))
     ON CONFLICT (destination) DO UPDATE
       SET until = GREATEST(destination_holds.until, EXCLUDED.until)`,
    [destination, seconds],
  );
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
     WHERE d.kind = ANY ($1::text[]) AND d.state IN ('pending', 'sending')
       AND NOT d.destination = ANY ($2::text[])`,
    [kinds, busy],
  );
  return rows[0]?.seconds ?? null;
}

/** Deliveries, newest first; of one request when `requestId` is given. */
export async function listDeliveries(
  database: Queryable,
  { requestId, limit = 1000 }: { requestId?: string; limit?: number } = {},
): Promise<DeliveryRow[]> {
  const { rows } = await database.query<DeliveryRow>(
    `SELECT * FROM deliveries WHERE $1::text IS NULL OR request_id = $1
     ORDER BY id DESC LIMIT $2`,
    [requestId ?? null, limit],
  );
  return rows;
}

/**
 * A person sends a dead delivery again: due at once, with its full time before it is given up.
 * @throws SonogateError `not_found` when there is no dead delivery with this id.
 */
export function replayDelivery(
  database: Database,
  id: string,
  giveUpSeconds: number,
): Promise<DeliveryRow> {
  return database.transaction(async (tx) => {
    const row = await sendAgain(tx, id, ['dead'], giveUpSeconds);
    if (!row) throw new SonogateError('not_found', `No dead delivery has the id ${id}.`);
    return row;
  });
}

/** Makes a delivery that ended in one of `states` due at once; null when there is none. */
export async function sendAgain(
  tx: Queryable,
  id: string,
  states: readonly DeliveryState[],
  giveUpSeconds: number,
): Promise<DeliveryRow | null> {
  const { rows } = await tx.query<DeliveryRow>(
    `UPDATE deliveries SET state = 'pending', next_at = now(), ended_at = NULL,
       attempts_before = attempt, give_up_at = now() + make_interval(secs => $3)
     WHERE id = $1 AND state = ANY ($2::text[]) RETURNING *`,
    [id, states, giveUpSeconds],
  );
  const [row] = rows;
  if (row) await tx.query('SELECT pg_notify($1, $2)', [OUTBOX_CHANNEL, row.id]);
  return row ?? null;
}
