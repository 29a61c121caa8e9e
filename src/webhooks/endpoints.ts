import type { Queryable } from '../database/port.ts';
import { newId } from '../requests/ids.ts';
import { GIVE_UP_SECONDS } from './schedule.ts';

/** An address that an account has its requests announced to. */
export interface WebhookEndpoint {
  id: string;
  account_id: string;
  url: string;
  /** First failure since the last success. */
  failing_since: Date | null;
  disabled_at: Date | null;
}

export async function findEndpoint(
  database: Queryable,
  id: string,
): Promise<WebhookEndpoint | null> {
  const { rows } = await database.query<WebhookEndpoint>(
    'SELECT * FROM webhook_endpoints WHERE id = $1',
    [id],
  );
  return rows[0] ?? null;
}

/** The endpoint of an address, made when the account uses it for the first time. */
export async function endpointFor(
  tx: Queryable,
  accountId: string,
  url: string,
): Promise<WebhookEndpoint> {
  const { rows } = await tx.query<WebhookEndpoint>(
    `INSERT INTO webhook_endpoints (id, account_id, url) VALUES ($1, $2, $3)
     ON CONFLICT (account_id, url) DO UPDATE SET url = EXCLUDED.url RETURNING *`,
    [newId('whe'), accountId, url],
  );
  const [endpoint] = rows;
  if (!endpoint) throw new Error('the webhook endpoint was not stored');
  return endpoint;
}

/** Whether deliveries to the address have been stopped. */
export async function isDisabled(
  database: Queryable,
  accountId: string,
  url: string,
): Promise<boolean> {
  const { rows } = await database.query(
    `SELECT 1 FROM webhook_endpoints
     WHERE account_id = $1 AND url = $2 AND disabled_at IS NOT NULL`,
    [accountId, url],
  );
  return rows.length > 0;
}

export async function noteSuccess(database: Queryable, id: string): Promise<void> {
  await database.query('UPDATE webhook_endpoints SET failing_since = NULL WHERE id = $1', [id]);
}

/** Notes a failure; five days without a success disable the endpoint, `gone` does so at once. */
export async function noteFailure(
  database: Queryable,
  id: string,
  now: Date,
  { gone }: { gone: boolean },
): Promise<void> {
  await database.query(
    `UPDATE webhook_endpoints SET failing_since = COALESCE(failing_since, $2),
       disabled_at = CASE WHEN $3 OR failing_since <= $4 THEN $2 ELSE disabled_at END
     WHERE id = $1`,
    [id, now, gone, new Date(now.getTime() - GIVE_UP_SECONDS * 1000)],
  );
}
