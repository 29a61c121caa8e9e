import type { Router } from '@koa/router';
import { catalogueEntry, ERRORS, type ErrorCode, SonogateError } from '../errors/catalogue.ts';
import type { HttpState } from './deps.ts';

/** `GET /errors/{code}`: where the `type` of a problem leads. */
export function addErrorPages(router: Router<HttpState>): void {
  router.get('/errors/:code', (context) => {
    const { code = '' } = context.params;
    if (!isErrorCode(code)) throw new SonogateError('not_found', 'There is no such error.');
    const { title, operator, retry } = catalogueEntry(code);
    context.body = `${code}\n${title}\n\n${operator}\nRetry: ${retry}\n`;
  });
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}
