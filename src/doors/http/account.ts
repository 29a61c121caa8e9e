import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { described, text } from '../../../pipelines/result/envelope.ts';
import {
  createKey,
  type KeyRecord,
  listKeys,
  OVERLAP_HOURS,
  type Principal,
  revokeKey,
  rotateKey,
  SCOPES,
  type Scope,
} from '../../core/accounts/keys.ts';
import { keyChange } from '../../core/audit/audit.ts';
import { monthlyUsage } from '../../core/requests/usage.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { InvalidInputError } from '../../platform/errors/problem.ts';
import { mayUse } from './authentication.ts';
import type { HttpDeps, HttpState } from './context.ts';
import { EXAMPLE } from './openapi/examples.ts';
import { BODY_ERRORS, operationsOf } from './openapi/operation.ts';
import { instant } from './parse.ts';
import { servingOn } from './route.ts';

const newKeyBody = z.strictObject({
  name: described(z.string().trim().min(1).max(100), 'Name of the key, chosen by you', 'ward 3'),
  test: described(
    z.boolean().default(false),
    'True for a test key, which uses the mock backend',
    true,
  ),
  scopes: described(
    z.array(z.enum(SCOPES)).min(1).optional(),
    'Scopes of the key; default: `run`, `read` and `uploads`',
    ['run', 'read', 'uploads'],
  ),
  expires_at: described(
    instant.optional(),
    'When the key expires; default: never',
    '2027-01-01T00:00:00Z',
  ),
});

const rotateKeyBody = z.strictObject({
  overlap_hours: described(
    z.number().min(0).max(OVERLAP_HOURS.longest).default(OVERLAP_HOURS.usual),
    'How many hours the old key keeps working',
    24,
  ),
});

const usageQuery = z.strictObject({
  month: described(
    z
      .string()
      .regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'a month such as 2026-11')
      .optional(),
    'Only this month (UTC)',
    '2026-11',
  ),
  key: text('Only entries for this key', EXAMPLE.key).optional(),
});

const withoutKey = (answer: unknown) => ({ ...(answer as object), key: null });

export const ACCOUNT_OPERATIONS = operationsOf('Account', {
  getUsage: {
    method: 'get',
    path: '/v1/usage',
    summary: 'List requests and their cost by month and key',
    scope: 'read',
    query: usageQuery,
    answer: 'usage',
    errors: ['invalid_input'],
  },
  listKeys: {
    method: 'get',
    path: '/v1/keys',
    summary: 'List the keys of the account',
    scope: 'admin',
    answer: 'keyList',
  },
  createKey: {
    method: 'post',
    path: '/v1/keys',
    summary: 'Create a key',
    scope: 'admin',
    audit: 'key.create',
    auditDetail: changeOf,
    once: true,
    keptAnswer: withoutKey,
    body: newKeyBody,
    status: 201,
    answer: 'newKey',
    errors: BODY_ERRORS,
  },
  rotateKey: {
    method: 'post',
    path: '/v1/keys/{id}/rotate',
    summary: 'Rotate a key; the old one expires after an overlap',
    pathExamples: { id: EXAMPLE.key },
    scope: 'admin',
    audit: 'key.rotate',
    auditDetail: changeOf,
    once: true,
    keptAnswer: withoutKey,
    body: rotateKeyBody,
    bodyOptional: true,
    status: 201,
    answer: 'newKey',
    errors: [...BODY_ERRORS, 'not_found'],
  },
  revokeKey: {
    method: 'delete',
    path: '/v1/keys/{id}',
    summary: 'Revoke a key',
    pathExamples: { id: EXAMPLE.key },
    scope: 'admin',
    audit: 'key.revoke',
    auditDetail: changeOf,
    answer: 'key',
    errors: ['not_found'],
  },
});

/**
 * Adds `/v1/keys`: the account's keys. The secret key is returned only when it is created or
 * rotated.
 */
export function addKeyRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { database, now = () => new Date() } = deps;
  const serve = servingOn(router, deps);
  serve(ACCOUNT_OPERATIONS.listKeys, async (context) => {
    const keys = await listKeys(database, context.state.principal.accountId);
    context.body = { data: keys.map(keyView) };
  });

  serve(ACCOUNT_OPERATIONS.createKey, async (context, { body }) => {
    const { accountId, test } = context.state.principal;
    const { expires_at, ...wanted } = body;
    if (test && !wanted.test) {
      throw new SonogateError('forbidden', 'A test key can only create test keys.');
    }
    requireGrantable(context.state.principal, wanted.scopes);
    const at = now();
    if (expires_at !== undefined && expires_at <= at) {
      throw new InvalidInputError([{ pointer: '/expires_at', detail: 'a time in the future' }]);
    }
    const made = { ...wanted, accountId, expiresAt: expires_at ?? null };
    const { key, record } = await createKey(database, made, at);
    context.body = { ...keyView(record), key };
  });

  serve(ACCOUNT_OPERATIONS.rotateKey, async (context, { body }) => {
    const { principal } = context.state;
    const { accountId, test: testOnly } = principal;
    const { id = '' } = context.params;
    const permit = (old: KeyRecord) => requireOwnRights(principal, old);
    const { key, record } = await rotateKey(
      database,
      { id, accountId, overlapHours: body.overlap_hours, testOnly, permit },
      now(),
    );
    context.body = { ...keyView(record), key };
  });

  serve(ACCOUNT_OPERATIONS.revokeKey, async (context) => {
    const { id = '' } = context.params;
    const { accountId, test } = context.state.principal;
    context.body = keyView(await revokeKey(database, id, accountId, now(), test));
  });
}

/**
 * Requires that a key gives another key only scopes that it has itself. Otherwise a key with
 * `admin` could create a key that signs.
 * @throws SonogateError `forbidden`
 */
function requireGrantable(principal: Principal, scopes: readonly Scope[] = []): void {
  const lacking = scopes.filter((scope) => !mayUse(principal, scope));
  if (lacking.length === 0) return;
  throw new SonogateError(
    'forbidden',
    `A key can only give scopes that it has itself; this one lacks ${lacking.join(', ')}.`,
  );
}

/**
 * Requires that a rotation gives the caller, who receives the new secret, no rights beyond its own.
 * Otherwise the caller could sign results in the name of another key, or sign in to the console
 * with it.
 * @throws SonogateError `forbidden`
 */
function requireOwnRights(principal: Principal, key: KeyRecord): void {
  if (key.id === principal.keyId) return;
  requireGrantable(principal, key.scopes);
  if (key.console_role === null) return;
  throw new SonogateError(
    'forbidden',
    'A key for the console can be rotated only with itself or on the command line.',
  );
}

/** Returns the audit detail: the ids of the key in the path and of the key in the response. */
function changeOf({ params, body }: Context) {
  const made = typeof body === 'object' && body !== null && 'id' in body ? body.id : null;
  return keyChange(params.id, made);
}

function keyView(record: KeyRecord) {
  const { id, name, test, scopes, created_at, last_used_at, expires_at, revoked_at } = record;
  return {
    id,
    object: 'key',
    name,
    test,
    scopes,
    created_at: created_at.toISOString(),
    last_used_at: last_used_at?.toISOString() ?? null,
    expires_at: expires_at?.toISOString() ?? null,
    revoked_at: revoked_at?.toISOString() ?? null,
  };
}

/** Adds `GET /v1/usage`: requests and their cost by month (UTC) and key. */
export function addUsageRoute(router: Router<HttpState>, deps: HttpDeps): void {
  const serve = servingOn(router, deps);
  serve(ACCOUNT_OPERATIONS.getUsage, async (context, { query }) => {
    const { accountId, test: testOnly } = context.state.principal;
    const rows = await monthlyUsage(deps.database, { accountId, testOnly, ...query });
    context.body = {
      data: rows.map(({ month, key_id, requests, succeeded, total }) => ({
        month,
        key: key_id,
        requests,
        succeeded,
        cost: { currency: 'USD', total },
      })),
    };
  });
}
