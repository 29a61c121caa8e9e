import type { Config } from '../../config/schema.ts';
import type { RulesSource } from '../../dimse/routing/rules-source.ts';
import { readModelCards } from '../../pipelines/inference/model-cards.ts';
import { createAuthenticate } from '../accounts/keys.ts';
import type { PooledDatabase } from '../database/open.ts';
import type { BlobStore } from '../files/blob-store.ts';
import type { ReceivedObjects } from '../files/port.ts';
import { createUploads } from '../files/uploads.ts';
import { createHttpApp } from '../http/app.ts';
import { createCallLimits } from '../http/call-limits.ts';
import type { HttpDeps } from '../http/deps.ts';
import { type HttpServer, startHttp } from '../http/server.ts';
import { createUrlSigner, loadSigningSecret } from '../http/signed-url.ts';
import type { Logger } from '../logging/logger.ts';
import type { OutboundClient } from '../outbound/client.ts';
import type { RequestCore } from '../requests/core.ts';
import type { AuditService } from './audit.ts';
import { startCleaning } from './cleaning.ts';
import { startConsoleService } from './console.ts';

/** The HTTP door: API, DICOMweb, console. */
export async function startHttpDoor(
  config: Config,
  parts: {
    database: PooledDatabase;
    core: RequestCore;
    blobs: BlobStore;
    objects: ReceivedObjects;
    rules: RulesSource;
    storeInstances: HttpDeps['storeInstances'];
    outbound: OutboundClient;
    checks: HttpDeps['checks'];
    audit: AuditService;
    metrics: HttpDeps['metrics'];
    logger: Logger;
  },
): Promise<{ server: HttpServer; stop(): Promise<void> }> {
  const { database, core, blobs, objects, rules, outbound, checks, metrics, audit, logger } = parts;
  const uploads = createUploads({
    database,
    blobs,
    limits: {
      maxBytes: config.http.maxUploadBytes,
      maxFileBytes: config.http.maxFileBytes,
      partBytes: config.http.uploadPartBytes,
      minFreeBytes: config.dicom.minFreeBytes,
    },
  });
  const cleaning = startCleaning(
    () => uploads.removeExpired(),
    'expired uploads could not be removed',
    logger,
  );
  const stopping = new AbortController();
  const access = {
    authenticate: createAuthenticate(database),
    writeAudit: audit.write,
    limits: createCallLimits({ database, config: config.http }),
    stopping: stopping.signal,
  };
  const webConsole = await startConsoleService(config, {
    ...access,
    database,
    core,
    objects,
    rules,
    logger,
  });
  const app = createHttpApp({
    ...access,
    console: webConsole?.router,
    core,
    database,
    refusals: audit.refusals,
    uploads,
    storeInstances: parts.storeInstances,
    blobs,
    outbound,
    signer: createUrlSigner(await loadSigningSecret(database)),
    config: config.http,
    models: () => readModelCards(config.models.allow),
    logger,
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
      await webConsole?.close();
    },
  };
}
