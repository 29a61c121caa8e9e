import type { Routing } from '../../../config/routing.ts';
import type { Config } from '../../../config/schema.ts';
import { readModelCards } from '../../../pipelines/inference/model-registry.ts';
import { createAuthenticate } from '../../core/accounts/keys.ts';
import type { BlobStore } from '../../core/files/blob-store.ts';
import type { ReceivedObjects } from '../../core/files/received-objects.ts';
import { Uploads } from '../../core/files/uploads.ts';
import type { RequestCore } from '../../core/requests/core.ts';
import type { Reviews } from '../../core/reviews/reviews.ts';
import { removeEndedSubscriptions } from '../../core/workitems/subscriptions.ts';
import { startConsole } from '../../doors/console/console.ts';
import { createHttpApp } from '../../doors/http/app.ts';
import { createCallLimits } from '../../doors/http/call-limits.ts';
import type { HttpDeps } from '../../doors/http/context.ts';
import { type HttpServer, startHttp } from '../../doors/http/server.ts';
import { createUrlSigner, loadSigningSecret } from '../../doors/http/signed-url.ts';
import type { Operations } from '../../operations/operations.ts';
import type { PooledDatabase } from '../../platform/database/open.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import type { OutboundClient } from '../../platform/outbound/client.ts';
import type { ClientCertificates } from '../../platform/tls/client-files.ts';
import type { AuditService } from './audit.ts';
import { startCleaning } from './cleaning.ts';

/** Starts the HTTP server with API, DICOMweb and console. */
export async function startHttpDoor(
  config: Config,
  parts: {
    database: PooledDatabase;
    core: RequestCore;
    reviews: Reviews;
    blobs: BlobStore;
    operations: Operations;
    storeInstances: HttpDeps['storeInstances'];
    routing: () => Routing;
    objects: ReceivedObjects;
    outbound: OutboundClient;
    certificates: ClientCertificates;
    checks: HttpDeps['checks'];
    audit: AuditService;
    metrics: HttpDeps['metrics'];
    logger: Logger;
    now: () => Date;
  },
): Promise<{ server: HttpServer; stop(): Promise<void> }> {
  const { database, core, reviews, blobs, operations, outbound, checks, metrics } = parts;
  const { audit, logger, now } = parts;
  const uploads = uploadsOf(config, { database, blobs, now });
  const cleaning = startCleaning(
    () => uploads.removeExpired(),
    (err) => logger.event('uploads_not_removed', { err }),
    logger,
  );
  const subscriptions = startCleaning(
    () => removeEndedSubscriptions(database, now()),
    (err) => logger.event('event_subscriptions_not_removed', { err }),
    logger,
  );
  const stopping = new AbortController();
  const access = {
    authenticate: createAuthenticate(database),
    writeAudit: audit.write,
    limits: createCallLimits({ database, config: config.http }),
    stopping: stopping.signal,
  };
  const webConsole = config.console.enabled
    ? await startConsole({
        ...access,
        config,
        database,
        core,
        reviews,
        operations,
        storeInstances: parts.storeInstances,
        refusals: audit.refusals,
        logger,
      })
    : null;
  const app = createHttpApp({
    ...access,
    addConsole: (server) => webConsole && server.use(webConsole.router.routes()),
    core,
    reviews,
    database,
    refusals: audit.refusals,
    uploads,
    storeInstances: parts.storeInstances,
    objects: parts.objects,
    servesStudies: config.queryRetrieve.dicomweb,
    servesTasks: config.http.fhirTasks,
    servesSubscriptions: config.http.fhirSubscriptions,
    studySource: await studySource(config, parts),
    worklist: config.http.workitems ? { config, routing: parts.routing } : undefined,
    blobs,
    outbound,
    signer: createUrlSigner(await loadSigningSecret(database)),
    config: config.http,
    models: () => readModelCards(config.models.allow),
    logger,
    now,
    checks,
    metrics,
  });
  const server = await startHttp(app, { ...config.http, logger });
  return {
    server,
    async stop() {
      stopping.abort();
      await server.stop();
      await cleaning.stop();
      await subscriptions.stop();
      await webConsole?.close();
    },
  };
}

function uploadsOf(
  config: Config,
  parts: { database: PooledDatabase; blobs: BlobStore; now: () => Date },
): Uploads {
  const limits = {
    maxBytes: config.http.maxUploadBytes,
    maxFileBytes: config.http.maxFileBytes,
    partBytes: config.http.uploadPartBytes,
    minFreeBytes: config.dicom.minFreeBytes,
  };
  return new Uploads({ ...parts, limits });
}

/**
 * Returns the source of studies submitted by FHIR; null if submission is disabled. The clients of
 * archives and EHRs are loaded only if it is enabled.
 */
async function studySource(
  config: Config,
  parts: { certificates: ClientCertificates; logger: Logger },
): Promise<HttpDeps['studySource']> {
  if (!config.http.fhirSubmission) return null;
  const { studySourceOf } = await import('./study-source.ts');
  return studySourceOf(config, parts);
}
