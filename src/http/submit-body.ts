import { z } from 'zod';
import { LONGEST_URL } from '../outbound/url-guard.ts';
import type { Endpoint } from '../requests/endpoint.ts';
import { WEBHOOK_EVENTS } from '../webhooks/announce.ts';

const webhook = z.strictObject({
  url: z.url({ protocol: /^https?$/, message: 'an https URL' }).max(LONGEST_URL),
  events: z.array(z.enum(WEBHOOK_EVENTS)).default([...WEBHOOK_EVENTS]),
});

const metadata = z
  .record(z.string().min(1).max(40), z.string().max(500))
  .refine((entries) => Object.keys(entries).length <= 50, 'at most 50 entries');

/** Submit body of service.md 2.2; `input` is the endpoint's own schema. */
export function submitBody(endpoint: Endpoint) {
  const made = BODIES.get(endpoint) ?? bodyOf(endpoint);
  BODIES.set(endpoint, made);
  return made;
}

/** A schema is compiled at its first use, which takes as long as checking twenty bodies. */
const BODIES = new WeakMap<Endpoint, ReturnType<typeof bodyOf>>();

function bodyOf(endpoint: Endpoint) {
  return z.strictObject({
    input: endpoint.input,
    webhook: webhook.optional(),
    priority: z.enum(['low', 'normal', 'high']).default('normal'),
    metadata: metadata.default({}),
  });
}
