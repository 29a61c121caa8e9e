import type { Database } from '../database/port.ts';
import { SonogateError } from '../errors/catalogue.ts';
import { FINAL_STATUS } from './port.ts';
import type { StoredRequest } from './row.ts';
import { lockRequest, transition } from './transitions.ts';

/**
 * Ends a request whatever it is doing. The status changes here; the worker that runs it sees the
 * change and ends its child process, whose result nobody takes.
 * @throws SonogateError `not_found`, `already_finished`
 */
export function cancelRequest(
  database: Database,
  id: string,
  accountId: string | null,
  at: Date,
): Promise<StoredRequest> {
  return database.transaction(async (tx) => {
    const row = await lockRequest(tx, id);
    if (!row || (accountId !== null && row.account_id !== accountId)) {
      throw new SonogateError('not_found');
    }
    if (FINAL_STATUS.has(row.status)) {
      throw new SonogateError('already_finished', `The request has already ended: ${row.status}.`);
    }
    return transition(tx, id, 'canceled', { at });
  });
}
