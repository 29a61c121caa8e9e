import type { Context, Middleware } from 'koa';
import type { Config } from '../../../config/schema.ts';
import { DEFAULT_ACCOUNT_ID } from '../../core/accounts/keys.ts';
import { requireCapability } from '../../core/accounts/roles.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { baseUrl } from '../http/context.ts';
import type { ConsoleDeps, ConsoleState } from './context.ts';
import type { Capability } from './contract.ts';
import { digest, findSession, isSameToken } from './sessions.ts';

/** The console's cookies: `session` while signed in, `sign-in` while at the identity provider. */
const COOKIES = ['session', 'sign-in'] as const;
type ConsoleCookie = (typeof COOKIES)[number];

type Place = Pick<Config['http'], 'publicUrl' | 'maxBodyBytes' | 'maxFileBytes'>;

/**
 * Checks that the connection is safe for cookies. Browsers accept a `__Host-` cookie only with
 * Secure, Path=/ and no Domain, so no other host can set it (RFC 6265bis 4.1.3.2). They accept no
 * Secure cookie over plain HTTP. On loopback the cookie is therefore sent without Secure; on any
 * other address, signing in over plain HTTP is refused.
 * @throws SonogateError `forbidden`
 */
export function requireSafePlace(context: Context, config: Place): void {
  if (isSecure(context, config) || isLoopback(context.hostname)) return;
  throw new SonogateError(
    'forbidden',
    'Signing in to the console requires https; set http.publicUrl to the https address.',
  );
}

/** Sets a cookie for as long as the browser is open; a value of null removes it. */
export function setCookie(
  context: Context,
  config: Place,
  cookie: ConsoleCookie,
  value: string | null,
): void {
  const secure = isSecure(context, config);
  const attributes = ['Path=/', 'HttpOnly', 'SameSite=Lax'];
  if (value === null) attributes.push('Max-Age=0');
  if (secure) attributes.push('Secure');
  context.append(
    'Set-Cookie',
    [`${nameOf(cookie, secure)}=${value ?? ''}`, ...attributes].join('; '),
  );
}

/** Returns the cookie's value; null if the browser did not send it. */
export function readCookie(context: Context, config: Place, cookie: ConsoleCookie): string | null {
  const wanted = `${nameOf(cookie, isSecure(context, config))}=`;
  const pair = context
    .get('Cookie')
    .split(';')
    .map((text) => text.trim())
    .find((text) => text.startsWith(wanted));
  return pair?.slice(wanted.length) || null;
}

const isSecure = (context: Context, config: Place): boolean =>
  baseUrl(context, config).startsWith('https:');

const nameOf = (cookie: ConsoleCookie, secure: boolean): string =>
  `${secure ? '__Host-' : ''}sonogate-${cookie}`;

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

type GuardDeps = Pick<ConsoleDeps, 'config' | 'database' | 'limits' | 'refusals' | 'now'>;

/**
 * Admits HTTP requests with a valid session. A request that changes something must also prove its
 * origin. A request that the person's role does not permit is audited.
 */
export function signedIn(deps: GuardDeps): Middleware<ConsoleState> {
  const { config, database, limits, refusals, now } = deps;
  return async (context, next) => {
    const token = readCookie(context, config.http, 'session');
    const session = token && (await findSession(database, digest(token), now(), { used: true }));
    if (!session) throw new SonogateError('unauthenticated', 'Sign in to the console.');
    const who = session.keyId ?? session.principal;
    const allowance = await limits.take(`console ${session.principal}`);
    if (!allowance.allowed) {
      context.set('Retry-After', String(allowance.retrySeconds));
      throw new SonogateError('rate_limited', 'Too many calls in this session.');
    }
    if (isChange(context)) {
      requireOwnPage(context, config.http);
      if (!isSameToken(context.get('X-CSRF-Token'), session.csrf)) {
        throw new SonogateError('forbidden', "The call lacks the session's token.");
      }
    }
    context.state.session = session;
    // Studies belong to the installation's own account, which is the one that the console shows.
    context.state.principal = {
      accountId: DEFAULT_ACCOUNT_ID,
      keyId: who,
      test: false,
      scopes: [],
    };
    try {
      await next();
    } catch (error) {
      if (error instanceof SonogateError && error.code === 'forbidden') {
        refusals.refused({
          action: 'permission.refused',
          actor: `person:${session.name}`,
          keyId: session.keyId,
          address: context.ip,
          detail: { role: session.role, call: `${context.method} ${context._matchedRoute}` },
        });
      }
      throw error;
    }
  };
}

/**
 * Requires a capability; must come after `signedIn`.
 * @throws SonogateError `forbidden` if the role does not have it.
 */
export function needs(capability: Capability): Middleware<ConsoleState> {
  return (context, next) => {
    requireCapability(context.state.session.role, capability);
    return next();
  };
}

/**
 * Refuses an HTTP request from a page of another origin (Fetch Metadata; RFC 6454 7). A request
 * with neither `Sec-Fetch-Site` nor `Origin` does not come from a browser. It is accepted, because
 * only a browser could send the cookie without its user's intention.
 */
export function requireOwnPage(context: Context, config: Place): void {
  const site = context.get('Sec-Fetch-Site');
  const origin = context.get('Origin');
  const own = new URL(baseUrl(context, config)).origin;
  const foreign = (site !== '' && site !== 'same-origin') || (origin !== '' && origin !== own);
  if (foreign)
    throw new SonogateError('forbidden', 'The call comes from a page of another origin.');
}

const isChange = ({ method }: Context): boolean => method !== 'GET' && method !== 'HEAD';
