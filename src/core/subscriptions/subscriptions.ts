import type { Database, Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { newId } from '../../platform/ids.ts';
import type { Principal } from '../accounts/keys.ts';
import { enqueueDeliveries } from '../outbox/deliveries.ts';
import { OUTBOX_CHANNEL } from '../outbox/delivery.ts';
import { endpointFor, GIVE_UP_SECONDS } from '../webhooks/endpoints.ts';

/**
 * The events about which a client can be notified: the end of a request, a signature, a withdrawal,
 * and each critical flag.
 */
export const TOPICS = [
  'report-finished',
  'request-failed',
  'report-signed',
  'report-withdrawn',
  'critical-flag',
] as const;
export type Topic = (typeof TOPICS)[number];

/** How much of a result a notification contains (ValueSet backport-content-value-set). */
export const CONTENTS = ['empty', 'id-only', 'full-resource'] as const;
type Content = (typeof CONTENTS)[number];

/**
 * States of a subscription.
 *
 *   requested ──▶ active ◀──▶ error      after each notification: accepted, or not accepted
 *       └───────────────────────▲        the handshake failed; it is repeated like a notification
 *
 * From every state, a subscription becomes `off` at its end time, when its key ends or may no
 * longer retrieve the reports that it asks for, when its address is disabled or not permitted, or
 * when the site disables subscriptions.
 */
type SubscriptionStatus = 'requested' | 'active' | 'error' | 'off';

/** Maximum number of subscriptions of one key, including those that are off. */
export const MOST_SUBSCRIPTIONS = 20;
/** A shorter interval would make heartbeats the main traffic of the gateway. */
export const SHORTEST_HEARTBEAT_SECONDS = 60;

export interface NewSubscription {
  url: string;
  reason: string;
  topic: Topic;
  ofEndpoint: string | null;
  ofStudy: string | null;
  content: Content;
  headers: readonly string[];
  heartbeatSeconds: number | null;
  endsAt: Date | null;
  /** Base address that the client used to reach us. */
  address: string;
}

/** A row of `fhir_subscriptions`, with the URL of its endpoint. */
export interface Subscription {
  id: string;
  account_id: string;
  key_id: string;
  test: boolean;
  endpoint_id: string;
  status: SubscriptionStatus;
  error: string | null;
  reason: string;
  topic: Topic;
  of_endpoint: string | null;
  of_study: string | null;
  content: Content;
  headers: string[];
  heartbeat_seconds: number | null;
  ends_at: Date | null;
  address: string;
  events: number;
  url: string;
}

/** A handshake and a heartbeat are deliveries to a subscriber, but announce no event. */
const HANDSHAKE = 'handshake';
export const HEARTBEAT = 'heartbeat';

const SELECT = `SELECT s.*, e.url FROM fhir_subscriptions s
  JOIN webhook_endpoints e ON e.id = s.endpoint_id`;

/**
 * Stores a subscription and its handshake in one transaction.
 * @throws SonogateError `rate_limited` if the key has too many.
 */
export function createSubscription(
  database: Database,
  { accountId, keyId, test }: Principal,
  asked: NewSubscription,
  at: Date,
): Promise<Subscription> {
  return database.transaction(async (tx) => {
    // The key is locked, so that two concurrent requests cannot exceed the limit.
    await tx.query('SELECT 1 FROM api_keys WHERE id = $1 FOR UPDATE', [keyId]);
    const { rows } = await tx.query<{ made: number }>(
      'SELECT count(*)::int AS made FROM fhir_subscriptions WHERE key_id = $1',
      [keyId],
    );
    if ((rows[0]?.made ?? 0) >= MOST_SUBSCRIPTIONS) {
      const detail = `A key may have at most ${MOST_SUBSCRIPTIONS} subscriptions; delete one first.`;
      throw new SonogateError('rate_limited', detail);
    }
    const endpoint = await endpointFor(tx, accountId, asked.url);
    const id = newId('sub', at);
    await tx.query(
      `INSERT INTO fhir_subscriptions (id, account_id, key_id, test, endpoint_id, status, reason,
         topic, of_endpoint, of_study, content, headers, heartbeat_seconds, ends_at, address,
         created_at)
       VALUES ($1, $2, $3, $4, $5, 'requested', $6, $7, $8, $9, $10, $11::jsonb, $12, $13, $14, $15)`,
      [
        id,
        accountId,
        keyId,
        test,
        endpoint.id,
        asked.reason,
        asked.topic,
        asked.ofEndpoint,
        asked.ofStudy,
        asked.content,
        JSON.stringify(asked.headers),
        asked.heartbeatSeconds,
        asked.endsAt,
        asked.address,
        at,
      ],
    );
    await enqueueSignal(tx, id, HANDSHAKE);
    const made = await findSubscription(tx, id);
    if (!made) throw new Error('the subscription was not stored');
    return made;
  });
}

/**
 * Makes the handshake or a heartbeat due. Each of the two kinds always uses the same row, so that
 * heartbeats do not fill the table.
 */
async function enqueueSignal(
  tx: Queryable,
  id: string,
  object: typeof HANDSHAKE | typeof HEARTBEAT,
): Promise<void> {
  const { rows } = await tx.query<{ id: string }>(
    `INSERT INTO deliveries (id, request_id, kind, destination, object, give_up_at)
     VALUES ($1, NULL, 'subscription', $2, $3, now() + make_interval(secs => $4))
     ON CONFLICT (object, destination) WHERE request_id IS NULL DO UPDATE
       SET state = 'pending', next_at = now(), ended_at = NULL, lost_attempts = 0, closed = NULL,
         attempts_before = deliveries.attempt, give_up_at = EXCLUDED.give_up_at
     RETURNING id`,
    [newId('dlv'), id, object, GIVE_UP_SECONDS],
  );
  await tx.query('DELETE FROM webhook_attempts WHERE delivery_id = $1', [rows[0]?.id]);
  await tx.query('SELECT pg_notify($1, $2)', [OUTBOX_CHANNEL, id]);
}

export async function findSubscription(
  database: Queryable,
  id: string,
): Promise<Subscription | null> {
  const { rows } = await database.query<Subscription>(`${SELECT} WHERE s.id = $1`, [id]);
  return rows[0] ?? null;
}

/** Which subscriptions to list. A test key can list only those made with test keys. */
interface SubscriptionFilter {
  accountId: string;
  testOnly: boolean;
  id?: string | undefined;
  statuses?: readonly string[] | undefined;
  topic?: string | undefined;
  url?: string | undefined;
  limit: number;
  /** Id of the last subscription on the previous page. */
  cursor?: string | undefined;
}

/** Lists the subscriptions of an account, newest first. */
export async function listSubscriptions(
  database: Queryable,
  { accountId, testOnly, id, statuses, topic, url, limit, cursor }: SubscriptionFilter,
): Promise<{ rows: Subscription[]; nextCursor: string | null }> {
  const { rows } = await database.query<Subscription>(
    `${SELECT} WHERE s.account_id = $1 AND (s.test OR NOT $2) AND ($3::text IS NULL OR s.id = $3)
       AND ($4::text[] IS NULL OR s.status = ANY ($4)) AND ($5::text IS NULL OR s.topic = $5)
       AND ($6::text IS NULL OR e.url = $6) AND ($7::text IS NULL OR s.id < $7)
     ORDER BY s.id DESC LIMIT $8`,
    [
      accountId,
      testOnly,
      id ?? null,
      statuses ?? null,
      topic ?? null,
      url ?? null,
      cursor ?? null,
      limit + 1,
    ],
  );
  const page = rows.slice(0, limit);
  return { rows: page, nextCursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}

/** Deletes a subscription with its deliveries. */
export function deleteSubscription(database: Database, id: string): Promise<void> {
  return database.transaction(async (tx) => {
    await tx.query(`DELETE FROM deliveries WHERE kind = 'subscription' AND destination = $1`, [id]);
    await tx.query('DELETE FROM fhir_subscriptions WHERE id = $1', [id]);
  });
}

/**
 * Something that happened to a request. `object` distinguishes events with the same request and
 * topic.
 */
interface Happening {
  topic: Topic;
  object: string;
  /** Signed revision of the result; 0 for the draft. */
  resultRevision?: number;
}

/**
 * SQL condition: the subscription `s` covers the request `r`. The made-up flags and reports of the
 * mock pipeline concern only subscriptions made with test keys.
 */
const ASKS_FOR = `s.account_id = r.account_id AND s.test = r.test
  AND s.activated_at IS NOT NULL AND s.status IN ('active', 'error')
  AND (s.ends_at IS NULL OR s.ends_at > now())
  AND (s.of_endpoint IS NULL OR s.of_endpoint IN (r.endpoint, r.model))
  AND (s.of_study IS NULL OR s.of_study = r.files -> 0 -> 'archive' ->> 'studyInstanceUid'
    OR EXISTS (SELECT 1 FROM studies st WHERE st.id::text = r.source ->> 'study'
      AND st.study_instance_uid = s.of_study))`;

/**
 * Creates a notification for each subscription that covers the event, in the transaction of the
 * event. Each event is announced once, even if a request runs again after a crash.
 */
export async function notifySubscribers(
  tx: Queryable,
  requestId: string,
  { topic, object, resultRevision = 0 }: Happening,
): Promise<void> {
  const { rows } = await tx.query<{ id: string }>(
    `SELECT s.id FROM requests r JOIN fhir_subscriptions s ON ${ASKS_FOR}
     WHERE r.id = $1 AND s.topic = $2 ORDER BY s.id FOR UPDATE OF s`,
    [requestId, topic],
  );
  for (const { id: destination } of rows) {
    const target = { kind: 'subscription' as const, destination, object };
    await enqueueDeliveries(tx, requestId, [target], GIVE_UP_SECONDS, resultRevision);
    await tx.query(
      `WITH event AS (
         INSERT INTO fhir_subscription_events (subscription_id, number, delivery_id)
         SELECT s.id, s.events + 1, d.id FROM fhir_subscriptions s JOIN deliveries d
           ON d.destination = s.id AND d.request_id = $2 AND d.object = $3
             AND d.result_revision = $4
         WHERE s.id = $1
         ON CONFLICT (delivery_id) DO NOTHING RETURNING subscription_id, number)
       UPDATE fhir_subscriptions s SET events = event.number FROM event
       WHERE s.id = event.subscription_id`,
      [destination, requestId, object, resultRevision],
    );
  }
}

export interface SubscriptionEvent {
  number: number;
  at: Date;
  request_id: string;
  result_revision: number;
}

const SELECT_EVENT = `SELECT n.number, n.at, d.request_id, d.result_revision
  FROM fhir_subscription_events n JOIN deliveries d ON d.id = n.delivery_id`;

/** Returns the event that a delivery announces; null for a handshake or a heartbeat. */
export async function eventOf(
  database: Queryable,
  deliveryId: string,
): Promise<SubscriptionEvent | null> {
  const { rows } = await database.query<SubscriptionEvent>(
    `${SELECT_EVENT} WHERE n.delivery_id = $1`,
    [deliveryId],
  );
  return rows[0] ?? null;
}

/** Lists the events whose numbers are in a range, oldest first. */
export async function listEvents(
  database: Queryable,
  subscriptionId: string,
  { since, until, limit }: { since: number; until: number; limit: number },
): Promise<SubscriptionEvent[]> {
  const { rows } = await database.query<SubscriptionEvent>(
    `${SELECT_EVENT} WHERE n.subscription_id = $1 AND n.number BETWEEN $2 AND $3
     ORDER BY n.number LIMIT $4`,
    [subscriptionId, since, until, limit],
  );
  return rows;
}

/** Ends a subscription: no more notifications are sent, and waiting ones are given up. */
export async function turnOff(database: Queryable, id: string, why: string): Promise<void> {
  await database.query(
    `UPDATE fhir_subscriptions SET status = 'off', error = $2 WHERE id = $1 AND status <> 'off'`,
    [id, why],
  );
}

/** Ends every subscription, because subscriptions have been switched off for the installation. */
export async function turnAllOff(database: Queryable): Promise<void> {
  await database.query(
    `UPDATE fhir_subscriptions SET status = 'off', error = $1 WHERE status <> 'off'`,
    ['The site has disabled subscriptions.'],
  );
}

/**
 * Records the outcome of a notification.
 * @param failure why the notification was not accepted; null if it was accepted.
 */
export async function recordNotified(
  database: Queryable,
  id: string,
  failure: string | null,
  at: Date,
): Promise<void> {
  await database.query(
    `UPDATE fhir_subscriptions SET status = CASE WHEN $2::text IS NULL THEN 'active' ELSE 'error' END,
       error = $2, activated_at = CASE WHEN $2::text IS NULL THEN COALESCE(activated_at, $3)
         ELSE activated_at END,
       notified_at = CASE WHEN $2::text IS NULL THEN $3 ELSE notified_at END
     WHERE id = $1 AND status <> 'off'`,
    [id, failure, at],
  );
}

/** Ends subscriptions whose end time has passed, and makes the heartbeats of the others due. */
export async function keepSubscriptions(database: Database, at: Date): Promise<void> {
  await database.query(
    `UPDATE fhir_subscriptions SET status = 'off', error = NULL
     WHERE status <> 'off' AND ends_at <= $1`,
    [at],
  );
  const { rows } = await database.query<{ id: string }>(
    `SELECT id FROM fhir_subscriptions s
     WHERE status IN ('active', 'error') AND heartbeat_seconds IS NOT NULL
       AND notified_at + make_interval(secs => heartbeat_seconds) <= $1
       AND NOT EXISTS (SELECT 1 FROM deliveries d
         WHERE d.destination = s.id AND d.state IN ('pending', 'sending'))`,
    [at],
  );
  for (const { id } of rows) {
    await database.transaction((tx) => enqueueSignal(tx, id, HEARTBEAT));
  }
}
