import type { Middleware } from 'koa';
import { SonogateError } from '../errors/catalogue.ts';
import type { HttpState } from './deps.ts';

/** Whether a Host names a machine, so that addresses can be made of it; an empty one (HTTP/1.0) does not. */
export function isHost(host: string): boolean {
  return !/[/?#@\\\s]/.test(host) && URL.canParse(`http://${host}`);
}

/** A Host that cannot be one is answered 400 (RFC 9112 3.2), before addresses of ours are made of it. */
export function wellFormedHost(): Middleware<HttpState> {
  return (context, next) => {
    if (context.host !== '' && !isHost(context.host)) {
      throw new SonogateError('invalid_host', 'The Host header names no machine.');
    }
    return next();
  };
}
