import type { Context } from 'koa';
import type { Config } from '../../config/schema.ts';
import { SonogateError } from '../errors/catalogue.ts';
import { baseUrl } from '../http/deps.ts';

/** Cookies of the console: `session` while signed in, `sign-in` while at the identity provider. */
const COOKIES = ['session', 'sign-in'] as const;
export type ConsoleCookie = (typeof COOKIES)[number];

type Place = Pick<Config['http'], 'publicUrl' | 'maxBodyBytes' | 'maxFileBytes'>;

/**
 * RFC 6265bis 4.1.3.2: a name with `__Host-` is kept only with Secure, Path=/ and no Domain, so that
 * no other host can set it. Browsers take no Secure cookie over plain HTTP: on this machine's own
 * loopback it goes without; elsewhere nobody can sign in over plain HTTP.
 * @throws SonogateError `forbidden`
 */
export function requireSafePlace(context: Context, config: Place): void {
  if (isSecure(context, config) || isLoopback(context.hostname)) return;
  throw new SonogateError(
    'forbidden',
    'The console can be signed in to over https only: set http.publicUrl to its https address.',
  );
}

export function setCookie(
  context: Context,
  config: Place,
  cookie: ConsoleCookie,
  value: string,
): void {
  const secure = isSecure(context, config);
  context.append(
    'Set-Cookie',
    `${nameOf(cookie, secure)}=${value}; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`,
  );
}

export function clearCookie(context: Context, config: Place, cookie: ConsoleCookie): void {
  const secure = isSecure(context, config);
  context.append(
    'Set-Cookie',
    `${nameOf(cookie, secure)}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0${secure ? '; Secure' : ''}`,
  );
}

/** The value that the browser sent; null when it sent none. */
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
