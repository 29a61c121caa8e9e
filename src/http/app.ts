import { Router } from '@koa/router';
import Koa from 'koa';
import { accessLog } from './access-log.ts';
import { addArtifactRoutes } from './artifacts.ts';
import { addCompatibleQueueRoutes } from './compatible-queue.ts';
import { addCompatibleStorageRoutes } from './compatible-storage.ts';
import type { HttpDeps, HttpState } from './deps.ts';
import { addDicomwebRoutes } from './dicomweb.ts';
import { addErrorPages } from './error-pages.ts';
import { addEventRoutes } from './events.ts';
import { addHealthRoutes } from './health.ts';
import { wellFormedHost } from './host-header.ts';
import { addKeyRoutes } from './keys.ts';
import { addMetricsRoute } from './metrics.ts';
import { addModelRoutes } from './models.ts';
import { problems } from './problems.ts';
import { addRequestRoutes } from './requests.ts';
import { responseHeaders } from './response-headers.ts';
import { addRunRoutes } from './run.ts';
import { storablePath } from './storable-text.ts';
import { traceContext } from './trace-context.ts';
import { addUploadRoutes } from './uploads.ts';
import { addUsageRoute } from './usage.ts';
import { addWebhookRoutes } from './webhooks.ts';

const CLIENT_WENT_AWAY = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

/** The HTTP door of the request core: `docs/api.md`. */
export function createHttpApp(deps: HttpDeps): Koa<HttpState> {
  const app = new Koa<HttpState>();
  const router = new Router<HttpState>();
  addRunRoutes(router, deps);
  addRequestRoutes(router, deps);
  addEventRoutes(router, deps);
  addArtifactRoutes(router, deps);
  addUploadRoutes(router, deps);
  addModelRoutes(router, deps);
  addWebhookRoutes(router, deps);
  addKeyRoutes(router, deps);
  addUsageRoute(router, deps);
  addDicomwebRoutes(router, deps);
  addCompatibleStorageRoutes(router, deps);
  addCompatibleQueueRoutes(router, deps);
  addHealthRoutes(router, deps);
  addMetricsRoute(router, deps);
  addErrorPages(router);

  app.use(responseHeaders(deps));
  app.use(traceContext());
  app.use(accessLog(deps));
  app.use(problems(deps));
  app.use(wellFormedHost());
  app.use(storablePath());
  if (deps.console) app.use(deps.console.routes());
  app.use(router.routes());
  app.use(router.allowedMethods());
  // An answer that had begun: its client went away, or what was being sent could not be read.
  app.on('error', (error: NodeJS.ErrnoException) => {
    const level = CLIENT_WENT_AWAY.has(error.code ?? '') ? 'debug' : 'error';
    deps.logger[level]({ err: error }, 'answer cut short');
  });
  return app;
}
