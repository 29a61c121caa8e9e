import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { PooledDatabase } from '../../platform/database/pooled.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { createCallLimits } from '../http/call-limits.ts';
import { openChanges } from './changes.ts';
import type { ConsoleDeps, ConsoleState } from './context.ts';
import { addDeliveryRoutes, addPeerRoutes } from './delivery-routes.ts';
import { addDisplayRoutes } from './display-routes.ts';
import { addEventRoutes } from './event-routes.ts';
import { signedIn } from './guard.ts';
import { addHoldRoutes, addQuarantineRoutes } from './hold-routes.ts';
import { createShowSubject, loadPseudonymSecret } from './identity.ts';
import { createOidcProvider } from './oidc.ts';
import { type PageFile, readPageFiles } from './page-files.ts';
import { addResultRoutes } from './result-routes.ts';
import { addReviewRoutes } from './review-routes.ts';
import { addRuleRoutes } from './rule-routes.ts';
import { addSessionRoutes } from './session-routes.ts';
import { addSettingsRoutes, addWebhookRoutes } from './settings-routes.ts';
import { addStudyRoutes, addWorklistRoutes } from './study-routes.ts';
import { addUploadRoutes } from './upload-routes.ts';

/**
 * Adds `/console/…`: a path with a file extension is a module, style or library; any other path is
 * a page. `/` redirects to the console, because people first open a gateway's bare address.
 */
function addPageRoutes(router: Router<ConsoleState>, { files }: Pick<ConsoleDeps, 'files'>): void {
  const policy = pagePolicy(files);
  router.get('/', (context) => context.redirect('/console/'));
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
  // The browser revalidates the file at each use; the response is 304 until the gateway is updated.
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
 * Returns middleware that sets the console's content security policy. Pages may load only this
 * server's modules, styles and images. Nothing may be inline except the import map, and only
 * lit-html may create markup (Trusted Types).
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

function consoleRouter(deps: ConsoleDeps): Router<ConsoleState> {
  const signIn = new Router<ConsoleState>({ prefix: '/console/api' });
  addSessionRoutes(signIn, deps);

  const api = new Router<ConsoleState>({ prefix: '/console/api' });
  api.use(signedIn(deps));
  addWorklistRoutes(api, deps);
  addStudyRoutes(api, deps);
  addDisplayRoutes(api, deps);
  addResultRoutes(api, deps);
  addUploadRoutes(api, deps);
  addReviewRoutes(api, deps);
  addEventRoutes(api, deps);
  addDeliveryRoutes(api, deps);
  addHoldRoutes(api, deps);
  addQuarantineRoutes(api, deps);
  addRuleRoutes(api, deps);
  addPeerRoutes(api, deps);
  addSettingsRoutes(api, deps);
  addWebhookRoutes(api, deps);

  const all = new Router<ConsoleState>();
  all.use(signIn.routes());
  all.use(api.routes());
  all.all('/console/api/{*path}', () => {
    throw new SonogateError('not_found', 'Nothing is served at this path.');
  });
  addPageRoutes(all, deps);
  return all;
}

type Made = 'signInLimits' | 'showSubject' | 'changes' | 'files' | 'oidc' | 'database' | 'now';

export interface Console {
  router: ReturnType<typeof consoleRouter>;
  close(): Promise<void>;
}

/** Starts the console; the database must have been migrated. */
export async function startConsole(
  parts: Omit<ConsoleDeps, Made> & { database: PooledDatabase; now?: () => Date },
): Promise<Console> {
  const { config, database, logger, now = () => new Date() } = parts;
  const { signInsPerMinute, oidc } = config.console;
  const changes = await openChanges(database, logger);
  const router = consoleRouter({
    ...parts,
    now,
    changes,
    signInLimits: createCallLimits({
      database,
      config: { callsPerMinute: signInsPerMinute, openStreamsPerKey: 1 },
    }),
    showSubject: createShowSubject(await loadPseudonymSecret(database)),
    files: await readPageFiles(),
    oidc: oidc ? createOidcProvider(oidc) : null,
  });
  return { router, close: () => changes.close() };
}
