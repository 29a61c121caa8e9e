import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Database, Queryable } from '../../platform/database/port.ts';
import type { ConsoleRole } from './contract.ts';

/** Milliseconds without use after which a session ends. */
export const IDLE_MS = 30 * 60_000;
/** Milliseconds after which a session ends even if it is in use: one working day. */
export const LONGEST_MS = 12 * 3_600_000;

const TOKEN_BYTES = 32;
/**
 * Milliseconds between two updates of `seen_at`, so that an open page does not cause a write with
 * each request.
 */
const NOTED_EVERY_MS = 60_000;

/** Milliseconds between checks of whether the session of an open event stream still exists. */
const LOOK_MS = 10_000;

export interface Person {
  /** `key:<id>`, or `oidc:<issuer> <subject>`. */
  principal: string;
  /** Name shown in the console: the name of the key, or the name from the identity provider. */
  name: string;
  role: ConsoleRole;
  /** Id of the key; null for a person from the identity provider. */
  keyId: string | null;
}

export interface ConsoleSession extends Person {
  /** Hexadecimal SHA-256 of the session's cookie. */
  sha256: string;
  csrf: string;
}

/**
 * Begins a session.
 * @returns the session, and the value of its cookie, which is not stored and cannot be read back.
 */
export async function beginSession(
  database: Queryable,
  { principal, name, role, keyId }: Person,
  now: Date,
): Promise<{ token: string; session: ConsoleSession }> {
  const token = newToken();
  const session: ConsoleSession = {
    principal,
    name,
    role,
    keyId,
    sha256: digest(token),
    csrf: newToken(),
  };
  await database.query('DELETE FROM console_sessions WHERE ends_at <= $1 OR seen_at <= $2', [
    now,
    after(now, -IDLE_MS),
  ]);
  await database.query(
    `INSERT INTO console_sessions (sha256, principal, person, role, key_id, csrf, created_at,
       seen_at, ends_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8)`,
    [session.sha256, principal, name, role, keyId, session.csrf, now, after(now, LONGEST_MS)],
  );
  return { token, session };
}

interface SessionRow {
  sha256: string;
  principal: string;
  person: string;
  role: ConsoleRole;
  key_id: string | null;
  csrf: string;
  seen_at: Date;
}

/**
 * Returns the session whose cookie has this SHA-256. A session started with a key has the key's
 * current role, and ends when the key expires or is revoked.
 * @param used whether a person is using the session now, which extends it.
 * @returns null if there is no such session or it has ended.
 */
export async function findSession(
  database: Queryable,
  sha256: string,
  now: Date,
  { used }: { used: boolean },
): Promise<ConsoleSession | null> {
  const { rows } = await database.query<SessionRow>(
    `SELECT s.sha256, s.principal, s.person, coalesce(k.console_role, s.role) AS role, s.key_id,
       s.csrf, s.seen_at
     FROM console_sessions s LEFT JOIN api_keys k ON k.id = s.key_id
     WHERE s.sha256 = $1 AND s.ends_at > $2 AND s.seen_at > $3
       AND (s.key_id IS NULL OR (k.console_role IS NOT NULL AND k.revoked_at IS NULL
         AND (k.expires_at IS NULL OR k.expires_at > $2)))`,
    [sha256, now, after(now, -IDLE_MS)],
    'find-console-session',
  );
  const [row] = rows;
  if (!row) return null;
  if (used && now.getTime() - row.seen_at.getTime() >= NOTED_EVERY_MS) {
    await database.query('UPDATE console_sessions SET seen_at = $2 WHERE sha256 = $1', [
      row.sha256,
      now,
    ]);
  }
  return {
    sha256: row.sha256,
    principal: row.principal,
    name: row.person,
    role: row.role,
    keyId: row.key_id,
    csrf: row.csrf,
  };
}

/**
 * Checks every 10 s whether a session has ended or its role has changed, until `stop` is called.
 * With it, an open event stream can be closed when its session ends.
 * @returns the signal `over`, which is aborted in either case.
 */
export function watchSession(
  { sha256, role }: ConsoleSession,
  { database, now }: { database: Queryable; now(): Date },
): { over: AbortSignal; stop(): void } {
  const over = new AbortController();
  const watching = setInterval(() => {
    findSession(database, sha256, now(), { used: false }).then(
      (found) => found?.role === role || over.abort(),
      () => {},
    );
  }, LOOK_MS);
  return { over: over.signal, stop: () => clearInterval(watching) };
}

/** Ends one session, if it exists. */
export async function endSession(database: Queryable, sha256: string): Promise<void> {
  await database.query('DELETE FROM console_sessions WHERE sha256 = $1', [sha256]);
}

/** Ends all of a person's sessions, in every browser. */
export async function endSessionsOf(database: Database, principal: string): Promise<void> {
  await database.query('DELETE FROM console_sessions WHERE principal = $1', [principal]);
}

/** Compares two tokens in constant time. */
export function isSameToken(given: string, expected: string): boolean {
  const [one, other] = [given, expected].map((text) => createHash('sha256').update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}

/** Returns 256 random bits, encoded for cookies and headers. */
export const newToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

export const digest = (token: string): string => createHash('sha256').update(token).digest('hex');

const after = (at: Date, milliseconds: number): Date => new Date(at.getTime() + milliseconds);
