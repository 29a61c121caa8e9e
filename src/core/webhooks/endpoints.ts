import type { Queryable } from '../../platform/database/port.ts';
import { newId } from '../../platform/ids.ts';

const MINUTE = 60;
const HOUR = 3600;

/** Seconds to wait after each failed attempt: ten attempts in 75 hours (Standard Webhooks). */
const WAITS = [
  5,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

export const LONGEST_WAIT_SECONDS = Math.max(...WAITS);

const JITTER = 0.1;

/**
 * Seconds without any success after which a URL is disabled. No delivery is retried for longer than
 * this.
 */
export const GIVE_UP_SECONDS = 5 * 24 * HOUR;

/**
 * Returns the seconds until the next attempt after `tries` failed ones, varied by up to a tenth;
 * null if that was the last attempt. `random` is uniform in [0, 1).
 */
export function retryWait(tries: number, random: number): number | null {
  const wait = WAITS[tries - 1];
  return wait === undefined ? null : wait * (1 + JITTER * (2 * random - 1));
}

/** A URL that receives webhooks for an account's requests. */
export interface WebhookEndpoint {
  id: string;
  account_id: string;
  url: string;
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

/** Returns the endpoint for a URL, creating it when the account first uses it. */
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

/** Returns true if deliveries to the URL have been stopped. */
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

export async function recordSuccess(database: Queryable, id: string): Promise<void> {
  await database.query('UPDATE webhook_endpoints SET failing_since = NULL WHERE id = $1', [id]);
}

/**
 * Records a failure. Five days without a success disable the endpoint; `gone` disables it at once.
 */
export async function recordFailure(
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
