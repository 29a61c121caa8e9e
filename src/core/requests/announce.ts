import type { Queryable } from '../../platform/database/port.ts';
import { enqueueDeliveries } from '../outbox/deliveries.ts';
import { endpointFor, GIVE_UP_SECONDS } from '../webhooks/endpoints.ts';
import type { RequestRow, RequestStatus, WebhookShape } from './request.ts';
import type { RequestObject } from './view.ts';

export const WEBHOOK_EVENTS = ['request.succeeded', 'request.failed'] as const;
type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/**
 * The webhook event for each final status. A request that was canceled or has expired is not
 * announced.
 */
const EVENT_OF: Partial<Record<RequestStatus, WebhookEvent>> = {
  succeeded: 'request.succeeded',
  failed: 'request.failed',
  rejected: 'request.failed',
};

/**
 * Creates the webhook delivery of a request that has just ended, in the transaction that ends it.
 */
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

/**
 * Maximum length of a webhook body in bytes: Standard Webhooks asks for small payloads. The client
 * fetches a longer result from `urls.self`.
 */
export const MAX_BODY_BYTES = 20_000;

/** The JSON text that announces the end of a request. */
export function webhookBody(request: RequestObject, shape: WebhookShape): string {
  const whole = JSON.stringify(shape === 'queue' ? queueMessage(request) : request);
  if (fits(whole)) return whole;
  if (shape === 'queue') {
    return JSON.stringify({
      ...queueMessage({ ...request, output: null }),
      payload_error: 'The result is too large for a webhook; fetch it from the request.',
    });
  }
  const thin = { ...request, output: null, output_omitted: true };
  const text = JSON.stringify(thin);
  if (fits(text)) return text;
  return JSON.stringify({ ...thin, input: null, input_omitted: true });
}

function fits(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_BODY_BYTES;
}

/** The message of the compatible queue, as `@fal-ai/client` types it. */
function queueMessage({ id, status, output, error }: RequestObject) {
  return {
    request_id: id,
    gateway_request_id: id,
    // `expired` counts as `OK`, because a request only expires after it has succeeded.
    status: status === 'succeeded' || status === 'expired' ? 'OK' : 'ERROR',
    payload: output ?? null,
    ...(error && { error: error.detail }),
    ...(status === 'expired' && { payload_error: 'The result has been purged.' }),
  };
}
