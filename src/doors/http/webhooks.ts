import type { Router } from '@koa/router';
import { z } from 'zod';
import { described, text } from '../../../pipelines/result/envelope.ts';
import { DELIVERY_STATES } from '../../core/outbox/delivery.ts';
import { webhookEvent } from '../../core/requests/announce.ts';
import {
  listWebhookDeliveries,
  redeliver,
  type WebhookDelivery,
} from '../../core/webhooks/deliveries.ts';
import { isDisabled } from '../../core/webhooks/endpoints.ts';
import { currentSecret, rotateSecret, type WebhookSecret } from '../../core/webhooks/signature.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { InvalidInputError } from '../../platform/errors/problem.ts';
import { UrlNotPermittedError } from '../../platform/outbound/url-guard.ts';
import { type HttpDeps, type HttpState, linkNextPage } from './context.ts';
import { EXAMPLE } from './openapi/examples.ts';
import { INPUT_ERRORS, ONCE_ERRORS, operationsOf } from './openapi/operation.ts';
import { pageQuery } from './parse.ts';
import { servingOn } from './route.ts';

const deliveriesQuery = z.strictObject({
  request: text('Only deliveries for this request', EXAMPLE.request).optional(),
  state: described(z.enum(DELIVERY_STATES).optional(), 'Only deliveries in this state', 'dead'),
  ...pageQuery('whd', EXAMPLE.delivery),
});

export const WEBHOOK_OPERATIONS = operationsOf('Webhooks', {
  getWebhookSecret: {
    method: 'get',
    path: '/v1/webhooks/secret',
    summary: 'Get the secret used to sign webhooks',
    scope: 'admin',
    audit: 'secret.read',
    auditDetail: () => ({ secret: 'webhook' }),
    answer: 'webhookSecret',
  },
  rotateWebhookSecret: {
    method: 'post',
    path: '/v1/webhooks/secret/rotate',
    summary: 'Rotate the secret; for 24 hours the old one is also used',
    scope: 'admin',
    audit: 'secret.rotate',
    auditDetail: () => ({ secret: 'webhook' }),
    once: true,
    keptAnswer: () => ({ object: 'webhook_secret', secret: null }),
    answer: 'webhookSecret',
    errors: [...INPUT_ERRORS, ...ONCE_ERRORS],
  },
  listWebhookDeliveries: {
    method: 'get',
    path: '/v1/webhooks/deliveries',
    summary: 'List the webhook deliveries with their attempts',
    scope: 'admin',
    query: deliveriesQuery,
    answer: 'webhookDeliveries',
    errors: ['invalid_input'],
  },
  redeliverWebhook: {
    method: 'post',
    path: '/v1/webhooks/deliveries/{id}/redeliver',
    summary: 'Send a webhook again with the same id',
    pathExamples: { id: EXAMPLE.delivery },
    scope: 'admin',
    audit: 'webhook.redeliver',
    once: true,
    status: 202,
    answer: 'webhookDelivery',
    errors: ['not_found', ...INPUT_ERRORS, ...ONCE_ERRORS],
  },
});

/** Adds `/v1/webhooks`: the signing secret of the account, and the outcome of each delivery. */
export function addWebhookRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { database, config, now = () => new Date() } = deps;
  const serve = servingOn(router, deps);

  serve(WEBHOOK_OPERATIONS.getWebhookSecret, async (context) => {
    const accountId = liveAccount(context.state.principal);
    context.body = secretView(await currentSecret(database, accountId, now()));
  });

  serve(WEBHOOK_OPERATIONS.rotateWebhookSecret, async (context) => {
    const accountId = liveAccount(context.state.principal);
    context.body = secretView(await rotateSecret(database, accountId, now()));
  });

  serve(WEBHOOK_OPERATIONS.listWebhookDeliveries, async (context, { query }) => {
    const { request: requestId, ...which } = query;
    const { accountId, test: testOnly } = context.state.principal;
    const { rows, nextCursor } = await listWebhookDeliveries(database, {
      accountId,
      testOnly,
      requestId,
      ...which,
    });
    context.body = {
      data: rows.map(deliveryView),
      has_more: nextCursor !== null,
      next_cursor: nextCursor,
    };
    linkNextPage(context, config, nextCursor);
  });

  serve(WEBHOOK_OPERATIONS.redeliverWebhook, async (context) => {
    const { id = '' } = context.params;
    const { accountId, test } = context.state.principal;
    context.body = deliveryView(await redeliver(database, accountId, id, test));
  });
}

/**
 * Returns the URL for the messages to a client in its normal form, if messages may be sent to it. The
 * response does not state which rule a URL breaks, so that clients cannot probe our network.
 * @throws InvalidInputError at `pointer`
 */
export async function enabledUrl(
  { database, outbound, logger }: Pick<HttpDeps, 'database' | 'outbound' | 'logger'>,
  account: string,
  given: string,
  pointer: string,
): Promise<string> {
  const refuse = (detail: string): never => {
    throw new InvalidInputError([{ pointer, detail }]);
  };
  const permitted = (): string => {
    try {
      return outbound.check(given, 'webhook').href;
    } catch (error) {
      if (!(error instanceof UrlNotPermittedError)) throw error;
      logger.event('webhook_url_refused', { account, reason: error.reason });
      return refuse(
        'URL not permitted; it must be a public https address, or its host listed in the setting outbound.hosts',
      );
    }
  };
  const url = permitted();
  if (!(await isDisabled(database, account, url))) return url;
  return refuse('this URL is disabled; redeliver one of its deliveries to enable it again');
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
