import { CONTENT_ENDPOINT } from '../../../pipelines/contract/content.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { enqueueDeliveries } from '../outbox/deliveries.ts';
import { notifySubscribers, type Topic } from '../subscriptions/subscriptions.ts';
import { endpointFor, GIVE_UP_SECONDS } from '../webhooks/endpoints.ts';
import type { TriageData } from './events.ts';
import type { RequestRow, RequestStatus, WebhookShape } from './request.ts';
import type { RequestObject } from './view.ts';

/**
 * `request.triage`, `request.verified` and `request.withdrawn` are extensions. A client receives them
 * only if it subscribes to them by name.
 */
export const WEBHOOK_EVENTS = [
  'request.succeeded',
  'request.failed',
  'request.triage',
  'request.verified',
  'request.withdrawn',
] as const;

/** The events for a client that does not list any. Every receiver knows these events. */
export const DEFAULT_WEBHOOK_EVENTS = ['request.succeeded', 'request.failed'] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** The webhook event for each final status. Canceled and expired requests are not announced. */
const EVENT_OF: Partial<Record<RequestStatus, WebhookEvent>> = {
  succeeded: 'request.succeeded',
  failed: 'request.failed',
  rejected: 'request.failed',
};

const TOPIC_OF = {
  'request.succeeded': 'report-finished',
  'request.failed': 'request-failed',
  'request.triage': 'critical-flag',
  'request.verified': 'report-signed',
  'request.withdrawn': 'report-withdrawn',
} as const satisfies Record<WebhookEvent, Topic>;

/**
 * Creates the webhook delivery and the subscriber notifications for an event, in the transaction of
 * that event.
 * @param object the event, with what it concerns if a request can have several such events.
 */
async function announce(
  tx: Queryable,
  { id, account_id, webhook, endpoint: of }: RequestRow,
  event: WebhookEvent,
  { object = event, resultRevision = 0 }: { object?: string; resultRevision?: number } = {},
): Promise<void> {
  // Image classification is an internal step, not a report.
  if (of !== CONTENT_ENDPOINT) {
    await notifySubscribers(tx, id, { topic: TOPIC_OF[event], object, resultRevision });
  }
  if (!webhook?.events.includes(event) || account_id === null) return;
  const endpoint = await endpointFor(tx, account_id, webhook.url);
  const target = { kind: 'webhook' as const, destination: endpoint.id, object };
  await enqueueDeliveries(tx, id, [target], GIVE_UP_SECONDS, resultRevision);
}

/** Announces that a request has just ended. */
export async function announceEnd(tx: Queryable, request: RequestRow): Promise<void> {
  const event = EVENT_OF[request.status];
  if (event) await announce(tx, request, event);
}

export const announceVerified = (
  tx: Queryable,
  request: RequestRow,
  resultRevision: number,
): Promise<void> => announce(tx, request, 'request.verified', { resultRevision });

export const announceWithdrawn = (tx: Queryable, request: RequestRow): Promise<void> =>
  announce(tx, request, 'request.withdrawn');

/**
 * Announces a critical flag. Each flag of a request is announced once, even if the request runs
 * again after a crash.
 */
export const announceFlag = (
  tx: Queryable,
  request: RequestRow,
  { section, code }: { section: string; code: string },
): Promise<void> =>
  announce(tx, request, 'request.triage', { object: `request.triage ${section} ${code}` });

/** Returns the event that a delivery announces: the first word of `object`. */
export function webhookEvent(object: string): WebhookEvent | undefined {
  return WEBHOOK_EVENTS.find((event) => event === object.split(' ')[0]);
}

/**
 * What a webhook carries in addition to the request: the event that caused it, and the flags raised
 * so far.
 */
interface Announcement {
  event: WebhookEvent;
  triage: readonly TriageData[];
}

/**
 * Maximum length of a webhook body in bytes. Standard Webhooks recommends small payloads; clients
 * fetch longer results from `urls.self`.
 */
export const MAX_BODY_BYTES = 20_000;

/**
 * Returns the JSON text of a webhook. If it is longer than `MAX_BODY_BYTES`, `output` is omitted
 * and, if that is not enough, `input` too.
 */
export function webhookBody(
  request: RequestObject,
  shape: WebhookShape,
  announcement: Announcement,
): string {
  const told = { ...request, ...announcement };
  const whole = JSON.stringify(shape === 'queue' ? queueMessage(request) : told);
  if (fits(whole)) return whole;
  if (shape === 'queue') {
    return JSON.stringify({
      ...queueMessage({ ...request, output: null }),
      payload_error: 'The result is too large for a webhook; fetch it from the request.',
    });
  }
  const thin = { ...told, output: null, output_omitted: true };
  const text = JSON.stringify(thin);
  if (fits(text)) return text;
  return JSON.stringify({ ...thin, input: null, input_omitted: true });
}

function fits(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_BODY_BYTES;
}

/** Returns the message that the compatible queue sends, as typed in `@fal-ai/client`. */
function queueMessage({ id, status, output, error }: RequestObject) {
  return {
    request_id: id,
    gateway_request_id: id,
    // `expired` counts as `OK` because only a succeeded request can expire.
    status: status === 'succeeded' || status === 'expired' ? 'OK' : 'ERROR',
    payload: output ?? null,
    ...(error && { error: error.detail }),
    ...(status === 'expired' && { payload_error: 'The result has been purged.' }),
  };
}
