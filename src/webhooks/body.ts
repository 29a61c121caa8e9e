import type { WebhookShape } from '../requests/port.ts';
import type { RequestObject } from '../requests/view.ts';

/** Standard Webhooks asks for thin payloads; a longer result is fetched from `urls.self`. */
export const MAX_BODY_BYTES = 20_000;

/** The JSON text that announces the end of a request. */
export function webhookBody(request: RequestObject, shape: WebhookShape): string {
  const whole = JSON.stringify(shape === 'queue' ? queueMessage(request) : request);
  if (Buffer.byteLength(whole) <= MAX_BODY_BYTES) return whole;
  if (shape === 'queue') {
    return JSON.stringify({
      ...queueMessage({ ...request, output: null }),
      payload_error: 'The result is too large for a webhook; fetch it from the request.',
    });
  }
  return JSON.stringify({ ...request, output: null, output_omitted: true });
}

/** The message of the compatible queue, as `@fal-ai/client` types it. */
function queueMessage({ id, status, output, error }: RequestObject) {
  return {
    request_id: id,
    gateway_request_id: id,
    status: status === 'succeeded' ? 'OK' : 'ERROR',
    payload: output ?? null,
    ...(error && { error: error.detail }),
  };
}
