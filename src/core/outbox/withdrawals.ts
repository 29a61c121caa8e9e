import type {
  Closing,
  ReceiverState,
  Withdrawal,
  WithdrawalReceiver,
} from '../../../pipelines/contract/withdrawal.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { COMMITMENT_REFUSED } from './commitment.ts';
import { enqueueDeliveries, MAYBE_RECEIVED } from './deliveries.ts';
import {
  type Delivery,
  type DeliveryState,
  type SendOutcome,
  type StoredObject,
  TO_CLIENTS,
  WITHDRAWAL_OBJECT,
  WITHDRAWN_BY,
} from './delivery.ts';

/** Why a delivery was not sent although its state is `delivered`. */
export const NOT_SENT_WITHDRAWN = 'Not sent: the result was withdrawn';

/**
 * Ends every delivery of a withdrawn result that is not being sent. All its deliveries are locked
 * first, so that none of them is sent again or diverted at the same moment. A PACS that refused to
 * commit to an object may have it nevertheless. Closed deliveries stay closed. Notices to API clients
 * are still sent: they name the withdrawal.
 */
export async function endDeliveries(tx: Queryable, requestId: string): Promise<void> {
  await tx.query('SELECT 1 FROM deliveries WHERE request_id = $1 FOR UPDATE', [requestId]);
  await tx.query(
    `UPDATE deliveries d SET state = 'delivered', not_sent = true, ended_at = now(), code = NULL, detail = $2,
       maybe_received = ${MAYBE_RECEIVED} OR coalesce(code, '') = '${COMMITMENT_REFUSED.code}'
     WHERE request_id = $1 AND state IN ('pending', 'dead') AND kind NOT IN ${TO_CLIENTS}`,
    [requestId, NOT_SENT_WITHDRAWN],
  );
}

/** SQL condition: the destination of the delivery `d` of a result has or may have it. */
const MAY_HAVE_RESULT = `((d.state = 'delivered' AND NOT d.not_sent) OR ${MAYBE_RECEIVED})`;

/**
 * Creates a delivery that withdraws a result for each destination that has or may have it. It is
 * ordered with the deliveries of the study: those of a later revision are sent after it.
 */
export async function enqueueWithdrawals(
  tx: Queryable,
  requestId: string,
  giveUpSeconds: number,
): Promise<void> {
  const { rows } = await tx.query<{ kind: keyof typeof WITHDRAWN_BY; destination: string }>(
    `SELECT DISTINCT kind, destination FROM deliveries d
     WHERE request_id = $1 AND kind = ANY ($2::text[]) AND ${MAY_HAVE_RESULT}`,
    [requestId, Object.keys(WITHDRAWN_BY)],
  );
  const targets = rows.map(({ kind, destination }) => ({
    kind: WITHDRAWN_BY[kind],
    destination,
    object: WITHDRAWAL_OBJECT,
  }));
  await enqueueDeliveries(tx, requestId, targets, giveUpSeconds);
}

/** State at the receiver that follows from the state of the delivery that withdraws a result. */
const STATE_AT_RECEIVER = {
  pending: 'pending',
  sending: 'pending',
  delivered: 'withdrawn',
  dead: 'by_hand',
  closed: 'closed',
} as const satisfies Partial<Record<DeliveryState, ReceiverState>>;

/** Returns the state of a request's withdrawal at each receiver, by name. */
export async function withdrawalReceivers(
  database: Queryable,
  requestId: string,
): Promise<WithdrawalReceiver[]> {
  const { rows } = await database.query<{
    destination: string;
    /** A withdrawal cannot be diverted. */
    state: keyof typeof STATE_AT_RECEIVER;
    not_sent: boolean;
    closed: Closing | null;
  }>(
    `SELECT destination, state, not_sent, closed FROM deliveries
     WHERE request_id = $1 AND object = $2 ORDER BY destination`,
    [requestId, WITHDRAWAL_OBJECT],
  );
  return rows.map(({ destination, state, not_sent, closed }) => ({
    destination,
    state: state === 'delivered' && not_sent ? 'not_present' : STATE_AT_RECEIVER[state],
    ...(closed && { closed }),
  }));
}

/** Returns the withdrawal of a request's result. */
export async function withdrawalOf(database: Queryable, requestId: string): Promise<Withdrawal> {
  const { rows } = await database.query<{ withdrawal: Withdrawal | null }>(
    'SELECT withdrawal FROM requests WHERE id = $1',
    [requestId],
  );
  const withdrawal = rows[0]?.withdrawal;
  if (!withdrawal) throw new TypeError(`the result of ${requestId} is not withdrawn`);
  return withdrawal;
}

/** A delivery of DICOM objects that a PACS has or may have. */
export interface SentDelivery {
  object: string;
  resultRevision: number;
  /** The stored objects; null if they were not recorded. */
  stored: StoredObject[] | null;
}

/** Returns what the destination of a withdrawal has or may have of the result, oldest first. */
export async function sentTo(
  database: Queryable,
  { requestId, destination }: Pick<Delivery, 'requestId' | 'destination'>,
): Promise<SentDelivery[]> {
  const { rows } = await database.query<SentDelivery>(
    `SELECT object, result_revision AS "resultRevision", stored_objects AS stored
     FROM deliveries d
     WHERE request_id = $1 AND destination = $2 AND kind = 'dicom' AND ${MAY_HAVE_RESULT}
     ORDER BY id`,
    [requestId, destination],
  );
  return rows;
}

/** Outcome of a withdrawal at a receiver that has nothing of the result. */
export const NOT_PRESENT = {
  outcome: 'delivered',
  notSent: true,
  detail: 'The receiver has nothing of the result.',
} as const satisfies SendOutcome;
