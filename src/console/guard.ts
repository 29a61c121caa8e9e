import type { Context, Middleware } from 'koa';
import { DEFAULT_ACCOUNT_ID } from '../accounts/keys.ts';
import { SonogateError } from '../errors/catalogue.ts';
import { baseUrl } from '../http/deps.ts';
import type { Capability } from './contract.ts';
import { readCookie } from './cookies.ts';
import type { ConsoleDeps, ConsoleState } from './deps.ts';
import { requireCapability } from './roles.ts';
import { digest, findSession, isSameToken } from './sessions.ts';

type GuardDeps = Pick<ConsoleDeps, 'config' | 'database' | 'limits' | 'now'>;

/** Lets a call through that has a session; one that changes something also proves where it is from. */
export function signedIn(deps: GuardDeps): Middleware<ConsoleState> {
  const { config, database, limits, now } = deps;
  return async (context, next) => {
    const token = readCookie(context, config.http, 'session');
    const session = token && (await findSession(database, digest(token), now(), { used: true }));
    if (!session) throw new SonogateError('unauthenticated', 'Sign in to the console.');
    const who = session.keyId ?? session.principal;
    const allowance = await limits.take(`console ${session.principal}`);
    if (!allowance.allowed) {
      context.set('Retry-After', String(allowance.retrySeconds));
      throw new SonogateError('rate_limited', 'Too many calls of this session.');
    }
    if (isChange(context)) {
      requireOwnPage(deps)(context);
      if (!isSameToken(context.get('X-CSRF-Token'), session.csrf)) {
        throw new SonogateError('forbidden', 'The call lacks the token of its session.');
      }
    }
    context.state.session = session;
    // Studies belong to the site's own account, and so does its console.
    context.state.principal = {
      accountId: DEFAULT_ACCOUNT_ID,
      keyId: who,
      test: false,
      scopes: [],
    };
    await next();
  };
}

/** Stands after `signedIn`. @throws SonogateError `forbidden` when the role may not. */
export function needs(capability: Capability): Middleware<ConsoleState> {
  return (context, next) => {
    requireCapability(context.state.session.role, capability);
    return next();
  };
}

/**
 * Refuses a call that a page of another origin makes (Fetch Metadata; RFC 6454 7). One without both
 * headers comes from no browser and has no cookie by accident.
 * @throws SonogateError `forbidden`
 */
export function requireOwnPage({ config }: Pick<GuardDeps, 'config'>) {
  return (context: Context): void => {
    const site = context.get('Sec-Fetch-Site');
    const origin = context.get('Origin');
    const own = new URL(baseUrl(context, config.http)).origin;
    const foreign = (site !== '' && site !== 'same-origin') || (origin !== '' && origin !== own);
    if (foreign)
      throw new SonogateError('forbidden', 'The call comes from a page of another origin.');
  };
}

const isChange = ({ method }: Context): boolean => method !== 'GET' && method !== 'HEAD';
