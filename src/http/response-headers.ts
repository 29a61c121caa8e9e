import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import type { HttpState } from './deps.ts';

/** A caller's own id is kept when it can neither break a header nor a log line. */
const SANE_TOKEN = /^[A-Za-z0-9._-]{1,128}$/;

const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Answers hold clinical results; no cache on the way may keep them.
  'Cache-Control': 'no-store',
} as const;

/** Gives every answer its `X-Request-Id` and the headers that keep browsers and caches careful. */
export function responseHeaders(): Middleware<HttpState> {
  return (context, next) => {
    const given = context.get('X-Request-Id');
    context.state.requestId = SANE_TOKEN.test(given) ? given : randomUUID();
    context.set('X-Request-Id', context.state.requestId);
    context.set(SECURITY_HEADERS);
    return next();
  };
}
