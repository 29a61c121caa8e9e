import type { Router } from '@koa/router';
import { z } from 'zod';
import { DELIVERY_STATES } from '../../core/outbox/delivery.ts';
import {
  listWebhookDeliveries,
  redeliver,
  type WebhookDelivery,
} from '../../core/webhooks/deliveries.ts';
import { currentSecret, rotateSecret, type WebhookSecret } from '../../core/webhooks/signature.ts';
import { idForm } from '../../platform/ids.ts';
import { audited } from './audited.ts';
import { requireScope } from './authentication.ts';
import type { HttpDeps, HttpState } from './context.ts';
import { idempotent } from './idempotency.ts';
import { jsonBody, readQuery } from './parse.ts';

export const deliveriesQuery = z.strictObject({
  request: z.string().optional(),
  state: z.enum(DELIVERY_STATES).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z.string().regex(idForm('whd'), 'the `next_cursor` of an earlier page').optional(),
});

/** `/v1/webhooks`: the signing secret of the account, and the outcome of each delivery. */
export function addWebhookRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { database, config, now = () => new Date() } = deps;
  const admin = requireScope(deps, 'admin');
  const body = jsonBody(config.maxBodyBytes);

  router.get('/v1/webhooks/secret', admin, async (context) => {
    const { accountId } = context.state.principal;
    context.body = secretView(await currentSecret(database, accountId, now()));
  });

  router.post(
    '/v1/webhooks/secret/rotate',
    admin,
    audited(deps, 'secret.rotate', () => ({ secret: 'webhook' })),
    body,
    idempotent(deps, () => ({ object: 'webhook_secret', secret: null })),
    async (context) => {
      const { accountId } = context.state.principal;
      context.body = secretView(await rotateSecret(database, accountId, now()));
    },
  );

  router.get('/v1/webhooks/deliveries', admin, async (context) => {
    const { request: requestId, ...query } = readQuery(context, deliveriesQuery);
    const { accountId } = context.state.principal;
    const { rows, nextCursor } = await listWebhookDeliveries(database, {
      accountId,
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
      const delivery = await redeliver(database, context.state.principal.accountId, id);
      context.status = 202;
      context.body = deliveryView(delivery);
    },
  );
}

function secretView({ secret, created_at }: WebhookSecret) {
  return { object: 'webhook_secret', secret, created_at: created_at.toISOString() };
}

/**
 * Only status and size of the answer are shown, so that a URL inside our network reveals nothing.
 */
function deliveryView(delivery: WebhookDelivery) {
  const { state, code, detail, next_at, ended_at, disabled_at } = delivery;
  return {
    id: delivery.id,
    object: 'webhook_delivery',
    request: delivery.request_id,
    event: delivery.object,
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
