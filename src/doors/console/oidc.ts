import { readFile } from 'node:fs/promises';
import * as client from 'openid-client';
import type { Config } from '../../../config/schema.ts';
import { CONSOLE_ROLES } from '../../core/accounts/roles.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { readSecret } from '../../platform/secret.ts';
import type { ConsoleRole } from './contract.ts';
import { digest, newToken, type Person } from './sessions.ts';

type OidcSettings = NonNullable<Config['console']['oidc']>;

/** State of a sign-in while the person is at the identity provider. */
interface PendingSignIn {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/**
 * An OpenID Connect provider: authorization code with PKCE (RFC 7636), state and nonce (OpenID
 * Connect Core 3.1). Its metadata and our secret are read at the first sign-in, again after ten
 * minutes, and after any failure, so that a provider can change its addresses or the secret.
 */
export interface OidcProvider {
  label: string;
  /**
   * Returns the URL to which the browser is redirected.
   * @throws SonogateError `identity_provider_unavailable`
   */
  begin(redirectUri: string): Promise<{ address: URL; pending: PendingSignIn }>;
  /**
   * Returns the person whom the provider has signed in.
   * @param callback the complete URL to which the provider redirected the browser.
   * @throws SonogateError `sign_in_failed`, `forbidden` for a person without a role,
   * `identity_provider_unavailable`.
   */
  complete(callback: URL, pending: PendingSignIn): Promise<Person>;
}

/** Milliseconds for which the metadata of the provider and our secret are kept. */
const KEPT_MS = 10 * 60_000;

export function createOidcProvider(
  settings: OidcSettings,
  now: () => number = Date.now,
): OidcProvider {
  let found: { configuration: Promise<client.Configuration>; at: number } | null = null;
  const configuration = () => {
    if (found === null || now() - found.at > KEPT_MS) {
      const configuration = discoverProvider(settings).catch((error: unknown) => {
        found = null;
        throw unavailable(error);
      });
      found = { configuration, at: now() };
    }
    return found.configuration;
  };

  return {
    label: settings.label,

    async begin(redirectUri) {
      const provider = await configuration();
      const pending = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        codeVerifier: client.randomPKCECodeVerifier(),
      };
      const address = client.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: settings.scopes.join(' '),
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(pending.codeVerifier),
        code_challenge_method: 'S256',
      });
      return { address, pending };
    },

    async complete(callback, { state, nonce, codeVerifier }) {
      const provider = await configuration();
      const checks = {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      };
      const tokens = await client
        .authorizationCodeGrant(provider, callback, checks)
        .catch((error: unknown) => {
          found = null;
          throw isOfTheNetwork(error) ? unavailable(error) : refused(error);
        });
      const claims = tokens.claims();
      if (!claims) throw refused(new Error('the provider sent no ID token'));
      const role = roleOf(claims[settings.roleClaim], settings.roles);
      if (!role) {
        throw new SonogateError(
          'forbidden',
          'The identity provider does not give this person a role in the console.',
        );
      }
      const name = claims[settings.nameClaim];
      return {
        principal: `oidc:${claims.iss} ${claims.sub}`,
        name: typeof name === 'string' && name !== '' ? name : claims.sub,
        role,
        keyId: null,
      };
    },
  };
}

/**
 * Reads the provider's metadata and our secret.
 * @throws Error if one of them cannot be read, or if the metadata are those of another issuer.
 */
export async function discoverProvider(settings: OidcSettings): Promise<client.Configuration> {
  const issuer = new URL(settings.issuer);
  const secret = settings.clientSecret && (await readSecret(settings.clientSecret));
  return client.discovery(
    issuer,
    settings.clientId,
    undefined,
    secret ? client.ClientSecretBasic(secret) : client.None(),
    {
      // The schema allows http only on loopback.
      ...(issuer.protocol === 'http:' && { execute: [client.allowInsecureRequests] }),
      ...(settings.caFile && { [client.customFetch]: await fetchTrusting(settings.caFile) }),
    },
  );
}

/** Returns `fetch` for servers whose certificates the authority in a file has issued. */
async function fetchTrusting(caFile: string): Promise<client.CustomFetch> {
  const [ca, { Agent }] = await Promise.all([readFile(caFile), import('undici')]);
  const dispatcher = new Agent({ connect: { ca } });
  return (url, options) => fetch(url, { ...options, dispatcher } as RequestInit);
}

/** Returns the most privileged role to which a claim's values map; null if they map to no role. */
export function roleOf(claim: unknown, roles: OidcSettings['roles']): ConsoleRole | null {
  const values = (Array.isArray(claim) ? claim : [claim]).filter((one) => typeof one === 'string');
  const given = CONSOLE_ROLES.filter((role) => roles[role]?.some((name) => values.includes(name)));
  return given.at(-1) ?? null;
}

/**
 * Whether an error means that the provider could not be reached. In this case `fetch` throws a
 * TypeError whose cause has the code of the network error, and the library passes it on or wraps it.
 */
function isOfTheNetwork(error: unknown): boolean {
  if (error instanceof client.ClientError && error.code === 'OAUTH_TIMEOUT') return true;
  return error instanceof Error && [error, error.cause].some(isFetchFailure);
}

const isFetchFailure = (error: unknown): boolean =>
  error instanceof TypeError && error.cause instanceof Error && 'code' in error.cause;

const unavailable = (cause: unknown) =>
  new SonogateError('identity_provider_unavailable', undefined, { cause });

const refused = (cause: unknown) => new SonogateError('sign_in_failed', undefined, { cause });

/** Milliseconds that a person may take at the identity provider. */
const LIFE_MS = 10 * 60_000;

/**
 * Stores a sign-in until the browser returns.
 * @returns the value of the cookie that ties the browser to this sign-in.
 */
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

/**
 * Returns the pending sign-in that a cookie belongs to, and deletes it, so that it can be used only
 * once. Returns null if there is no such sign-in or it has expired.
 */
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
