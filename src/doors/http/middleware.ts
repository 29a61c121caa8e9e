import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import { EVENTS } from '../../platform/logging/events.ts';
import { parseTraceparent } from '../../platform/tracing/trace-context.ts';
import type { HttpDeps, HttpState } from './context.ts';

/**
 * Logs one line for each call of the API: the caller, the call and its outcome. The line contains
 * the route instead of the URL, because the URL may contain a signature.
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
      if (String(call.route).startsWith('/v1/')) logger.event(EVENTS.call, call);
      else logger.debug(call, 'call');
    });
    await next();
  };
}

/**
 * Form of a caller's own id that is safe in a header and in a log line. Other ids are replaced.
 */
const SANE_TOKEN = /^[A-Za-z0-9._-]{1,128}$/;

/** Headers of every answer. Pages that need other values override them. */
const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Permissions-Policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), usb=()',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Answers contain clinical results, so no cache may store them.
  'Cache-Control': 'no-store',
} as const;

/**
 * Strict-Transport-Security (RFC 6797) for one year, without subdomains, because other owners may
 * use them.
 */
const TRANSPORT_SECURITY = 'max-age=31536000';

/** Gives every answer its `X-Request-Id` and security headers. */
export function responseHeaders({ config }: Pick<HttpDeps, 'config'>): Middleware<HttpState> {
  const publicIsSecure = config.publicUrl?.startsWith('https:') ?? false;
  return (context, next) => {
    const given = context.get('X-Request-Id');
    context.state.requestId = SANE_TOKEN.test(given) ? given : randomUUID();
    context.set('X-Request-Id', context.state.requestId);
    context.set(SECURITY_HEADERS);
    // Browsers ignore this header without TLS (RFC 6797 7.2). A proxy in front of the gateway may
    // terminate TLS.
    if (context.secure || publicIsSecure) {
      context.set('Strict-Transport-Security', TRANSPORT_SECURITY);
    }
    return next();
  };
}

/**
 * Stores the caller's position in a trace (W3C Trace Context): the request that it creates becomes
 * its child.
 */
export function traceContext(): Middleware<HttpState> {
  return (context, next) => {
    const given = context.get('traceparent');
    if (parseTraceparent(given)) context.state.traceparent = given;
    return next();
  };
}
