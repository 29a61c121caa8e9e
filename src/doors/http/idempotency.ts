import { hash } from 'node:crypto';
import type { Middleware } from 'koa';
import type { Queryable } from '../../platform/database/port.ts';
import { catalogueEntry, SonogateError } from '../../platform/errors/catalogue.ts';
import { DAY_MS } from '../../platform/time.ts';
import type { HttpDeps, HttpState } from './context.ts';

const KEPT_MS = DAY_MS;
/**
 * Milliseconds after which a first call that has not finished is assumed to have died with its
 * process.
 */
const ABANDONED_MS = 60_000;

interface StoredAnswer {
  fingerprint: string;
  status: number | null;
  location: string | null;
  body: unknown;
}

/** The columns of the primary key, in order. */
type Scope = readonly [account: string, test: boolean, method: string, path: string, key: string];

/**
 * Implements `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07): a repeated call is
 * carried out only once. Responses are kept for 24 hours for each account, method and path. Test
 * and live keys have separate responses, so that a live call never receives a response from the
 * mock pipeline. The response to a refused call is not stored, so that the client can correct the
 * call and send it again with the same key. Because secrets are shown only once, `kept` removes
 * them from a response before it is stored.
 */
export function idempotent(
  { database, now = () => new Date() }: Pick<HttpDeps, 'database' | 'now'>,
  kept: (body: unknown) => unknown = (body) => body,
): Middleware<HttpState> {
  return async (context, next) => {
    const header = context.req.headers['idempotency-key'];
    context.state.idempotencyKey = null;
    if (header === undefined) return next();
    const { accountId, test } = context.state.principal;
    const key = readKey(String(header));
    const scope: Scope = [accountId, test, context.method, context.path, key];
    // The query is part of what a call asks for: the compatible queue has its webhook there.
    const { querystring } = context;
    const fingerprint = hash('sha256', canonical(context.state.body ?? null) + querystring);
    const firstCall = await claim(database, scope, fingerprint, now());
    if (firstCall === null) {
      const earlier = await read(database, scope);
      // The first call has just been refused, which removed its row.
      if (!earlier) throw new SonogateError('idempotency_in_progress');
      if (earlier.fingerprint !== fingerprint) throw new SonogateError('idempotency_key_reused');
      if (earlier.status === null) throw new SonogateError('idempotency_in_progress');
      context.status = earlier.status;
      context.body = earlier.body;
      if (earlier.location) context.set('Location', earlier.location);
      context.set('Idempotent-Replayed', 'true');
      return;
    }
    context.state.idempotencyKey = hash('sha256', JSON.stringify([...scope, firstCall]));
    try {
      await next();
    } catch (error) {
      const refused = error instanceof SonogateError && catalogueEntry(error.code).http !== 500;
      await (refused ? forget(database, scope) : abandon(database, scope));
      throw error;
    }
    const location = context.response.get('Location') || null;
    await keep(database, scope, context.status, location, kept(context.body));
  };
}

/**
 * Reads the key: a structured-header string in quotation marks or, as many clients send it, a bare
 * token.
 */
function readKey(header: string): string {
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) throw new SonogateError('invalid_idempotency_key');
  return key;
}

const THIS_KEY = 'account_id = $1 AND test = $2 AND method = $3 AND path = $4 AND key = $5';

/**
 * Claims the key for this call. A key whose earlier call was abandoned can be claimed again.
 * @returns when the key was first used; null if another call holds it or has finished.
 */
async function claim(
  database: Queryable,
  scope: Scope,
  fingerprint: string,
  now: Date,
): Promise<Date | null> {
  await database.query('DELETE FROM idempotency_keys WHERE created_at < $1', [
    new Date(now.getTime() - KEPT_MS),
  ]);
  const { rows } = await database.query<{ created_at: Date }>(
    `INSERT INTO idempotency_keys AS kept
       (account_id, test, method, path, key, fingerprint, created_at, started_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
     ON CONFLICT (account_id, test, method, path, key) DO UPDATE SET started_at = excluded.started_at
       WHERE kept.status IS NULL AND kept.started_at < $8
         AND kept.fingerprint = excluded.fingerprint
     RETURNING created_at`,
    [...scope, fingerprint, now, new Date(now.getTime() - ABANDONED_MS)],
  );
  return rows[0]?.created_at ?? null;
}

async function read(database: Queryable, scope: Scope): Promise<StoredAnswer | undefined> {
  const { rows } = await database.query<StoredAnswer>(
    `SELECT fingerprint, status, location, body FROM idempotency_keys WHERE ${THIS_KEY}`,
    scope,
  );
  return rows[0];
}

async function forget(database: Queryable, scope: Scope): Promise<void> {
  await database.query(`DELETE FROM idempotency_keys WHERE ${THIS_KEY}`, scope);
}

/**
 * Marks the call as abandoned, so that a repeated call with the key can proceed at once. The core
 * ensures that the work is not submitted twice.
 */
async function abandon(database: Queryable, scope: Scope): Promise<void> {
  await database.query(
    `UPDATE idempotency_keys SET started_at = '-infinity' WHERE ${THIS_KEY}`,
    scope,
  );
}

async function keep(
  database: Queryable,
  scope: Scope,
  status: number,
  location: string | null,
  body: unknown,
): Promise<void> {
  await database.query(
    `UPDATE idempotency_keys SET status = $6, location = $7, body = $8::json WHERE ${THIS_KEY}`,
    [...scope, status, location, JSON.stringify(body ?? null)],
  );
}

/** Writes JSON with sorted keys, so that equal bodies produce the same text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
