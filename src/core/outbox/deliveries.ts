import type { Closing } from '../../../pipelines/contract/withdrawal.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { ERRORS, type ErrorCode, SonogateError } from '../../platform/errors/catalogue.ts';
import { newId } from '../../platform/ids.ts';
import { probeNow } from './breaker.ts';
import {
  DELIVERY_KINDS,
  type Delivery,
  type DeliveryKind,
  type DeliveryState,
  type DeliveryTarget,
  type ForwardKind,
  NOTICES,
  OUTBOX_CHANNEL,
  type SendOutcome,
  type StoredObject,
  TO_CLIENTS,
  WITHDRAWALS,
} from './delivery.ts';

/**
 * Deliveries of one study to one destination are sent in this order: by revision of the study;
 * within it, by signed revision of the result; within that, images first, then structured reports,
 * which refer to them, and then objects that may refer to a report (key objects, presentation
 * states, documents). Deliveries of the same rank are not ordered.
 */
const RANK = { receivedObject: 0, structuredReport: 1, other: 2 } as const;

export function rankOf(kind: DeliveryKind, object: string): number {
  if (DELIVERY_KINDS[kind].carries === 'received_object') return RANK.receivedObject;
  return object.startsWith('sr-') ? RANK.structuredReport : RANK.other;
}

/**
 * An object that a peer cannot accept must not delay the other objects of its study. After this
 * number of failures that the object itself may have caused, later deliveries may therefore
 * overtake its delivery. Failures of a peer that accepts nothing at all are not counted. A dead
 * delivery delays no other.
 */
export const OVERTAKEN_AFTER_FAILURES = 3;

/**
 * SQL condition: true if the delivery `d` need not wait for an earlier one. A withdrawal waits only
 * while another delivery of the same result is being sent, so that it arrives after that delivery.
 */
export const NOTHING_AHEAD = `(
  NOT EXISTS (SELECT 1 FROM deliveries ahead
    WHERE ahead.destination = d.destination AND ahead.study = d.study AND d.study IS NOT NULL
      AND ahead.state IN ('pending', 'sending')
      AND (ahead.revision, ahead.result_revision, ahead.rank) < (d.revision, d.result_revision, d.rank)
      AND ahead.own_failures < ${OVERTAKEN_AFTER_FAILURES} AND d.kind NOT IN ${WITHDRAWALS})
  AND NOT (d.kind IN ${WITHDRAWALS} AND EXISTS (SELECT 1 FROM deliveries ahead
    WHERE ahead.request_id = d.request_id AND ahead.destination = d.destination
      AND ahead.state = 'sending' AND ahead.id <> d.id)))`;

export interface DeliveryRow {
  id: string;
  /** Id of the request; null for a received object forwarded unchanged. */
  request_id: string | null;
  kind: DeliveryKind;
  destination: string;
  object: string;
  state: DeliveryState;
  attempt: number;
  /** Number of attempts made before a person last replayed the delivery. */
  attempts_before: number;
  /**
   * Number of attempts that were lost because our own process stopped or its database failed, since
   * a person last replayed the delivery. They do not count in the retry schedule.
   */
  lost_attempts: number;
  next_at: Date;
  give_up_at: Date;
  /** Error code of the last failure; null if there was none. */
  code: ErrorCode | null;
  detail: string | null;
  /** True if nothing was sent although the state is `delivered`; `detail` states the reason. */
  not_sent: boolean;
  created_at: Date;
  ended_at: Date | null;
  /**
   * When the PACS committed to keeping the objects. Null until then, and if storage commitment is
   * not requested.
   */
  committed_at: Date | null;
  /** Our own id of the study, and its revision; null if there is no study. */
  study: string | null;
  revision: number | null;
  /**
   * True if an attempt before the last one ended without a clear response, so the destination may
   * have the object.
   */
  maybe_received: boolean;
  /** Signed revision of the result; 0 for the draft. */
  result_revision: number;
  rank: number;
  /** Number of failures that the object itself may have caused. */
  own_failures: number;
  /** Id of the delivery to another destination that this delivery replaces. */
  alternate_of: string | null;
  /** Who closed the delivery, when and why; null unless its state is `closed`. */
  closed: Closing | null;
}

/**
 * Creates the deliveries of a request. Existing deliveries are not changed.
 * @param resultRevision the signed revision of the result to send; 0 for the draft.
 */
export async function enqueueDeliveries(
  tx: Queryable,
  requestId: string,
  targets: readonly DeliveryTarget[],
  giveUpSeconds: number,
  resultRevision = 0,
): Promise<void> {
  for (const { kind, destination, object } of targets) {
    await tx.query(
      `INSERT INTO deliveries (id, request_id, kind, destination, object, study, revision, rank,
         give_up_at, result_revision)
       SELECT $1, id, $3, $4, $5, CASE WHEN $3 NOT IN ${NOTICES} THEN source ->> 'study' END,
         (source ->> 'revision')::integer, $6, now() + make_interval(secs => $7), $8
       FROM requests WHERE id = $2
       ON CONFLICT (request_id, destination, object, result_revision) DO NOTHING`,
      [
        newId(kind === 'webhook' ? 'whd' : 'dlv'),
        requestId,
        kind,
        destination,
        object,
        rankOf(kind, object),
        giveUpSeconds,
        resultRevision,
      ],
    );
  }
  if (targets.length > 0) await tx.query('SELECT pg_notify($1, $2)', [OUTBOX_CHANNEL, requestId]);
}

interface ForwardedObject {
  instance: string;
  /** Our own id of its study, and the revision in which it arrived. */
  study: string;
  revision: number;
}

/**
 * Creates the deliveries that forward received objects. Each object is sent to each destination
 * once.
 */
export async function enqueueForwards(
  tx: Queryable,
  objects: readonly ForwardedObject[],
  destinations: readonly string[],
  giveUpSeconds: number,
  kind: ForwardKind = 'forward',
): Promise<void> {
  const rows = destinations.flatMap((destination) =>
    objects.map((object) => ({ ...object, id: newId('dlv'), destination })),
  );
  await tx.query(
    `INSERT INTO deliveries (id, request_id, kind, destination, object, study, revision, rank,
       give_up_at)
     SELECT id, NULL, $4, destination, instance, study, revision, $2,
       now() + make_interval(secs => $3)
     FROM jsonb_to_recordset($1::jsonb) AS object
       (id text, destination text, instance text, study text, revision integer)
     ON CONFLICT (object, destination) WHERE request_id IS NULL DO NOTHING`,
    [JSON.stringify(rows), rankOf(kind, ''), giveUpSeconds, kind],
  );
  if (destinations.length > 0) await tx.query('SELECT pg_notify($1, $2)', [OUTBOX_CHANNEL, '']);
}

/**
 * SQL condition of every statement that records the outcome of an attempt. It names the attempt, so
 * that an attempt whose lease has expired can no longer change the row.
 */
const OWN = `id = $1 AND attempt = $2 AND state = 'sending'`;

/**
 * Records that the peer has confirmed a delivery.
 * @returns false if the delivery no longer belongs to this attempt and will be sent again.
 */
export function markDelivered(
  database: Database,
  { id, attempt, destination, kind }: Delivery,
  {
    detail,
    notSent = false,
    objects = [],
    commits = false,
  }: Extract<SendOutcome, { outcome: 'delivered' }>,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `UPDATE deliveries SET state = 'delivered', ended_at = now(), lease_until = NULL,
         code = NULL, detail = $3, not_sent = $4, committed_at = NULL,
         stored_objects = $5::jsonb WHERE ${OWN}`,
      [id, attempt, detail, notSent, kind === 'dicom' ? storedObjects(objects) : null],
    );
    if (rowCount !== 1) {
      // If the connection was lost during the commit, the outcome may be stored already.
      const { rows } = await tx.query(
        `SELECT 1 FROM deliveries WHERE id = $1 AND attempt = $2 AND state = 'delivered'`,
        [id, attempt],
      );
      return rows.length > 0;
    }
    for (const { sopClassUid, sopInstanceUid } of commits ? objects : []) {
      await tx.query(
        `INSERT INTO delivered_objects (delivery_id, destination, sop_class_uid, sop_instance_uid)
         VALUES ($1, $2, $3, $4)
         ON CONFLICT (delivery_id, sop_instance_uid) DO UPDATE SET transaction_uid = NULL,
           asked_at = NULL, ask_at = NULL, failed_asks = 0, committed_at = NULL,
           failure_reason = NULL`,
        [id, destination, sopClassUid, sopInstanceUid],
      );
    }
    return true;
  });
}

function storedObjects(objects: readonly StoredObject[]): string {
  return JSON.stringify(
    objects.map(({ sopClassUid, sopInstanceUid }) => ({ sopClassUid, sopInstanceUid })),
  );
}

/**
 * Ends a delivery that is not attempted again.
 * @returns `dead`; null if the delivery no longer belongs to this attempt.
 */
export async function markDead(
  database: Queryable,
  { id, attempt }: Delivery,
  code: ErrorCode,
  detail: string,
): Promise<'dead' | null> {
  const { rowCount } = await database.query(
    `UPDATE deliveries SET state = 'dead', ended_at = now(), lease_until = NULL,
       code = $3, detail = $4 WHERE ${OWN}`,
    [id, attempt, code, detail],
  );
  return rowCount === 1 ? 'dead' : null;
}

/**
 * Releases a delivery whose attempt was interrupted on our side, because the gateway is stopping or
 * its database is unreachable. The delivery is due again in `waitSeconds`, and the attempt does not
 * count.
 * @param failure the error of the interrupted attempt, recorded because the peer may have the
 * object; null if there was none.
 */
export async function releaseDelivery(
  database: Queryable,
  { id, attempt }: Delivery,
  failure: { code: ErrorCode; detail: string } | null,
  waitSeconds: number,
): Promise<void> {
  await database.query(
    `UPDATE deliveries SET state = 'pending', lease_until = NULL,
       lost_attempts = lost_attempts + 1, next_at = now() + make_interval(secs => $3),
       code = COALESCE($4, code), detail = COALESCE($5, detail) WHERE ${OWN}`,
    [id, attempt, waitSeconds, failure?.code ?? null, failure?.detail ?? null],
  );
}

/**
 * Reschedules a failed delivery in `waitSeconds`, or ends it once it has been retried for the
 * longest allowed time.
 * @param own true if the object itself may have caused the failure.
 * @returns the new state of the delivery; null if it no longer belongs to this attempt.
 */
export async function rescheduleDelivery(
  database: Queryable,
  { id, attempt }: Delivery,
  { code, detail, own }: { code: ErrorCode; detail: string; own: boolean },
  waitSeconds: number,
): Promise<DeliveryState | null> {
  const { rows } = await database.query<{ state: DeliveryState }>(
    `UPDATE deliveries SET lease_until = NULL, code = $3, detail = $4,
       own_failures = own_failures + CASE WHEN $6::boolean THEN 1 ELSE 0 END,
       state = CASE WHEN give_up_at <= now() THEN 'dead' ELSE 'pending' END,
       ended_at = CASE WHEN give_up_at <= now() THEN now() END,
       next_at = now() + make_interval(secs => $5)
     WHERE ${OWN} RETURNING state`,
    [id, attempt, code, detail, waitSeconds, own],
  );
  return rows[0]?.state ?? null;
}

/**
 * Ends the deliveries to a destination with an open breaker that have waited longer than allowed.
 * @returns their ids.
 */
export async function endOverdue(
  database: Queryable,
  destination: string,
  code: ErrorCode,
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `UPDATE deliveries SET state = 'dead', ended_at = now(), code = COALESCE(code, $2)
     WHERE destination = $1 AND state = 'pending' AND give_up_at <= now() RETURNING id`,
    [destination, code],
  );
  return rows.map(({ id }) => id);
}

/** Holds every delivery to a destination that asked for a pause. */
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
 * Ends the hold on a destination. Called when a person sends a delivery again, which means that the
 * destination should work again.
 */
async function liftHold(tx: Queryable, destination: string): Promise<void> {
  await tx.query('DELETE FROM destination_holds WHERE destination = $1', [destination]);
}

/** Error codes after which the destination may have the object. */
const AMBIGUOUS = Object.entries(ERRORS).flatMap(([code, entry]) =>
  'retry' in entry && entry.retry === 'ambiguous' ? [code] : [],
);

/**
 * SQL condition: the destination of the delivery `d` may have its object, because an attempt is in
 * progress or ended without a clear response.
 */
export const MAYBE_RECEIVED = `(d.maybe_received OR d.state = 'sending'
  OR coalesce(d.code, '') IN (${AMBIGUOUS.map((code) => `'${code}'`).join()}))`;

/** A revision of a result that a destination has, or may have. */
export interface ReceivedRevision {
  request: string;
  revision: number;
  /** True if the destination confirmed that it has the revision. */
  confirmed: boolean;
}

/**
 * Returns what the destination of a delivery has already received, or may have received, as the
 * same kind of object: revisions of the results of these requests, newest first. The delivery
 * itself is left out.
 */
export async function receivedRevisions(
  database: Queryable,
  { id, destination, object }: Delivery,
  requestIds: readonly string[],
): Promise<ReceivedRevision[]> {
  const { rows } = await database.query<ReceivedRevision>(
    `SELECT request_id AS request, result_revision AS revision,
       state = 'delivered' AND NOT not_sent AS confirmed
     FROM deliveries d
     WHERE request_id = ANY ($2::text[]) AND destination = $3 AND object = $4 AND id <> $1
       AND ((state = 'delivered' AND NOT not_sent) OR ${MAYBE_RECEIVED})
     ORDER BY created_at DESC, id DESC`,
    [id, requestIds, destination, object],
  );
  return rows;
}

/** Filter for a list of deliveries. An absent field matches every delivery. */
export interface DeliveryFilter {
  id?: string | undefined;
  requestId?: string | undefined;
  destination?: string | undefined;
  state?: DeliveryState | undefined;
  /** Error code of the last failure. */
  code?: string | undefined;
  limit?: number | undefined;
}

/**
 * Lists deliveries, newest first. An id consists of a prefix, which is different for webhooks, and
 * a part that sorts by time. The two kinds of id are therefore read separately, each through the
 * index.
 */
export async function listDeliveries(
  database: Queryable,
  { id, requestId, destination, state, code, limit = 1000 }: DeliveryFilter = {},
): Promise<DeliveryRow[]> {
  const newest = (ids: string) => `(SELECT * FROM deliveries
     WHERE ${ids} AND ($1::text IS NULL OR request_id = $1)
       AND ($2::text IS NULL OR destination = $2) AND ($3::text IS NULL OR state = $3)
       AND ($4::text IS NULL OR code = $4) AND ($6::text IS NULL OR id = $6)
     ORDER BY id DESC LIMIT $5)`;
  const { rows } = await database.query<DeliveryRow>(
    `SELECT * FROM (${newest("id < 'whd_'")} UNION ALL ${newest("id >= 'whd_'")}) AS listed
     ORDER BY created_at DESC, id DESC LIMIT $5`,
    [requestId ?? null, destination ?? null, state ?? null, code ?? null, limit, id ?? null],
  );
  return rows;
}

/**
 * Sends a dead or closed delivery again at a person's request. It is due at once, and is again
 * retried for the full time before the gateway gives up.
 * @throws SonogateError `not_found` if there is no such delivery with this id; `result_withdrawn` if
 * its result was withdrawn.
 */
export function replayDelivery(
  database: Database,
  id: string,
  giveUpSeconds: number,
): Promise<DeliveryRow> {
  return database.transaction(async (tx) => {
    await requireDeliverable(tx, id);
    const row = await sendAgain(tx, id, ['dead', 'closed'], giveUpSeconds);
    if (!row) throw new SonogateError('not_found', `No dead or closed delivery has the id ${id}.`);
    return row;
  });
}

/**
 * SQL condition: the delivery `d` carries a result, or a notice about it to the hospital, and the
 * result was withdrawn. Nothing of it is sent any more.
 */
export const OF_WITHDRAWN_RESULT = `(d.kind NOT IN ${WITHDRAWALS} AND d.kind NOT IN ${TO_CLIENTS}
  AND EXISTS (SELECT 1 FROM requests r WHERE r.id = d.request_id AND r.withdrawal IS NOT NULL))`;

/** @throws SonogateError `result_withdrawn` if a delivery carries a withdrawn result. */
export async function requireDeliverable(database: Queryable, id: string): Promise<void> {
  const { rows } = await database.query(
    `SELECT 1 FROM deliveries d WHERE id = $1 AND ${OF_WITHDRAWN_RESULT}`,
    [id],
  );
  if (rows.length > 0) throw new SonogateError('result_withdrawn');
}

/** SQL: assignments that send a delivery again and retry it for `seconds` (a parameter). */
const againFor = (seconds: string) => `state = 'pending', next_at = now(), ended_at = NULL,
  attempts_before = attempt, lost_attempts = 0, own_failures = 0, closed = NULL,
  give_up_at = now() + make_interval(secs => ${seconds})`;

/**
 * Sends all dead deliveries to a destination again. Closed ones stay closed.
 * @returns the number of deliveries sent again.
 */
export function replayAll(
  database: Database,
  destination: string,
  giveUpSeconds: number,
): Promise<number> {
  return database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `UPDATE deliveries d SET ${againFor('$2')} WHERE destination = $1 AND state = 'dead'
         AND NOT ${OF_WITHDRAWN_RESULT}`,
      [destination, giveUpSeconds],
    );
    await liftHold(tx, destination);
    await probeNow(tx, destination);
    await tx.query('SELECT pg_notify($1, $2)', [OUTBOX_CHANNEL, destination]);
    return rowCount ?? 0;
  });
}

/**
 * Makes a delivery due at once if it is in one of `states`.
 * @returns the delivery; null if it is in any other state.
 */
export async function sendAgain(
  tx: Queryable,
  id: string,
  states: readonly DeliveryState[],
  giveUpSeconds: number,
): Promise<DeliveryRow | null> {
  const { rows } = await tx.query<DeliveryRow>(
    `UPDATE deliveries SET ${againFor('$3')}
     WHERE id = $1 AND state = ANY ($2::text[]) RETURNING *`,
    [id, states, giveUpSeconds],
  );
  const [row] = rows;
  if (row) {
    await liftHold(tx, row.destination);
    await probeNow(tx, row.destination);
    await tx.query('SELECT pg_notify($1, $2)', [OUTBOX_CHANNEL, row.id]);
  }
  return row ?? null;
}
