import type { Router } from '@koa/router';
import { z } from 'zod';
import {
  createKey,
  type KeyRecord,
  listKeys,
  revokeKey,
  SCOPES,
} from '../../core/accounts/keys.ts';
import { CONSOLE_ROLES } from '../../core/accounts/roles.ts';
import { monthlyUsage } from '../../core/requests/usage.ts';
import {
  listWebhookDeliveries,
  redeliver,
  type WebhookDelivery,
} from '../../core/webhooks/deliveries.ts';
import { currentSecret, rotateSecret } from '../../core/webhooks/signature.ts';
import { withinTransaction } from '../../platform/database/port.ts';
import { instant, jsonBody, parseBody, readQuery } from '../http/parse.ts';
import { auditAction, within } from './audit.ts';
import type { ConsoleDeps, ConsoleState } from './context.ts';
import type * as Contract from './contract.ts';
import type { CreatedKey, Key, Retention, Usage } from './contract.ts';
import { pageLimit, shownError } from './deliveries.ts';
import { needs } from './guard.ts';

const newKeySchema = z.strictObject({
  name: z.string().trim().min(1).max(100),
  test: z.boolean(),
  scopes: z.array(z.enum(SCOPES)).min(1) satisfies z.ZodType<Contract.NewKey['scopes']>,
  consoleRole: z.enum(CONSOLE_ROLES).nullable(),
  expiresAt: instant.nullable(),
});
const noQuery = z.strictObject({});

/** Adds `/keys`, `/usage` and `/retention` for the installation's own account. */
export function addSettingsRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { database, config, now } = deps;
  const settings = needs('settings');
  const body = jsonBody(config.http.maxBodyBytes);

  router.get('/keys', settings, async (context) => {
    const keys = await listKeys(database, context.state.principal.accountId);
    context.body = keys.map(shownKey) satisfies Key[];
  });

  router.post('/keys', settings, body, async (context) => {
    const wanted = parseBody(newKeySchema, context.state.body);
    const { accountId } = context.state.principal;
    const { key: secret, record } = await database.transaction(async (tx) => {
      const made = await createKey(tx, { ...wanted, accountId }, now());
      const of = { detail: { key: made.record.id } };
      await auditAction(context, 'key.create', of, within(tx, deps));
      return made;
    });
    context.status = 201;
    context.body = { key: shownKey(record), secret } satisfies CreatedKey;
  });

  router.delete('/keys/:id', settings, async (context) => {
    const { id = '' } = context.params;
    const record = await database.transaction(async (tx) => {
      const revoked = await revokeKey(tx, id, context.state.principal.accountId, now());
      const of = { detail: { key: id } };
      await auditAction(context, 'key.revoke', of, within(tx, deps));
      return revoked;
    });
    context.body = shownKey(record) satisfies Key;
  });

  router.get('/usage', settings, async (context) => {
    readQuery(context, noQuery);
    const { accountId } = context.state.principal;
    const keys = await listKeys(database, accountId);
    const rows = await monthlyUsage(database, { accountId });
    context.body = rows.map(({ month, key_id, requests, succeeded, total }) => ({
      month,
      key: key_id === null ? null : { id: key_id, name: nameOf(keys, key_id) },
      requests,
      succeeded,
      cost: { currency: 'USD' as const, total },
    })) satisfies Usage[];
  });

  router.get('/retention', settings, async (context) => {
    const { rows } = await database.query<{
      kept: number;
      purged: number;
      next_purge: Date | null;
      oldest: Date | null;
    }>(
      `SELECT (count(*) FILTER (WHERE status = 'succeeded'))::int AS kept,
         (count(*) FILTER (WHERE status = 'expired'))::int AS purged,
         min(expires_at) FILTER (WHERE status = 'succeeded') AS next_purge,
         min(ended_at) FILTER (WHERE status = 'succeeded') AS oldest
       FROM requests`,
    );
    const [row] = rows;
    context.body = {
      days: config.retention.days,
      kept: row?.kept ?? 0,
      purged: row?.purged ?? 0,
      nextPurgeAt: row?.next_purge?.toISOString() ?? null,
      oldestResultAt: row?.oldest?.toISOString() ?? null,
    } satisfies Retention;
  });
}

const nameOf = (keys: readonly KeyRecord[], id: string): string =>
  keys.find((key) => key.id === id)?.name ?? id;

function shownKey(record: KeyRecord): Key {
  return {
    id: record.id,
    name: record.name,
    test: record.test,
    scopes: record.scopes,
    consoleRole: record.console_role,
    createdAt: record.created_at.toISOString(),
    lastUsedAt: record.last_used_at?.toISOString() ?? null,
    expiresAt: record.expires_at?.toISOString() ?? null,
    revokedAt: record.revoked_at?.toISOString() ?? null,
  };
}

const pageQuery = z.strictObject({ cursor: z.string().max(100).optional(), limit: pageLimit });

/** Adds `/webhooks` for the installation's own account. */
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
    const { secret, created_at } = await database.transaction(async (tx) => {
      const rotated = await rotateSecret(withinTransaction(tx), accountId, now());
      const of = { detail: { secret: 'webhook' } };
      await auditAction(context, 'secret.rotate', of, within(tx, deps));
      return rotated;
    });
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
    const delivery = await database.transaction(async (tx) => {
      const again = await redeliver(withinTransaction(tx), context.state.principal.accountId, id);
      const of = { requestId: again.request_id, detail: { delivery: id } };
      await auditAction(context, 'webhook.redeliver', of, within(tx, deps));
      return again;
    });
    context.body = shown(delivery) satisfies Contract.WebhookDelivery;
  });
}

/** Returns a delivery with only the status and size of each response, as in `/v1/webhooks`. */
function shown(delivery: WebhookDelivery): Contract.WebhookDelivery {
  const { state, code, detail } = delivery;
  return {
    id: delivery.id,
    requestId: delivery.request_id,
    event: delivery.object,
    url: delivery.url,
    state,
    createdAt: delivery.created_at.toISOString(),
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
