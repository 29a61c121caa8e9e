import { hash, randomBytes } from 'node:crypto';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { newId } from '../../platform/ids.ts';
import type { ConsoleRole } from './roles.ts';

/**
 * The account that every database has from the beginning. Keys belong to it unless another account
 * is specified.
 */
export const DEFAULT_ACCOUNT_ID = 'default';

/**
 * The permissions of a key. `store` permits sending studies by STOW-RS; `retrieve` permits
 * searching for and retrieving studies that identify patients (QIDO-RS, WADO-RS). `review` permits
 * changing a draft; `sign` permits signing it in the name of the key. `admin` includes every scope
 * except `sign`.
 */
export const SCOPES = [
  'run',
  'read',
  'uploads',
  'store',
  'retrieve',
  'review',
  'sign',
  'admin',
] as const;
export type Scope = (typeof SCOPES)[number];

/**
 * The scopes that a client needs to upload, run and read: the default for a key without a console
 * role. `admin` must be requested explicitly.
 */
export const CLIENT_SCOPES: readonly Scope[] = ['run', 'read', 'uploads'];

export interface Principal {
  accountId: string;
  keyId: string;
  test: boolean;
  scopes: readonly Scope[];
  consoleRole?: ConsoleRole | null;
}

/**
 * Returns true if a key may read studies and reports that identify patients: it must belong to the
 * installation's own account, have the scope `retrieve` or `admin`, and not be a test key.
 */
export const mayRetrieveStudies = ({
  accountId,
  test,
  scopes,
}: Pick<Principal, 'accountId' | 'test' | 'scopes'>): boolean =>
  accountId === DEFAULT_ACCOUNT_ID &&
  !test &&
  (scopes.includes('retrieve') || scopes.includes('admin'));

/** A key as listed, without the secret, which is not stored. */
export interface KeyRecord {
  id: string;
  name: string;
  account_id: string;
  test: boolean;
  scopes: Scope[];
  /** Role in the console; null if the key cannot sign in there. */
  console_role: ConsoleRole | null;
  created_at: Date;
  last_used_at: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
}

export interface NewKey {
  name: string;
  test?: boolean;
  scopes?: readonly Scope[];
  accountId?: string;
  expiresAt?: Date | null;
  /**
   * Role in the console. Only keys of the installation's own account may have one, because the
   * console shows the studies of this account.
   */
  consoleRole?: ConsoleRole | null;
}

/** Hours for which a rotated key keeps working after its replacement was created. */
export const OVERLAP_HOURS = { usual: 24, longest: 7 * 24 } as const;

const KEY_BYTES = 32;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Number of base-62 digits that represent 256 bits: ⌈256 / log2(62)⌉. */
const KEY_DIGITS = 43;
const KEY_FORM = new RegExp(`^sg_(live|test)_[0-9A-Za-z]{${KEY_DIGITS}}$`);

const COLUMNS =
  'id, name, account_id, test, scopes, console_role, created_at, last_used_at, expires_at, revoked_at';

/** Creates a key. `key` is the secret itself: it is shown once and cannot be read back. */
export async function createKey(
  database: Queryable,
  key: NewKey,
  now = new Date(),
): Promise<{ key: string; record: KeyRecord }> {
  const { name, test = false, expiresAt = null, consoleRole = null } = key;
  // A console key may call the API only with explicitly requested scopes.
  const { scopes = consoleRole === null ? CLIENT_SCOPES : [] } = key;
  const secret = `sg_${test ? 'test' : 'live'}_${base62(randomBytes(KEY_BYTES))}`;
  const { rows } = await database.query<KeyRecord>(
    `INSERT INTO api_keys (id, account_id, name, sha256, test, scopes, created_at, expires_at,
       console_role)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING ${COLUMNS}`,
    [
      newId('key'),
      key.accountId ?? DEFAULT_ACCOUNT_ID,
      name,
      hash('sha256', secret),
      test,
      [...scopes],
      now,
      expiresAt,
      consoleRole,
    ],
  );
  return { key: secret, record: rows[0] as KeyRecord };
}

/** Lists the keys of an account, or of all accounts, oldest first. Revoked keys are included. */
export async function listKeys(
  database: Queryable,
  accountId: string | null = null,
): Promise<KeyRecord[]> {
  const { rows } = await database.query<KeyRecord>(
    `SELECT ${COLUMNS} FROM api_keys WHERE $1::text IS NULL OR account_id = $1 ORDER BY id`,
    [accountId],
  );
  return rows;
}

/**
 * Revokes a key immediately and permanently. Revoking it again keeps the first date.
 * @throws SonogateError `not_found` if there is no such key or, with `testOnly`, if it is not a
 * test key.
 */
export async function revokeKey(
  database: Queryable,
  id: string,
  accountId: string | null = null,
  now = new Date(),
  testOnly = false,
): Promise<KeyRecord> {
  const { rows } = await database.query<KeyRecord>(
    `UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2)
     WHERE id = $1 AND ($3::text IS NULL OR account_id = $3) AND (test OR NOT $4)
     RETURNING ${COLUMNS}`,
    [id, now, accountId, testOnly],
  );
  const record = rows[0];
  if (!record) throw new SonogateError('not_found', `There is no key ${id}.`);
  return record;
}

/**
 * Creates a key that replaces another, with the same name, scopes, kind, console role and expiry.
 * The old key keeps working for `overlapHours`, so that its users can change over, unless it
 * expires earlier. With an `accountId`, only a key of that account can be replaced; with null, a
 * key of any account.
 * @throws SonogateError `not_found`, also if the key is revoked or expired or, with `testOnly`, if
 * it is not a test key.
 */
export function rotateKey(
  database: Database,
  rotation: {
    id: string;
    accountId: string | null;
    overlapHours: number;
    testOnly: boolean;
    /** Throws if the caller may not have a key with the rights of this one. */
    permit?(key: KeyRecord): void;
  },
  now = new Date(),
): Promise<{ key: string; record: KeyRecord }> {
  const { id, accountId, overlapHours, testOnly, permit } = rotation;
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<KeyRecord & { ends_at: Date | null }>(
      `UPDATE api_keys SET expires_at = LEAST(expires_at, $3)
       FROM (SELECT id AS old, expires_at AS ends_at FROM api_keys WHERE id = $1 FOR UPDATE) before
       WHERE id = old AND ($2::text IS NULL OR account_id = $2) AND revoked_at IS NULL
         AND (expires_at IS NULL OR expires_at > $4) AND (test OR NOT $5) RETURNING ${COLUMNS}, ends_at`,
      [id, accountId, new Date(now.getTime() + overlapHours * 3_600_000), now, testOnly],
    );
    const old = rows[0];
    if (!old) throw new SonogateError('not_found', `There is no working key ${id}.`);
    permit?.(old);
    const { name, test, scopes, account_id: accountOf, console_role: consoleRole } = old;
    const replacement = { name, test, scopes, accountId: accountOf, consoleRole };
    return createKey(tx, { ...replacement, expiresAt: old.ends_at }, now);
  });
}

/**
 * Returns the account and scopes of a key. The HTTP API looks them up together with the call limits
 * (`CallLimits.admit`). They are looked up every time, so that a revocation takes effect at once.
 * @throws SonogateError `invalid_key` if the key is unknown, revoked or expired.
 */
export type Authenticate = (key: string, now?: Date) => Promise<Principal>;

/** SQL: the keys with the SHA-256 digests in `$1`, except revoked ones. */
export const KEYS_BY_DIGEST = `SELECT sha256, ${COLUMNS} FROM api_keys
  WHERE sha256 = ANY($1::text[]) AND revoked_at IS NULL`;

/** A row of KEYS_BY_DIGEST. */
export type StoredKey = KeyRecord & { sha256: string };

export function createAuthenticate(database: Queryable): Authenticate {
  return async (key, now = new Date()) => {
    const { rows } = await database.query<StoredKey>(KEYS_BY_DIGEST, [[digestOf(key)]]);
    return usedBy(database, rows[0] ?? null, now);
  };
}

/**
 * Returns the digest under which a key is stored.
 * @throws SonogateError `invalid_key` if the text does not have the form of a key.
 */
export function digestOf(key: string): string {
  if (!KEY_FORM.test(key)) throw new SonogateError('invalid_key');
  return hash('sha256', key);
}

/**
 * Returns the account and scopes of a key, and records that it was used.
 * @throws SonogateError `invalid_key` if there is no such key or it is expired.
 */
export async function usedBy(
  database: Queryable,
  record: KeyRecord | null,
  now: Date,
): Promise<Principal> {
  if (!record || (record.expires_at !== null && record.expires_at <= now)) {
    throw new SonogateError('invalid_key');
  }
  await noteUse(database, record, now);
  return {
    accountId: record.account_id,
    keyId: record.id,
    test: record.test,
    scopes: record.scopes,
    consoleRole: record.console_role,
  };
}

const NOTED_EVERY_MS = 60_000;

/**
 * Records when the key was last used, to the minute, so that a polling client does not cause a
 * write per request.
 */
async function noteUse(
  database: Queryable,
  { id, last_used_at: last }: KeyRecord,
  now: Date,
): Promise<void> {
  if (last !== null && now.getTime() - last.getTime() < NOTED_EVERY_MS) return;
  await database.query('UPDATE api_keys SET last_used_at = $2 WHERE id = $1', [id, now]);
}

function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let digits = '';
  for (let n = 0; n < KEY_DIGITS; n++) {
    digits = BASE62[Number(rest % 62n)] + digits;
    rest /= 62n;
  }
  return digits;
}

/** Returns a valid key; null if it is unknown, revoked or expired. */
export async function findKey(
  database: Queryable,
  id: string,
  now: Date,
): Promise<KeyRecord | null> {
  const { rows } = await database.query<KeyRecord>(
    `SELECT ${COLUMNS} FROM api_keys
     WHERE id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`,
    [id, now],
  );
  return rows[0] ?? null;
}

/** Returns the name of a key; '' if there is no such key. */
export async function keyName(database: Queryable, id: string): Promise<string> {
  const { rows } = await database.query<{ name: string }>(
    'SELECT name FROM api_keys WHERE id = $1',
    [id],
  );
  return rows[0]?.name ?? '';
}
