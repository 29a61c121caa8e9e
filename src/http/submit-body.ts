import { z } from 'zod';
import type { Endpoint } from '../requests/endpoint.ts';

export const WEBHOOK_EVENTS = ['request.succeeded', 'request.failed'] as const;

const webhook = z.strictObject({
  url: z.url({ protocol: /^https$/, message: 'an https URL' }).max(2048),
  events: z.array(z.enum(WEBHOOK_EVENTS)).default([...WEBHOOK_EVENTS]),
});

const metadata = z
  .record(z.string().min(1).max(40), z.string().max(500))
  .refine((entries) => Object.keys(entries).length <= 50, 'at most 50 entries');

/** Submit body of service.md 2.2; `input` is the endpoint's own schema. */
export function submitBody(endpoint: Endpoint) {
  return z.strictObject({
    input: endpoint.input,
    webhook: webhook.optional().describe('Comes with the next release and is refused until then.'),
    priority: z.enum(['low', 'normal', 'high']).default('normal'),
    metadata: metadata.default({}),
  });
}
