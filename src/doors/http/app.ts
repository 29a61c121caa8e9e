import { Router } from '@koa/router';
import Koa from 'koa';
import { addKeyRoutes, addUsageRoute } from './account.ts';
import { addCompatibleQueueRoutes } from './compatible-queue/routes.ts';
import { addCompatibleStorageRoutes, storedFileMethods } from './compatible-queue/storage.ts';
import type { HttpDeps, HttpState } from './context.ts';
import { requireValidHost } from './context.ts';
import { addRetrieveRoutes } from './dicomweb/retrieve.ts';
import { addSearchRoutes } from './dicomweb/search.ts';
import { addStoreRoutes } from './dicomweb/store.ts';
import { addDocsRoutes } from './docs-page.ts';
import { addFhirRoutes } from './fhir/routes.ts';
import { addHealthRoutes, addMetricsRoute } from './health.ts';
import { accessLog, responseHeaders, traceContext } from './middleware.ts';
import { addModelRoutes } from './models.ts';
import { storablePath } from './parse.ts';
import { addErrorPages, problems } from './problems.ts';
import { addArtifactRoutes, addEventRoutes, addRequestRoutes, addRunRoutes } from './requests.ts';
import { addReviewRoutes } from './reviews.ts';
import { addUploadRoutes } from './uploads.ts';
import { addWebhookRoutes } from './webhooks.ts';
import { addWorkitemRoutes } from './workitems/routes.ts';

const CLIENT_WENT_AWAY = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

/** Creates the HTTP API (`docs/api.md`). */
export function createHttpApp(deps: HttpDeps): Koa<HttpState> {
  const app = new Koa<HttpState>();
  // A router compares a call with all its routes. Submissions, which are the most frequent calls,
  // therefore have a separate router.
  const runs = new Router<HttpState>();
  addRunRoutes(runs, deps);
  const router = new Router<HttpState>();
  addRequestRoutes(router, deps);
  addEventRoutes(router, deps);
  addArtifactRoutes(router, deps);
  addReviewRoutes(router, deps);
  addUploadRoutes(router, deps);
  addModelRoutes(router, deps);
  addDocsRoutes(router, deps);
  addWebhookRoutes(router, deps);
  addKeyRoutes(router, deps);
  addUsageRoute(router, deps);
  // Storing has its own scope and is always available; searching and retrieving must be enabled.
  addStoreRoutes(router, deps);
  if (deps.servesStudies) {
    addSearchRoutes(router, deps);
    addRetrieveRoutes(router, deps);
  }
  addWorkitemRoutes(router, deps);
  addFhirRoutes(router, deps);
  addCompatibleStorageRoutes(router, deps);
  addCompatibleQueueRoutes(router, deps);
  addHealthRoutes(router, deps);
  addMetricsRoute(router, deps);
  addErrorPages(router);

  app.use(responseHeaders(deps));
  app.use(traceContext());
  app.use(accessLog(deps));
  app.use(problems(deps));
  app.use(requireValidHost());
  app.use(storablePath());
  deps.addConsole?.(app);
  app.use(storedFileMethods());
  app.use(runs.routes());
  app.use(router.routes());
  app.use(router.allowedMethods());
  // Called when a response has begun but cannot be completed, because the client disconnected or
  // the source of the response could not be read.
  app.on('error', (error: NodeJS.ErrnoException) => {
    // HPE_…: the rest of the call is not HTTP.
    if (CLIENT_WENT_AWAY.has(error.code ?? '') || error.code?.startsWith('HPE_'))
      deps.logger.debug({ err: error }, 'client went away');
    else deps.logger.event('answer_cut_short', { err: error });
  });
  return app;
}
