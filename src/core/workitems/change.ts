import type { JsonDataSet } from '../../../pipelines/dicom/dicom-json.ts';
import type { Database } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import type { RequestCore } from '../requests/core.ts';
import { lockRequest } from '../requests/transitions.ts';
import type { Cancellation } from './workitem.ts';

/**
 * Changes a workitem's attributes while it is scheduled (PS3.4 CC.2.6).
 * @returns false if its step has begun.
 */
export function updateWorkitem(
  database: Database,
  requestId: string,
  { attributes, startAt, at }: { attributes: JsonDataSet; startAt: Date | null; at: Date },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const row = await lockRequest(tx, requestId);
    if (row?.status !== 'queued') return false;
    await tx.query(
      `INSERT INTO workitems AS kept (request_id, attributes, start_at, changed_at)
       VALUES ($1, $2, $3, $4)
       ON CONFLICT (request_id) DO UPDATE SET attributes = kept.attributes || excluded.attributes,
         start_at = coalesce(excluded.start_at, kept.start_at), changed_at = excluded.changed_at`,
      [requestId, JSON.stringify(attributes), startAt, at],
    );
    return true;
  });
}

/**
 * Cancels the request of a workitem. The reason is stored first, so that every client that sees the
 * canceled step also sees the reason.
 * @throws SonogateError `already_finished`
 */
export async function cancelWorkitem(
  { database, core }: { database: Database; core: Pick<RequestCore, 'cancel'> },
  { requestId, accountId }: { requestId: string; accountId: string },
  cancellation: Cancellation,
  at: Date,
): Promise<void> {
  await database.query(
    `INSERT INTO workitems (request_id, cancellation, changed_at)
     SELECT id, $2, $3 FROM requests WHERE id = $1 AND status IN ('queued', 'preparing', 'running')
     ON CONFLICT (request_id) DO UPDATE SET cancellation = excluded.cancellation,
       changed_at = excluded.changed_at`,
    [requestId, JSON.stringify(cancellation), at],
  );
  try {
    await core.cancel(requestId, accountId);
  } catch (error) {
    if (error instanceof SonogateError && error.code === 'already_finished') {
      // The cancellation failed, so its reason is removed, unless someone else canceled the
      // request.
      await database.query(
        `UPDATE workitems w SET cancellation = NULL FROM requests r
         WHERE r.id = w.request_id AND r.id = $1 AND r.status <> 'canceled'`,
        [requestId],
      );
    }
    throw error;
  }
}
