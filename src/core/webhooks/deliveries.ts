import type { Database, Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { type DeliveryRow, sendAgain } from '../outbox/deliveries.ts';
import type { Delivery, DeliveryState } from '../outbox/delivery.ts';
import { GIVE_UP_SECONDS } from './endpoints.ts';

/** The outcome of an attempt. */
export interface Answer {
  /** HTTP status; null if there was no response. */
  status: number | null;
  /** Number of bytes read. */
  bytes: number;
  /** The beginning of the response. */
  text: string | null;
  /** Why there was no response. */
  error: string | null;
}

/** A row of `webhook_attempts`, without the text of the response. */
interface AttemptRow {
  delivery_id: string;
  attempt: number;
  at: Date;
  status: number | null;
  duration_ms: number;
  answer_bytes: number;
  error: string | null;
}

/** Stores the outcome of an attempt. `duration` is in milliseconds. */
export async function saveAttempt(
  database: Queryable,
  { id, attempt }: Delivery,
  { at, duration, answer }: { at: Date; duration: number; answer: Answer },
): Promise<void> {
  await database.query(
    `INSERT INTO webhook_attempts
       (delivery_id, attempt, at, status, duration_ms, answer_bytes, answer, error)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (delivery_id, attempt) DO NOTHING`,
    // PostgreSQL text cannot contain NUL.
    [
      id,
      attempt,
      at,
      answer.status,
      duration,
      answer.bytes,
      answer.text?.replaceAll('\0', '\ufffd') ?? null,
      answer.error,
    ],
  );
}

async function listAttempts(
  database: Queryable,
  deliveryIds: readonly string[],
): Promise<AttemptRow[]> {
  const { rows } = await database.query<AttemptRow>(
    `SELECT delivery_id, attempt, at, status, duration_ms, answer_bytes, error
     FROM webhook_attempts WHERE delivery_id = ANY ($1::text[]) ORDER BY delivery_id, attempt`,
    [deliveryIds],
  );
  return rows;
}

export interface WebhookDelivery extends DeliveryRow {
  url: string;
  /** When the endpoint was disabled; null if it is enabled. */
  disabled_at: Date | null;
  attempts: AttemptRow[];
}

interface DeliveryQuery {
  accountId: string;
  /** True to list only deliveries for requests made with test keys. */
  testOnly?: boolean;
  id?: string | undefined;
  requestId?: string | undefined;
  state?: DeliveryState | undefined;
  limit: number;
  /** The id of the last delivery on the previous page. */
  cursor?: string | undefined;
}

const OF_TEST_KEY = 'EXISTS (SELECT 1 FROM requests r WHERE r.id = d.request_id AND r.test)';

/** Lists the webhook deliveries of an account, newest first, with their attempts. */
export async function listWebhookDeliveries(
  database: Queryable,
  { accountId, testOnly = false, id, requestId, state, limit, cursor }: DeliveryQuery,
): Promise<{ rows: WebhookDelivery[]; nextCursor: string | null }> {
  const { rows } = await database.query<Omit<WebhookDelivery, 'attempts'>>(
    `SELECT d.*, e.url, e.disabled_at FROM deliveries d
       JOIN webhook_endpoints e ON e.id = d.destination
     WHERE d.kind = 'webhook' AND e.account_id = $1 AND ($2::text IS NULL OR d.id = $2)
       AND ($3::text IS NULL OR d.request_id = $3) AND ($4::text IS NULL OR d.state = $4)
       AND ($5::text IS NULL OR d.id < $5) AND (NOT $7 OR ${OF_TEST_KEY})
     ORDER BY d.id DESC LIMIT $6`,
    [accountId, id ?? null, requestId ?? null, state ?? null, cursor ?? null, limit + 1, testOnly],
  );
  const page = rows.slice(0, limit);
  const ids = page.map((row) => row.id);
  const attempts = Map.groupBy(await listAttempts(database, ids), (made) => made.delivery_id);
  return {
    rows: page.map((row) => ({ ...row, attempts: attempts.get(row.id) ?? [] })),
    nextCursor: rows.length > page.length ? (page.at(-1)?.id ?? null) : null,
  };
}

/**
 * Sends a delivered, given-up or closed webhook again, under the same `webhook-id`, and re-enables a
 * disabled URL.
 * @param testOnly true if the caller has a test key.
 * @throws SonogateError `not_found`, also while the webhook is still being tried and, with
 * `testOnly`, if its request was not made with a test key.
 */
export function redeliver(
  database: Database,
  accountId: string,
  id: string,
  testOnly = false,
): Promise<WebhookDelivery> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query(
      `UPDATE webhook_endpoints e SET disabled_at = NULL, failing_since = NULL
       FROM deliveries d WHERE d.id = $1 AND d.kind = 'webhook' AND e.id = d.destination
         AND e.account_id = $2 AND d.state IN ('dead', 'delivered', 'closed')
         AND (NOT $3 OR ${OF_TEST_KEY}) RETURNING d.destination`,
      [id, accountId, testOnly],
    );
    if (rows.length === 0) {
      throw new SonogateError('not_found', 'There is no finished delivery with this id.');
    }
    await sendAgain(tx, id, ['dead', 'delivered', 'closed'], GIVE_UP_SECONDS);
    const { rows: again } = await listWebhookDeliveries(tx, { accountId, id, limit: 1 });
    return again[0] as WebhookDelivery;
  });
}
