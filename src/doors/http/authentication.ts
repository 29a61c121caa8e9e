import type { Context, Middleware } from 'koa';
import type { Principal, Scope } from '../../core/accounts/keys.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { rateLimitHeaders } from './call-limits.ts';
import type { HttpDeps, HttpState } from './context.ts';

/**
 * Form of the Authorization header (RFC 6750 2.1). The client of the compatible queue sends the
 * scheme `Key` (exchange 5.1).
 */
const CREDENTIALS = /^(?:Bearer|Key) +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * True if a key has a scope. `admin` includes every scope except `sign`, which is reserved for
 * clinicians.
 */
export const mayUse = ({ scopes }: Pick<Principal, 'scopes'>, scope: Scope): boolean =>
  scopes.includes(scope) || (scope !== 'sign' && scopes.includes('admin'));

/**
 * Returns the API key sent with a call.
 * @throws SonogateError `unauthenticated`
 */
export function bearerKey(context: Pick<Context, 'get'>): string {
  const key = CREDENTIALS.exec(context.get('Authorization'))?.[1];
  if (key) return key;
  throw new SonogateError('unauthenticated', 'Send `Authorization: Bearer` with an API key.');
}

/** Accepts a call if its key is valid, has the scope and has not reached its call limit. */
export function requireScope(
  { limits, refusals, now = () => new Date() }: Pick<HttpDeps, 'limits' | 'refusals' | 'now'>,
  scope: Scope,
): Middleware<HttpState> {
  return async (context, next) => {
    const key = bearerKey(context);
    const { principal, allowance } = await limits.admit(key, now()).catch((error: unknown) => {
      refusals?.refused({ action: 'key.refused', actor: 'key:unknown', address: context.ip });
      throw error;
    });
    context.set(rateLimitHeaders(allowance));
    if (!allowance.allowed) {
      context.set('Retry-After', String(allowance.retrySeconds));
      throw new SonogateError(
        'rate_limited',
        `A key may make ${allowance.quota} calls per minute.`,
      );
    }
    requireHeld(context, principal, { refusals, scope });
    context.state.principal = principal;
    await next();
  };
}

/** Accepts a call only if its key, which `requireScope` has accepted, also has another scope. */
export function alsoRequireScope(
  { refusals }: Pick<HttpDeps, 'refusals'>,
  scope: Scope,
): Middleware<HttpState> {
  return (context, next) => {
    requireHeld(context, context.state.principal, { refusals, scope });
    return next();
  };
}

/** @throws SonogateError `forbidden` if a key lacks a scope; the refusal is audited. */
function requireHeld(
  { ip: address }: Pick<Context, 'ip'>,
  principal: Principal,
  { refusals, scope }: Pick<HttpDeps, 'refusals'> & { scope: Scope },
): void {
  if (mayUse(principal, scope)) return;
  const { keyId } = principal;
  refusals?.refused({ action: 'permission.refused', keyId, address, detail: { scope } });
  throw new SonogateError('forbidden', `This call requires a key with the scope "${scope}".`);
}
