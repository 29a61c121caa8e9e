import type { Middleware } from 'koa';
import { SonogateError } from '../errors/catalogue.ts';
import type { HttpState } from './deps.ts';

/** Whether PostgreSQL takes the text: neither U+0000 nor half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** A path that names something no text can name leads nowhere. */
export function storablePath(): Middleware<HttpState> {
  return (context, next) => {
    if (/%00/.test(context.path)) {
      throw new SonogateError('not_found', 'Nothing is served at this path.');
    }
    return next();
  };
}
