import type { Router } from '@koa/router';
import { z } from 'zod';
import { DELIVERY_STATES } from '../../core/outbox/delivery.ts';
import { webhookEvent } from '../../core/requests/announce.ts';
import {
  listWebhookDeliveries,
  redeliver,
  type WebhookDelivery,
} from '../../core/webhooks/deliveries.ts';
import { currentSecret, rotateSecret, type WebhookSecret } from '../../core/webhooks/signature.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { idForm } from '../../platform/ids.ts';
import { audited } from './audited.ts';
import { requireScope } from './authentication.ts';
import type { HttpDeps, HttpState } from './context.ts';
import { idempotent } from './idempotency.ts';
import { jsonBody, readQuery } from './parse.ts';

export const deliveriesQuery = z.strictObject({
  request: z
    .string()
    .optional()
    .meta({
      description: 'Only deliveries for this request',
      examples: ['req_06dvq2m1k8r7n3p5s9t0w4x6yz'],
    }),
  state: z
    .enum(DELIVERY_STATES)
    .optional()
    .meta({ description: 'Only deliveries in this state', examples: ['dead'] }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .default(20)
    .meta({ description: 'Maximum number of entries per page', examples: [20] }),
  cursor: z
    .string()
    .regex(idForm('whd'), 'the `next_cursor` of an earlier page')
    .optional()
    .meta({
      description: '`next_cursor` of the previous page',
      examples: ['whd_06dvq2n5p9q3r7s1t5v9w3x7y1'],
    }),
});

/** Adds `/v1/webhooks`: the signing secret of the account, and the outcome of each delivery. */
export function addWebhookRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { database, config, now = () => new Date() } = deps;
  const admin = requireScope(deps, 'admin');
  const body = jsonBody(config.maxBodyBytes);

  const which = () => ({ secret: 'webhook' });

  router.get('/v1/webhooks/secret', admin, audited(deps, 'secret.read', which), async (context) => {
    const accountId = liveAccount(context.state.principal);
    context.body = secretView(await currentSecret(database, accountId, now()));
  });

  router.post(
    '/v1/webhooks/secret/rotate',
    admin,
    audited(deps, 'secret.rotate', which),
    body,
    idempotent(deps, () => ({ object: 'webhook_secret', secret: null })),
    async (context) => {
      const accountId = liveAccount(context.state.principal);
      context.body = secretView(await rotateSecret(database, accountId, now()));
    },
  );

  router.get('/v1/webhooks/deliveries', admin, async (context) => {
    const { request: requestId, ...query } = readQuery(context, deliveriesQuery);
    const { accountId, test: testOnly } = context.state.principal;
    const { rows, nextCursor } = await listWebhookDeliveries(database, {
      accountId,
      testOnly,
      requestId,
      ...query,
    });
    context.body = {
      data: rows.map(deliveryView),
      has_more: nextCursor !== null,
      next_cursor: nextCursor,
    };
  });

  router.post(
    '/v1/webhooks/deliveries/:id/redeliver',
    admin,
    audited(deps, 'webhook.redeliver'),
    body,
    idempotent(deps),
    async (context) => {
      const { id = '' } = context.params;
      const { accountId, test } = context.state.principal;
      const delivery = await redeliver(database, accountId, id, test);
      context.status = 202;
      context.body = deliveryView(delivery);
    },
  );
}

/**
 * Returns the account of a live key. Test keys are refused, because the secret also signs the
 * webhooks of live requests, and whoever knows it could forge them.
 */
function liveAccount({ accountId, test }: HttpState['principal']): string {
  if (!test) return accountId;
  throw new SonogateError(
    'forbidden',
    'A test key can neither read nor rotate the webhook secret.',
  );
}

function secretView({ secret, created_at }: WebhookSecret) {
  return { object: 'webhook_secret', secret, created_at: created_at.toISOString() };
}

/**
 * Returns a delivery as the API shows it. It contains only the status and size of each response, so
 * that a webhook URL cannot be used to read content from our network.
 */
function deliveryView(delivery: WebhookDelivery) {
  const { state, code, detail, next_at, ended_at, disabled_at } = delivery;
  return {
    id: delivery.id,
    object: 'webhook_delivery',
    request: delivery.request_id,
    event: webhookEvent(delivery.object),
    url: delivery.url,
    state,
    disabled_at: disabled_at?.toISOString() ?? null,
    created_at: delivery.created_at.toISOString(),
    next_attempt_at: state === 'pending' ? next_at.toISOString() : null,
    ended_at: ended_at?.toISOString() ?? null,
    error: code && { code, detail },
    attempts: delivery.attempts.map((made) => ({
      at: made.at.toISOString(),
      status: made.status,
      duration_ms: made.duration_ms,
      answer_bytes: made.answer_bytes,
      error: made.error,
    })),
  };
}
