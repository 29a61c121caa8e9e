import type { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { SonogateError } from '../errors/catalogue.ts';
import type { ConsoleDeps, ConsoleState } from './deps.ts';
import type { PageFile } from './page-files.ts';

/** `/console/…`: modules, styles and libraries by their paths; any other path is a page. */
export function addPageRoutes(
  router: Router<ConsoleState>,
  { files }: Pick<ConsoleDeps, 'files'>,
): void {
  const policy = pagePolicy(files);
  router.get(['/console', '/console/{*path}'], policy, (context) => {
    const path = context.path.slice('/console/'.length);
    const isFile = path.split('/').at(-1)?.includes('.') ?? false;
    if (isFile) {
      const file = files.file(path);
      if (!file) throw new SonogateError('not_found', 'Nothing is served at this path.');
      sendFile(context, file);
    } else {
      sendFile(context, files.shell);
    }
  });
}

function sendFile(context: Context, file: PageFile): void {
  context.set('ETag', file.etag);
  // Asked for again at each use, and answered 304 as long as the gateway is the same.
  context.set('Cache-Control', 'no-cache');
  context.vary('Accept-Encoding');
  context.status = 200;
  if (context.fresh) {
    context.status = 304;
    return;
  }
  context.type = file.mediaType;
  if (context.acceptsEncodings('gzip', 'identity') === 'gzip') {
    context.set('Content-Encoding', 'gzip');
    context.body = file.gzipped;
  } else {
    context.body = file.body;
  }
}

/**
 * What a page of the console may load and do: modules, styles and images from here and nothing in
 * line; markup is made by lit-html alone (Trusted Types).
 */
function pagePolicy({ importMapHash }: Pick<ConsoleDeps['files'], 'importMapHash'>): Middleware {
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${importMapHash}`,
    "style-src 'self'",
    "img-src 'self' blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types lit-html',
  ].join('; ');
  return (context, next) => {
    context.set('Content-Security-Policy', policy);
    context.set('Referrer-Policy', 'same-origin');
    return next();
  };
}
