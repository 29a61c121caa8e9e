import type { Middleware } from 'koa';
import { parseTraceparent } from '../tracing/trace-context.ts';
import type { HttpState } from './deps.ts';

/** Keeps the caller's place in a trace (W3C Trace Context): the request that it makes hangs below it. */
export function traceContext(): Middleware<HttpState> {
  return (context, next) => {
    const given = context.get('traceparent');
    if (parseTraceparent(given)) context.state.traceparent = given;
    return next();
  };
}
