import type { Queryable } from '../../platform/database/port.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import type { OutboundClient } from '../../platform/outbound/client.ts';
import { findKey, mayRetrieveStudies } from '../accounts/keys.ts';
import type { WriteAudit } from '../audit/audit.ts';
import {
  type Deliverer,
  failed,
  type SendOutcome,
  type SubscriptionDelivery,
} from '../outbox/delivery.ts';
import { postMessage } from '../webhooks/deliver.ts';
import { findEndpoint, retryWait } from '../webhooks/endpoints.ts';
import {
  eventOf,
  findSubscription,
  HEARTBEAT,
  recordNotified,
  type Subscription,
  type SubscriptionEvent,
  turnOff,
} from './subscriptions.ts';

export type Notification =
  | { type: 'handshake' | 'heartbeat' }
  | { type: 'event-notification'; event: SubscriptionEvent };

interface SubscriptionParts {
  database: Queryable;
  /** Returns the body of a notification; null if its request no longer exists. */
  bodyOf(subscription: Subscription, notification: Notification): Promise<string | null>;
  contentType: string;
  client: OutboundClient;
  /** Writes an audit entry for each report that is sent with a patient's identity. */
  writeAudit: WriteAudit;
  logger: Logger;
  now?: () => Date;
}

/**
 * Posts notifications to the addresses of FHIR Subscriptions. They are sent, signed and retried in
 * the same way as webhooks.
 */
export function createSubscriptionDeliverer(parts: SubscriptionParts): Deliverer<'subscription'> {
  return {
    kind: 'subscription',
    retryWait,
    send: async (delivery, signal) => {
      const subscription = await findSubscription(parts.database, delivery.destination);
      if (!subscription || subscription.status === 'off')
        return over('The subscription has been switched off.');
      const outcome = await send(parts, delivery, subscription, signal);
      if (signal.aborted) return outcome;
      await record(parts, delivery, subscription, outcome);
      return outcome;
    },
  };
}

const over = (detail: string) => failed('webhook_disabled', detail);

async function send(
  parts: SubscriptionParts,
  delivery: SubscriptionDelivery,
  subscription: Subscription,
  signal: AbortSignal,
): Promise<SendOutcome> {
  const { database, now = () => new Date() } = parts;
  const { key_id: keyId, ends_at: endsAt } = subscription;
  if (endsAt && endsAt <= now()) return over('The subscription has ended.');
  const key = await findKey(database, keyId, now());
  const { account_id: accountId, test } = subscription;
  if (!key) return over('The key of the subscription is revoked or has expired.');
  if (
    subscription.content === 'full-resource' &&
    !mayRetrieveStudies({ accountId, test, scopes: key.scopes })
  ) {
    return over('The key of the subscription may no longer retrieve reports.');
  }
  const endpoint = await findEndpoint(database, subscription.endpoint_id);
  if (!endpoint || endpoint.disabled_at) return over('The address is disabled.');
  const notification = await notificationOf(database, delivery);
  const body = notification && (await parts.bodyOf(subscription, notification));
  if (body === null) return failed('not_found', 'The request no longer exists.');
  const headers = { ...clientHeaders(subscription.headers), 'content-type': parts.contentType };
  return postMessage(parts, delivery, endpoint, { headers, body }, signal);
}

async function notificationOf(
  database: Queryable,
  { id, requestId, object }: SubscriptionDelivery,
): Promise<Notification | null> {
  if (requestId === null) return { type: object === HEARTBEAT ? 'heartbeat' : 'handshake' };
  const event = await eventOf(database, id);
  return event && { type: 'event-notification', event };
}

/** Returns the headers supplied by the client as `Name: value`. */
function clientHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

async function record(
  { database, writeAudit, now = () => new Date() }: SubscriptionParts,
  { id, requestId, attempt }: SubscriptionDelivery,
  { id: subscription, account_id: accountId, key_id: keyId, content }: Subscription,
  outcome: SendOutcome,
): Promise<void> {
  const failed = outcome.outcome === 'failed';
  const ended = failed && ['webhook_disabled', 'url_not_permitted'].includes(outcome.code);
  if (ended) await turnOff(database, subscription, outcome.detail);
  // A failure caused by a purged request is not recorded, because it is no fault of the address.
  else if (!failed || outcome.code !== 'not_found') {
    await recordNotified(database, subscription, failed ? outcome.detail : null, now());
  }
  if (content !== 'full-resource' || requestId === null) return;
  await writeAudit({
    at: now(),
    accountId,
    keyId,
    action: 'report.sent',
    requestId,
    outcome: failed ? 'failed' : 'success',
    detail: { delivery: id, subscription, attempt, ...(failed && { code: outcome.code }) },
  });
}
