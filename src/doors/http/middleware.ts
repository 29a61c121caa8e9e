import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import { EVENTS } from '../../platform/logging/events.ts';
import { parseTraceparent } from '../../platform/tracing/trace-context.ts';
import type { HttpDeps, HttpState } from './context.ts';

/**
 * One line per call of the API: who called what, and how it ended. The route, not the address: an
 * address may hold a signature.
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

/** A caller's own id is kept when it can neither break a header nor a log line. */
const SANE_TOKEN = /^[A-Za-z0-9._-]{1,128}$/;

/** Of every answer; a page that needs more than nothing sets a policy of its own over these. */
const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Permissions-Policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), usb=()',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Answers hold clinical results; no cache on the way may keep them.
  'Cache-Control': 'no-store',
} as const;

/** RFC 6797: a year. Subdomains are not ours to speak for. */
const TRANSPORT_SECURITY = 'max-age=31536000';

/** Gives every answer its `X-Request-Id` and the headers that keep browsers and caches careful. */
export function responseHeaders({ config }: Pick<HttpDeps, 'config'>): Middleware<HttpState> {
  const publicIsSecure = config.publicUrl?.startsWith('https:') ?? false;
  return (context, next) => {
    const given = context.get('X-Request-Id');
    context.state.requestId = SANE_TOKEN.test(given) ? given : randomUUID();
    context.set('X-Request-Id', context.state.requestId);
    context.set(SECURITY_HEADERS);
    // In the clear a browser must not heed it (RFC 6797 7.2); a proxy may end TLS before us.
    if (context.secure || publicIsSecure) {
      context.set('Strict-Transport-Security', TRANSPORT_SECURITY);
    }
    return next();
  };
}

/** Keeps the caller's place in a trace (W3C Trace Context): the request that it makes hangs below it. */
export function traceContext(): Middleware<HttpState> {
  return (context, next) => {
    const given = context.get('traceparent');
    if (parseTraceparent(given)) context.state.traceparent = given;
    return next();
  };
}
