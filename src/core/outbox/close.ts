import type { Closing } from '../../../pipelines/contract/withdrawal.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { COMMITMENT_REFUSED } from './commitment.ts';
import { type DeliveryRow, MAYBE_RECEIVED } from './deliveries.ts';
import type { DeliveryState } from './delivery.ts';
import { HELD_FOR_A_PERSON, lockDelivery } from './held.ts';

/**
 * Closes a delivery that is not being sent. Its last error and the time at which it failed are kept.
 * A PACS that refused to commit to an object might have it nevertheless.
 * @returns the delivery; null if it is being sent or has ended.
 */
export async function closeDelivery(
  tx: Queryable,
  id: string,
  closing: Closing,
): Promise<DeliveryRow | null> {
  const { rows } = await tx.query<DeliveryRow>(
    `UPDATE deliveries d SET state = 'closed', closed = $2::jsonb,
       ended_at = coalesce(ended_at, now()),
       maybe_received = ${MAYBE_RECEIVED} OR coalesce(code, '') = '${COMMITMENT_REFUSED.code}'
     WHERE id = $1 AND state IN ('pending', 'dead') RETURNING *`,
    [id, JSON.stringify(closing)],
  );
  return rows[0] ?? null;
}

/**
 * Closes a dead delivery at a person's request, because its receiver will never get it. A report in
 * the hold queue is not closed but rejected there, by those who may decide about it.
 * @throws SonogateError `not_found`; `delivery_not_closable` if it is not dead, or in the hold queue.
 */
export function closeByHand(
  database: Database,
  id: string,
  closing: Closing,
): Promise<DeliveryRow> {
  return database.transaction(async (tx) => {
    await lockDelivery(tx, id);
    const { rows } = await tx.query<{ state: DeliveryState; held: boolean }>(
      `SELECT state, ${HELD_FOR_A_PERSON} AS held FROM deliveries d WHERE id = $1`,
      [id],
    );
    const [found] = rows;
    if (!found) throw new SonogateError('not_found', `There is no delivery ${id}.`);
    if (found.held) {
      throw new SonogateError(
        'delivery_not_closable',
        `The report is held: reject it (npx sonogate hold reject ${id} --reason TEXT).`,
      );
    }
    const closed = found.state === 'dead' ? await closeDelivery(tx, id, closing) : null;
    if (closed) return closed;
    throw new SonogateError(
      'delivery_not_closable',
      `The delivery is ${found.state}; only a dead one can be closed.`,
    );
  });
}
