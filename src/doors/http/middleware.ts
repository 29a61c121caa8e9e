import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import { parseTraceparent } from '../../platform/tracing/trace-context.ts';
import type { HttpDeps, HttpState } from './context.ts';

/**
 * Logs one line for each call, with the caller, the route and the outcome: an event for `/v1`, a
 * debug line for any other path. The route is logged rather than the URL, because a URL can contain
 * a signature.
 */
export function accessLog({ logger }: Pick<HttpDeps, 'logger'>): Middleware<HttpState> {
  return async (context, next) => {
    const began = performance.now();
    context.res.once('close', () => {
      const call = {
        request_id: context.state.requestId,
        key: context.state.principal?.keyId,
        method: context.method,
        route: context._matchedRoute,
        status: context.status,
        ms: Math.round(performance.now() - began),
      };
      if (String(call.route).startsWith('/v1/')) logger.event('call', call);
      else logger.debug(call, 'call');
    });
    await next();
  };
}

/** Caller-supplied ids that are safe in a header and in a log line. Other ids are replaced. */
const SANE_TOKEN = /^[A-Za-z0-9._-]{1,128}$/;

/** Headers of every response. Pages that need other values override them. */
const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Permissions-Policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), usb=()',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Responses contain clinical results, so no cache may store them.
  'Cache-Control': 'no-store',
} as const;

/**
 * Strict-Transport-Security (RFC 6797) for one year. Subdomains are not included, because they may
 * belong to other owners.
 */
const TRANSPORT_SECURITY = 'max-age=31536000';

/** Adds `X-Request-Id` and the security headers to every response. */
export function responseHeaders({ config }: Pick<HttpDeps, 'config'>): Middleware<HttpState> {
  const publicIsSecure = config.publicUrl?.startsWith('https:') ?? false;
  return (context, next) => {
    const given = context.get('X-Request-Id');
    context.state.requestId = SANE_TOKEN.test(given) ? given : randomUUID();
    context.set('X-Request-Id', context.state.requestId);
    context.set(SECURITY_HEADERS);
    // The header must not be sent without TLS (RFC 6797 7.2). TLS may be terminated by a proxy in
    // front of the gateway.
    if (context.secure || publicIsSecure) {
      context.set('Strict-Transport-Security', TRANSPORT_SECURITY);
    }
    return next();
  };
}

/**
 * Stores the caller's trace context (W3C Trace Context), so that the request created by the call
 * becomes its child.
 */
export function traceContext(): Middleware<HttpState> {
  return (context, next) => {
    const given = context.get('traceparent');
    if (parseTraceparent(given)) context.state.traceparent = given;
    return next();
  };
}
