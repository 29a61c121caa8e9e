import { createHmac, randomBytes } from 'node:crypto';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { DAY_MS } from '../../platform/time.ts';

const PREFIX = 'whsec_';
/** Length of a secret in bytes. Standard Webhooks requires 24 to 64. */
const SECRET_BYTES = 32;

/** Creates a signing secret in the form shown to clients: `whsec_` and base64. */
function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/**
 * Returns the headers of Standard Webhooks 1.0.0, with one HMAC-SHA256 for each secret. The
 * receiver needs only one of the secrets. `body` is signed as the UTF-8 bytes that are sent.
 */
export function signedHeaders(
  secrets: readonly string[],
  id: string,
  at: Date,
  body: string,
): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}

/** Milliseconds for which a rotated secret is used for signing in addition to the new one. */
const OVERLAP_MS = DAY_MS;
/**
 * Maximum number of rotated secrets still used for signing. A further rotation ends the use of the
 * oldest at once.
 */
const MOST_ROTATED = 2;

export interface WebhookSecret {
  secret: string;
  created_at: Date;
}

/** Returns the current secret of an account, creating it when first called. */
export async function currentSecret(
  database: Queryable,
  accountId: string,
  now: Date,
): Promise<WebhookSecret> {
  await database.query(
    `INSERT INTO webhook_secrets (account_id, secret, created_at) VALUES ($1, $2, $3)
     ON CONFLICT (account_id) WHERE ends_at IS NULL DO NOTHING`,
    [accountId, newSecret(), now],
  );
  const { rows } = await database.query<WebhookSecret>(
    `SELECT secret, created_at FROM webhook_secrets
     WHERE account_id = $1 AND ends_at IS NULL`,
    [accountId],
  );
  const [current] = rows;
  if (!current) throw new Error(`account ${accountId} has no webhook secret`);
  return current;
}

/** Returns all secrets in use for signing, the current one first. */
export async function signingSecrets(
  database: Queryable,
  accountId: string,
  now: Date,
): Promise<string[]> {
  const current = await currentSecret(database, accountId, now);
  const { rows } = await database.query<{ secret: string }>(
    `SELECT secret FROM webhook_secrets WHERE account_id = $1 AND ends_at > $2
     ORDER BY ends_at DESC LIMIT $3`,
    [accountId, now, MOST_ROTATED],
  );
  return [current.secret, ...rows.map(({ secret }) => secret)];
}

/**
 * Creates a new secret. Each of the previous two secrets is still used for signing for 24 hours
 * after its rotation.
 */
export function rotateSecret(
  database: Database,
  accountId: string,
  now: Date,
): Promise<WebhookSecret> {
  return database.transaction(async (tx) => {
    await tx.query(
      'UPDATE webhook_secrets SET ends_at = $2 WHERE account_id = $1 AND ends_at IS NULL',
      [accountId, new Date(now.getTime() + OVERLAP_MS)],
    );
    await tx.query(
      `DELETE FROM webhook_secrets WHERE account_id = $1 AND ends_at IS NOT NULL
         AND (ends_at <= $2 OR secret NOT IN (SELECT secret FROM webhook_secrets
           WHERE account_id = $1 AND ends_at IS NOT NULL ORDER BY ends_at DESC LIMIT $3))`,
      [accountId, now, MOST_ROTATED],
    );
    return currentSecret(tx, accountId, now);
  });
}
