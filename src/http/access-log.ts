import type { Middleware } from 'koa';
import type { HttpDeps, HttpState } from './deps.ts';

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
      if (String(call.route).startsWith('/v1/')) logger.info(call, 'call');
      else logger.debug(call, 'call');
    });
    await next();
  };
}
