import type { Dispatcher } from 'undici';
import { DatabaseUnreachableError } from '../../platform/database/pooled.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import type { OutboundClient } from '../../platform/outbound/client.ts';
import { retryAfterSeconds } from '../../platform/outbound/retry-after.ts';
import { UrlNotPermittedError } from '../../platform/outbound/url-guard.ts';
import { type Deliverer, type Delivery, failed, type SendOutcome } from '../outbox/delivery.ts';
import { type Answer, saveAttempt } from './deliveries.ts';
import {
  findEndpoint,
  LONGEST_WAIT_SECONDS,
  recordFailure,
  recordSuccess,
  retryWait,
  type WebhookEndpoint,
} from './endpoints.ts';
import { signedHeaders, signingSecrets } from './signature.ts';

const TIMEOUT_MS = 15_000;
const KEPT_ANSWER_BYTES = 1024;

/**
 * Statuses treated as "too many requests". Nothing is sent to the endpoint for the time given in
 * its response or, if none is given, for `THROTTLE_SECONDS`.
 */
const THROTTLED: ReadonlySet<number> = new Set([429, 502, 504]);
const THROTTLE_SECONDS = 60;

interface WebhookParts {
  database: Queryable;
  /**
   * Returns the body that announces `object` of a request; null if the request no longer exists.
   */
  bodyOf(requestId: string, accountId: string, object: string): Promise<string | null>;
  client: OutboundClient;
  logger: Logger;
  now?: () => Date;
}

/**
 * Posts the events of a request to the client's URL, signed according to Standard Webhooks 1.0.0.
 */
export function createWebhookDeliverer(parts: WebhookParts): Deliverer<'webhook'> {
  return {
    kind: 'webhook',
    retryWait,
    send: async (delivery, signal) => {
      const endpoint = await findEndpoint(parts.database, delivery.destination);
      if (!endpoint || endpoint.disabled_at) {
        return failed('webhook_disabled', 'The address is disabled.');
      }
      const body = await parts.bodyOf(delivery.requestId, endpoint.account_id, delivery.object);
      if (body === null) return failed('not_found', 'The request no longer exists.');
      const headers = { 'content-type': 'application/json' };
      return postMessage(parts, delivery, endpoint, { headers, body }, signal);
    },
  };
}

/**
 * Posts one signed message, records the attempt, and returns its outcome. The message's own headers
 * cannot override the signature.
 */
export async function postMessage(
  {
    database,
    client,
    logger,
    now = () => new Date(),
  }: Pick<WebhookParts, 'database' | 'client' | 'logger' | 'now'>,
  delivery: Delivery,
  endpoint: WebhookEndpoint,
  { headers, body }: { headers: Record<string, string>; body: string },
  signal: AbortSignal,
): Promise<SendOutcome> {
  const at = now();
  const secrets = await signingSecrets(database, endpoint.account_id, at);
  const started = performance.now();
  const patience = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);

  let answer: Answer;
  let outcome: SendOutcome;
  try {
    const response = await client.call(endpoint.url, 'webhook', {
      method: 'POST',
      headers: { ...headers, ...signedHeaders(secrets, delivery.id, at, body) },
      body,
      signal: patience,
    });
    answer = await readAnswer(response);
    outcome = outcomeOf(response, at);
  } catch (error) {
    const reason = reasonOf(error);
    logger.debug({ delivery: delivery.id, reason, error: String(error) }, 'webhook not sent');
    answer = { status: null, bytes: 0, text: null, error: reason };
    outcome =
      error instanceof UrlNotPermittedError
        ? failed('url_not_permitted', 'The address is not permitted.')
        : failed('webhook_unreachable', `The address did not respond (${reason}).`);
  }
  // An attempt that we aborted ourselves is not recorded, because it is not a failure of the
  // endpoint.
  if (signal.aborted) return outcome;
  const duration = Math.round(performance.now() - started);
  try {
    await saveAttempt(database, delivery, { at, duration, answer });
    if (outcome.outcome === 'delivered') await recordSuccess(database, endpoint.id);
    else
      await recordFailure(database, endpoint.id, at, { gone: outcome.code === 'webhook_disabled' });
  } catch (error) {
    // If the attempt cannot be recorded, it is missing from the endpoint's history, but the
    // response still counts.
    if (!(error instanceof DatabaseUnreachableError)) throw error;
  }
  return outcome;
}

/**
 * Returns the outcome of a response. Only 2xx is a success. A redirect is not followed, because the
 * client did not choose its target.
 */
function outcomeOf({ statusCode, headers }: Dispatcher.ResponseData, now: Date): SendOutcome {
  if (statusCode >= 200 && statusCode < 300) {
    return { outcome: 'delivered', detail: `HTTP ${statusCode}` };
  }
  if (statusCode === 410) {
    return failed('webhook_disabled', 'HTTP 410: the address is disabled.');
  }
  const asked = retryAfterSeconds(headers['retry-after'], LONGEST_WAIT_SECONDS, now);
  const wait = asked ?? (THROTTLED.has(statusCode) ? THROTTLE_SECONDS : undefined);
  const outcome = failed('webhook_refused', `HTTP ${statusCode}`);
  return wait === undefined ? outcome : { ...outcome, retryAfter: wait };
}

/** Reads the beginning of the response and discards the rest. */
async function readAnswer({ statusCode, body }: Dispatcher.ResponseData): Promise<Answer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes >= KEPT_ANSWER_BYTES) break;
    }
  } catch {
    // The status has already arrived, so it does not matter if the rest of the response is missing.
  }
  const text = Buffer.concat(chunks).subarray(0, KEPT_ANSWER_BYTES).toString('utf8');
  return { status: statusCode, bytes, text, error: null };
}

/**
 * Returns why there was no response: a short phrase or the system's error code. The message of the
 * error is not used, because it may contain the address.
 */
function reasonOf(error: unknown): string {
  if (error instanceof UrlNotPermittedError) return 'not permitted';
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout';
  return error instanceof Error && 'code' in error ? String(error.code) : 'connection failed';
}
