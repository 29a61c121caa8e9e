import type { Queryable } from '../database/port.ts';
import { enqueueDeliveries } from '../outbox/deliveries.ts';
import type { RequestStatus } from '../requests/port.ts';
import type { RequestRow } from '../requests/row.ts';
import { endpointFor } from './endpoints.ts';
import { GIVE_UP_SECONDS } from './schedule.ts';

export const WEBHOOK_EVENTS = ['request.succeeded', 'request.failed'] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** What is announced of each end; a request that was canceled or has expired announces nothing. */
const EVENT_OF: Partial<Record<RequestStatus, WebhookEvent>> = {
  succeeded: 'request.succeeded',
  failed: 'request.failed',
  rejected: 'request.failed',
};

/** Makes the webhook delivery of a request that has just ended, in the transaction that ends it. */
export async function announceEnd(
  tx: Queryable,
  { id, status, account_id, webhook }: RequestRow,
): Promise<void> {
  const event = EVENT_OF[status];
  if (!event || !webhook?.events.includes(event) || account_id === null) return;
  const endpoint = await endpointFor(tx, account_id, webhook.url);
  const target = { kind: 'webhook' as const, destination: endpoint.id, object: event };
  await enqueueDeliveries(tx, id, [target], GIVE_UP_SECONDS);
}
