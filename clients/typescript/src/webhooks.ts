import type { WebhookMessage } from './generated.ts';

/** Thrown for a webhook that cannot be trusted. */
export class WebhookError extends Error {
  override name = 'WebhookError';
}

/** Tolerated clock difference in seconds. A recorded webhook can be replayed for this long. */
const TOLERANCE_SECONDS = 300;

type HeaderSource = Headers | Record<string, string | string[] | undefined>;

function headerOf(headers: HeaderSource, name: string): string {
  const found = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof found !== 'string') throw new WebhookError(`The header ${name} is missing.`);
  return found;
}

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

/**
 * Verifies that the gateway signed a webhook (Standard Webhooks 1.0.0), and returns its message.
 * `body` must contain the bytes as received, not parsed and serialized again.
 * @param secret the account's `whsec_…`
 * @throws WebhookError
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: HeaderSource,
  secret: string,
  now: Date = new Date(),
): Promise<WebhookMessage> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (name) => headerOf(headers, name),
  ) as [string, string, string];
  const age = Math.abs(now.getTime() / 1000 - Number(timestamp));
  if (!(age <= TOLERANCE_SECONDS)) throw new WebhookError('The timestamp is too old or too new.');
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const raw = bytesOf(secret.replace(/^whsec_/, ''));
  const key = await crypto.subtle.importKey('raw', raw, algorithm, false, ['verify']);
  for (const each of signatures.split(' ')) {
    const [version, signature = ''] = each.split(',');
    if (version !== 'v1') continue;
    if (await crypto.subtle.verify('HMAC', key, bytesOf(signature), signed)) {
      return JSON.parse(text) as WebhookMessage;
    }
  }
  throw new WebhookError('No signature was made with this secret.');
}
