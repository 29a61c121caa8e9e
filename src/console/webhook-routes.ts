import type { Router } from '@koa/router';
import { z } from 'zod';
import { readQuery } from '../http/query.ts';
import { listWebhookDeliveries, redeliver, type WebhookDelivery } from '../webhooks/deliveries.ts';
import { currentSecret, rotateSecret } from '../webhooks/secrets.ts';
import { auditAction } from './audit.ts';
import type * as Contract from './contract.ts';
import { pageLimit, shownError } from './deliveries.ts';
import type { ConsoleDeps, ConsoleState } from './deps.ts';
import { needs } from './guard.ts';

const pageQuery = z.strictObject({ cursor: z.string().max(100).optional(), limit: pageLimit });

/** `/webhooks`: of the site's own account. */
export function addWebhookRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { database, now } = deps;
  const settings = needs('settings');

  router.get('/webhooks/secret', settings, async (context) => {
    const { accountId } = context.state.principal;
    const { created_at } = await currentSecret(database, accountId, now());
    context.body = { createdAt: created_at.toISOString() } satisfies Contract.WebhookSecret;
  });

  router.post('/webhooks/secret/rotate', settings, async (context) => {
    const { accountId } = context.state.principal;
    const { secret, created_at } = await rotateSecret(database, accountId, now());
    await auditAction(context, 'secret.rotate', { detail: { secret: 'webhook' } }, deps);
    context.body = {
      secret,
      createdAt: created_at.toISOString(),
    } satisfies Contract.NewWebhookSecret;
  });

  router.get('/webhooks/deliveries', settings, async (context) => {
    const { accountId } = context.state.principal;
    const query = readQuery(context, pageQuery);
    const { rows, nextCursor } = await listWebhookDeliveries(database, { accountId, ...query });
    context.body = {
      rows: rows.map(shown),
      nextCursor,
    } satisfies Contract.Page<Contract.WebhookDelivery>;
  });

  router.post('/webhooks/deliveries/:id/redeliver', settings, async (context) => {
    const { id = '' } = context.params;
    const delivery = await redeliver(database, context.state.principal.accountId, id);
    const of = { requestId: delivery.request_id, detail: { delivery: id } };
    await auditAction(context, 'webhook.redeliver', of, deps);
    context.body = shown(delivery) satisfies Contract.WebhookDelivery;
  });
}

/** Of the answer only status and size, as `/v1/webhooks` shows them. */
function shown(delivery: WebhookDelivery): Contract.WebhookDelivery {
  const { state, code, detail } = delivery;
  return {
    id: delivery.id,
    requestId: delivery.request_id,
    event: delivery.object,
    url: delivery.url,
    state,
    createdAt: delivery.created_at.toISOString(),
    endedAt: delivery.ended_at?.toISOString() ?? null,
    nextAttemptAt: state === 'pending' ? delivery.next_at.toISOString() : null,
    disabledAt: delivery.disabled_at?.toISOString() ?? null,
    error: code && shownError(code, detail),
    attempts: delivery.attempts.map((made) => ({
      at: made.at.toISOString(),
      status: made.status,
      durationMs: made.duration_ms,
      answerBytes: made.answer_bytes,
      error: made.error,
    })),
  };
}
