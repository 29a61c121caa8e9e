import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { DEFAULT_ACCOUNT_ID, keyName } from '../../core/accounts/keys.ts';
import { ROLES } from '../../core/accounts/roles.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { baseUrl } from '../http/context.ts';
import { jsonBody, parseBody } from '../http/parse.ts';
import type { ConsoleDeps, ConsoleState } from './context.ts';
import type { NewSession, Session, SignIn } from './contract.ts';
import { readCookie, requireOwnPage, requireSafePlace, setCookie, signedIn } from './guard.ts';
import { beginSignIn, takeSignIn } from './oidc.ts';
import {
  beginSession,
  type ConsoleSession,
  digest,
  endSession,
  endSessionsOf,
  type Person,
} from './sessions.ts';

const newSession: z.ZodType<NewSession> = z.strictObject({ key: z.string().max(200) });

/** Page shown after a failed sign-in; it explains the failure from the error code in its URL. */
const SIGN_IN_PAGE = '/console/sign-in';

type Call = Context & { state: ConsoleState };

/** Adds the routes for signing in, by key or at an OpenID Connect provider, and for signing out. */
export function addSessionRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { database, config, oidc, now } = deps;
  const { http } = config;

  router.get('/sign-in', (context) => {
    context.body = { oidc: oidc && { label: oidc.label } } satisfies SignIn;
  });

  router.post('/session', jsonBody(http.maxBodyBytes), async (context) => {
    requireSafePlace(context, http);
    requireOwnPage(context, http);
    await takeSignInAttempt(context, deps);
    const { key } = parseBody(newSession, context.state.body);
    const session = await signIn(context, await personOfKey(context, key, deps), deps);
    context.status = 201;
    context.body = shownSession(session);
  });

  addOidcRoutes(router, deps);

  const session = signedIn(deps);

  router.get('/session', session, (context) => {
    context.body = shownSession(context.state.session);
  });

  router.delete('/session', session, async (context) => {
    await endSession(database, context.state.session.sha256);
    await signedOut(context, deps);
  });

  router.delete('/sessions', session, async (context) => {
    await endSessionsOf(database, context.state.session.principal);
    await signedOut(context, deps);
  });

  async function signedOut(context: Call, { writeAudit }: ConsoleDeps): Promise<void> {
    const { name, keyId } = context.state.session;
    await writeAudit({
      at: now(),
      action: 'session.logout',
      actor: `person:${name}`,
      keyId,
      address: context.ip,
      outcome: 'success',
    });
    setCookie(context, http, 'session', null);
    context.status = 204;
  }
}

/** Adds the routes for signing in at an OpenID Connect provider. */
function addOidcRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { database, config, oidc, now } = deps;
  const { http } = config;

  router.get('/oidc/start', async (context) => {
    requireSafePlace(context, http);
    if (!oidc) throw new SonogateError('not_found', 'No identity provider is configured.');
    await takeSignInAttempt(context, deps);
    await orToSignInPage(context, deps, async () => {
      const { address, pending } = await oidc.begin(redirectUri(context, deps));
      const token = await beginSignIn(database, pending, nextPage(context.query.next), now());
      setCookie(context, http, 'sign-in', token);
      context.redirect(address.href);
    });
  });

  router.get('/oidc/callback', async (context) => {
    if (!oidc) throw new SonogateError('not_found', 'No identity provider is configured.');
    await takeSignInAttempt(context, deps);
    await orToSignInPage(context, deps, async () => {
      const token = readCookie(context, http, 'sign-in');
      const begun = token && (await takeSignIn(database, token, now()));
      setCookie(context, http, 'sign-in', null);
      if (!begun)
        throw new SonogateError('sign_in_failed', 'No sign-in was started in this browser.');
      const callback = new URL(redirectUri(context, deps));
      callback.search = context.search;
      await signIn(context, await oidc.complete(callback, begun.pending), deps);
      context.redirect(begun.nextPage);
    });
  });
}

/** Runs one step of a sign-in. If it fails, the browser is sent to a page that explains why. */
async function orToSignInPage(
  context: Call,
  { writeAudit, now, logger }: ConsoleDeps,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof SonogateError)) throw error;
    logger.event('sign_in_failed', { code: error.code, err: error.cause });
    await writeAudit({
      at: now(),
      action: 'session.login',
      actor: 'person:unknown',
      address: context.ip,
      outcome: 'refused',
      detail: { code: error.code },
    });
    context.redirect(`${SIGN_IN_PAGE}?error=${error.code}`);
  }
}

/** Begins a session, which replaces the browser's previous one. */
async function signIn(
  context: Call,
  person: Person,
  { database, config, writeAudit, now }: ConsoleDeps,
): Promise<ConsoleSession> {
  const former = readCookie(context, config.http, 'session');
  if (former) await endSession(database, digest(former));
  const { token, session } = await beginSession(database, person, now());
  await writeAudit({
    at: now(),
    action: 'session.login',
    actor: `person:${person.name}`,
    keyId: person.keyId,
    address: context.ip,
    outcome: 'success',
    detail: { role: person.role },
  });
  setCookie(context, config.http, 'session', token);
  return session;
}

const NO_ROLE =
  'This key has no role in the console. An operator creates one that has, with `npx sonogate keys create --name NAME --console-role ROLE`.';

/**
 * Returns the person whom a key identifies.
 * @throws SonogateError `invalid_key`, or `forbidden` for a key without a role in the console.
 */
async function personOfKey(
  context: Call,
  key: string,
  { authenticate, database, writeAudit, now }: ConsoleDeps,
): Promise<Person> {
  const refused = async (error: unknown) => {
    await writeAudit({
      at: now(),
      action: 'key.refused',
      actor: 'person:unknown',
      address: context.ip,
      outcome: 'refused',
    });
    throw error;
  };
  const { keyId, accountId, consoleRole } = await authenticate(key, now()).catch(refused);
  if (!consoleRole || accountId !== DEFAULT_ACCOUNT_ID) {
    return refused(new SonogateError('forbidden', NO_ROLE));
  }
  const name = await keyName(database, keyId);
  return { principal: `key:${keyId}`, name, role: consoleRole, keyId };
}

async function takeSignInAttempt(context: Context, { signInLimits }: ConsoleDeps): Promise<void> {
  const allowance = await signInLimits.take(`sign-in ${context.ip}`);
  if (allowance.allowed) return;
  context.set('Retry-After', String(allowance.retrySeconds));
  throw new SonogateError('rate_limited', 'Too many sign-ins from this address.');
}

function shownSession(session: ConsoleSession): Session {
  return {
    person: session.name,
    role: session.role,
    may: [...ROLES[session.role].may],
    signedInBy: session.keyId === null ? 'oidc' : 'key',
    csrf: session.csrf,
  };
}

const redirectUri = (context: Context, { config }: ConsoleDeps): string =>
  `${baseUrl(context, config.http)}/console/api/oidc/callback`;

/**
 * Returns the console page to open next. An address that a browser could interpret as another host
 * is replaced with the start page.
 */
export function nextPage(asked: string | string[] | undefined): string {
  const own = typeof asked === 'string' && /^\/console\/[A-Za-z0-9/_.~?&=%-]*$/.test(asked);
  return own ? asked : '/console/';
}
