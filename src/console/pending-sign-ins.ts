import type { Queryable } from '../database/port.ts';
import type { PendingSignIn } from './oidc.ts';
import { digest, newToken } from './sessions.ts';

/** A person may take this long at the identity provider. */
const LIFE_MS = 10 * 60_000;

/** Remembers a sign-in until the browser comes back. @returns the cookie that binds it to it. */
export async function beginSignIn(
  database: Queryable,
  { state, nonce, codeVerifier }: PendingSignIn,
  nextPage: string,
  now: Date,
): Promise<string> {
  const token = newToken();
  await database.query('DELETE FROM console_sign_ins WHERE ends_at <= $1', [now]);
  await database.query(
    `INSERT INTO console_sign_ins (sha256, state, nonce, code_verifier, next_page, ends_at)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [digest(token), state, nonce, codeVerifier, nextPage, new Date(now.getTime() + LIFE_MS)],
  );
  return token;
}

/** Takes the sign-in of a cookie, once; null when there is none, or no longer one. */
export async function takeSignIn(
  database: Queryable,
  token: string,
  now: Date,
): Promise<{ pending: PendingSignIn; nextPage: string } | null> {
  const { rows } = await database.query<{
    state: string;
    nonce: string;
    code_verifier: string;
    next_page: string;
  }>(
    `DELETE FROM console_sign_ins WHERE sha256 = $1 AND ends_at > $2
     RETURNING state, nonce, code_verifier, next_page`,
    [digest(token), now],
  );
  const [row] = rows;
  if (!row) return null;
  const { state, nonce, code_verifier: codeVerifier, next_page: nextPage } = row;
  return { pending: { state, nonce, codeVerifier }, nextPage };
}
