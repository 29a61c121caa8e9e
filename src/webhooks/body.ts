import type { WebhookShape } from '../requests/port.ts';
import type { RequestObject } from '../requests/view.ts';

/** Standard Webhooks asks for thin payloads; a longer result is fetched from `urls.self`. */
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
    // A request only expires after it has succeeded.
    status: status === 'succeeded' || status === 'expired' ? 'OK' : 'ERROR',
    payload: output ?? null,
    ...(error && { error: error.detail }),
    ...(status === 'expired' && { payload_error: 'The result has been purged.' }),
  };
}
