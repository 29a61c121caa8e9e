import { createHash } from 'node:crypto';
import type { Middleware } from 'koa';
import type { Queryable } from '../database/port.ts';
import { SonogateError } from '../errors/catalogue.ts';
import type { HttpDeps, HttpState } from './deps.ts';

const KEPT_MS = 24 * 3_600_000;
/** A first call that has been running for this long died with its process. */
const ABANDONED_MS = 60_000;

interface StoredAnswer {
  fingerprint: string;
  created_at: Date;
  status: number | null;
  location: string | null;
  body: unknown;
}

interface Scope {
  account: string;
  method: string;
  path: string;
  key: string;
}

/**
 * `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07): the same call twice is done
 * once. Answers are kept for 24 hours per account, method and path; a call that was refused or
 * failed leaves nothing, so that it can be mended and sent again under the same key.
 */
export function idempotent({
  database,
  now = () => new Date(),
}: Pick<HttpDeps, 'database' | 'now'>): Middleware<HttpState> {
  return async (context, next) => {
    const header = context.req.headers['idempotency-key'];
    context.state.idempotencyKey = null;
    if (header === undefined) return next();
    const scope: Scope = {
      account: context.state.principal.accountId,
      method: context.method,
      path: context.path,
      key: readKey(String(header)),
    };
    const fingerprint = sha256(canonical(context.state.body ?? null));
    const earlier = await claim(database, scope, fingerprint, now());
    if (earlier) {
      if (earlier.fingerprint !== fingerprint) throw new SonogateError('idempotency_key_reused');
      if (earlier.status === null) throw new SonogateError('idempotency_in_progress');
      context.status = earlier.status;
      context.body = earlier.body;
      if (earlier.location) context.set('Location', earlier.location);
      context.set('Idempotent-Replayed', 'true');
      return;
    }
    context.state.idempotencyKey = sha256(JSON.stringify(scope));
    try {
      await next();
    } catch (error) {
      await release(database, scope);
      throw error;
    }
    const location = context.response.get('Location') || null;
    await keep(database, scope, context.status, location, context.body);
  };
}

/** A structured-header string in quotation marks, or the bare token that many clients send. */
function readKey(header: string): string {
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) throw new SonogateError('invalid_idempotency_key');
  return key;
}

/** Null when the key is ours to use now; else what the first call left. */
async function claim(
  database: Queryable,
  { account, method, path, key }: Scope,
  fingerprint: string,
  now: Date,
): Promise<StoredAnswer | null> {
  const identity = [account, method, path, key];
  await database.query(
    `DELETE FROM idempotency_keys
     WHERE created_at < $1 OR (status IS NULL AND created_at < $2)`,
    [new Date(now.getTime() - KEPT_MS), new Date(now.getTime() - ABANDONED_MS)],
  );
  const { rows: claimed } = await database.query(
    `INSERT INTO idempotency_keys (account_id, method, path, key, fingerprint, created_at)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING key`,
    [...identity, fingerprint, now],
  );
  if (claimed.length > 0) return null;
  const { rows } = await database.query<StoredAnswer>(
    `SELECT * FROM idempotency_keys
     WHERE account_id = $1 AND method = $2 AND path = $3 AND key = $4`,
    identity,
  );
  // Gone in between: the first call has just been refused.
  if (!rows[0]) throw new SonogateError('idempotency_in_progress');
  return rows[0];
}

async function release(database: Queryable, { account, method, path, key }: Scope): Promise<void> {
  await database.query(
    `DELETE FROM idempotency_keys
     WHERE account_id = $1 AND method = $2 AND path = $3 AND key = $4`,
    [account, method, path, key],
  );
}

async function keep(
  database: Queryable,
  { account, method, path, key }: Scope,
  status: number,
  location: string | null,
  body: unknown,
): Promise<void> {
  await database.query(
    `UPDATE idempotency_keys SET status = $5, location = $6, body = $7::json
     WHERE account_id = $1 AND method = $2 AND path = $3 AND key = $4`,
    [account, method, path, key, status, location, JSON.stringify(body ?? null)],
  );
}

/** JSON with sorted keys: the same body however it was written. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
