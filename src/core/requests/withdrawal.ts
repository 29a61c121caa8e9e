import type { Withdrawal, WithdrawalReason } from '../../../pipelines/contract/withdrawal.ts';
import type { AlsoStored, Database, Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { endDeliveries, enqueueWithdrawals } from '../outbox/withdrawals.ts';
import { announceWithdrawn } from './announce.ts';
import { appendEvents } from './events.ts';
import { requireNoIdentifiers } from './identifiers.ts';
import type { RequestRow, StoredRequest } from './request.ts';
import { lockRequest } from './transitions.ts';

/** Who withdraws a result, and why. */
export interface WithdrawCommand {
  person: string;
  reason: WithdrawalReason;
  text: string | null;
}

/**
 * Withdraws the result of a request: the draft and every signed revision. In one transaction, the
 * deliveries that have not begun are ended, and each receiver that has or may have the result gets a
 * delivery that withdraws it there. A delivery that is being sent cannot be stopped; the withdrawal
 * is sent after it. Withdrawing a result again changes nothing.
 * @param also stored in the same transaction.
 * @throws SonogateError `not_found`; `no_result` if the request has never had a result.
 * @throws InvalidInputError if the text identifies somebody: receivers get it.
 */
export async function withdrawResult(
  database: Database,
  id: string,
  { person, reason, text }: WithdrawCommand,
  { at, giveUpSeconds, also = async () => {} }: WithdrawParts,
): Promise<WithdrawnRequest> {
  requireNoIdentifiers(text ?? '', '/text');
  return database.transaction(async (tx) => {
    const row = await lockRequest(tx, id);
    if (!row) throw new SonogateError('not_found', `There is no request ${id}.`);
    await also(tx);
    if (row.withdrawal !== null) return { ...row, withdrawal: row.withdrawal };
    if (row.status !== 'succeeded' && row.status !== 'expired') {
      throw new SonogateError('no_result', `The request is ${row.status}.`);
    }
    const withdrawal: Withdrawal = { at: at.toISOString(), by: person, reason, text };
    await tx.query('UPDATE requests SET withdrawal = $2::jsonb WHERE id = $1', [
      id,
      JSON.stringify(withdrawal),
    ]);
    await endDeliveries(tx, id);
    await enqueueWithdrawals(tx, id, giveUpSeconds);
    await appendEvents(tx, id, at, [{ name: 'withdrawn', data: withdrawal }]);
    const withdrawn = { ...row, withdrawal };
    await announceWithdrawn(tx, withdrawn);
    return withdrawn;
  });
}

type WithdrawnRequest = StoredRequest & { withdrawal: Withdrawal };

interface WithdrawParts {
  at: Date;
  /** Seconds for which the withdrawal is retried at each receiver. */
  giveUpSeconds: number;
  also?: AlsoStored | undefined;
}

/** @throws SonogateError `result_withdrawn` if the result of the request is withdrawn. */
export function requireInForce({ withdrawal }: Pick<RequestRow, 'withdrawal'>): void {
  if (withdrawal) throw new SonogateError('result_withdrawn');
}

/**
 * Locks the request, so that its result cannot be withdrawn until `tx` ends.
 * @throws SonogateError `result_withdrawn` if it is already withdrawn.
 */
export async function requireNotWithdrawn(tx: Queryable, id: string): Promise<void> {
  const row = await lockRequest(tx, id);
  if (row) requireInForce(row);
}
