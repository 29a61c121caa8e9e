import { join } from 'node:path';
import { routingSchema } from '../config/routing-schema.ts';
import type { Config, DicomDestination, FhirDestination } from '../config/schema.ts';
import { createArchiveOperations } from '../dimse/archive/operations.ts';
import { studyOfInstance } from '../dimse/audit-subjects.ts';
import { createDicomDeliverer } from '../dimse/deliver.ts';
import { createDicomAudit } from '../dimse/dicom-audit.ts';
import { createStoreInstances } from '../dimse/dicomweb/store-instances.ts';
import { earlierRequests } from '../dimse/earlier-requests.ts';
import { explainStudy } from '../dimse/explain.ts';
import { createForwardDeliverer, forwardedObjects } from '../dimse/forward.ts';
import { type DimseGateway, startDimse } from '../dimse/gateway.ts';
import { type IntakeDoorParts, openIntakeDoor } from '../dimse/intake-door.ts';
import { connectPacs } from '../dimse/pacs.ts';
import { retentionOperations, startRetention } from '../dimse/retention-service.ts';
import { fixedRules, type RulesSource } from '../dimse/routing/rules-source.ts';
import { startCommitmentRounds } from '../dimse/services/commitment-rounds.ts';
import { completeNow, dryRun, releaseStudy, rerunStudy } from '../dimse/study-commands.ts';
import { subjectOfRequest } from '../dimse/subject.ts';
import { binaryLedger } from '../fhir/binary-ledger.ts';
import { createFhirDeliverer } from '../fhir/deliver.ts';
import { holdLedger } from '../fhir/hold-ledger.ts';
import { createHoldOperations } from '../fhir/hold-operations.ts';
import { createHoldQueue } from '../fhir/hold-queue.ts';
import { httpAccess } from '../fhir/http-access.ts';
import { DICOM_OBJECTS } from '../pipelines/artifacts/dicom-objects.ts';
import { rebuildReportPdf } from '../pipelines/artifacts/report/rebuild-report.ts';
import { contentEndpoint } from '../pipelines/content/content.ts';
import { echoEndpoint } from '../pipelines/echo/endpoint.ts';
import { readModelCards } from '../pipelines/inference/model-cards.ts';
import { obstetricEndpoint } from '../pipelines/obstetric/endpoint.ts';
import { createAuthenticate, DEFAULT_ACCOUNT_ID } from './accounts/keys.ts';
import { createOperations } from './admin/operations.ts';
import { type AdminOperations, serveAdminSocket } from './admin/socket.ts';
import { createAuditWriter } from './audit/audit.ts';
import { auditedDeliverer } from './audit/audited-deliverer.ts';
import { auditedOperations } from './audit/audited-operations.ts';
import { type AuditService, auditedActor, auditOperationsOn, startAudit } from './audit-service.ts';
import { startConsoleService } from './console-service.ts';
import { migrate } from './database/migrate.ts';
import { openDatabase, type PooledDatabase } from './database/open.ts';
import type { BlobStore } from './files/blob-store.ts';
import { createHostedFileFetcher } from './files/hosted-files.ts';
import { openBlobStore } from './files/open-blob-store.ts';
import type { ReceivedObjects } from './files/port.ts';
import { createReceivedObjects, removeFetched } from './files/received-objects.ts';
import { removeExpiredResults } from './files/result-store.ts';
import { createUploads } from './files/uploads.ts';
import { createHttpApp } from './http/app.ts';
import { createCallLimits } from './http/call-limits.ts';
import type { HttpDeps } from './http/deps.ts';
import { type HttpServer, startHttp } from './http/server.ts';
import { createUrlSigner, loadSigningSecret } from './http/signed-url.ts';
import { type Logger, silentLogger } from './logging/logger.ts';
import { countedLogger } from './metrics/counted-logger.ts';
import { createProcessMeters } from './metrics/metrics.ts';
import { startMonitoring } from './metrics/start-monitoring.ts';
import { createOutboundClient, type OutboundClient } from './outbound/client.ts';
import { createUrlGuard } from './outbound/url-guard.ts';
import { enqueueForwards, sendAgain } from './outbox/deliveries.ts';
import { createDeliveryOperations } from './outbox/delivery-operations.ts';
import { type Outbox, startOutbox } from './outbox/outbox.ts';
import { openQueue } from './queue/queue.ts';
import { startWorker } from './queue/worker.ts';
import { createRequestCore, type RequestCore } from './requests/core.ts';
import { startExpiry } from './requests/expiry.ts';
import { NO_TRACING, type RunningTracing, startTracing } from './tracing/tracing.ts';
import { createWebhookDeliverer } from './webhooks/deliver.ts';

/** The endpoints of this gateway, and the module of the pipeline that each child process loads. */
const ENDPOINTS = [obstetricEndpoint, echoEndpoint, contentEndpoint];
const PIPELINES: Readonly<Record<string, string>> = {
  [obstetricEndpoint.id]: new URL('./obstetric-pipeline.ts', import.meta.url).href,
  [echoEndpoint.id]: new URL('./echo-pipeline.ts', import.meta.url).href,
  [contentEndpoint.id]: new URL('./content-pipeline.ts', import.meta.url).href,
};
const MOCK = new URL('./mock-pipeline.ts', import.meta.url).href;

const CLEANING_MS = 3_600_000;

export interface Gateway {
  /** Null without the role `api`. */
  http: { url: string; port: number } | null;
  /** Null without the role `dimse`. */
  dicom: { port: number } | null;
  core: RequestCore;
  operations: AdminOperations;
  /** Readiness is 503 from now on; everything else goes on. */
  announceStop(): void;
  /** Ends doors first, then the work behind them; nothing acknowledged is lost. */
  close(): Promise<void>;
}

/**
 * Wires all parts and starts those of `config.roles`. The one place where parts meet.
 * @param rules where the routing rules come from when they may change while the gateway runs.
 * @throws DatabaseLockedError when another gateway runs on the data folder; the system's error when
 * an address cannot be bound.
 */
export async function startGateway(
  config: Config,
  plainLogger: Logger,
  rules: RulesSource = fixedRules(config.routing),
): Promise<Gateway> {
  const meters = createProcessMeters();
  let tracing = NO_TRACING;
  const logger = countedLogger(plainLogger, (event, fields) => {
    meters.onEvent(event, fields);
    tracing.onEvent(event, fields);
  });
  const ends: (() => Promise<unknown>)[] = [async () => rules.stop()];
  const close = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const database = await openDatabase({ ...config, logger });
    ends.push(() => database.close());
    const applied = await migrate(database);
    if (applied.length > 0) logger.info({ migrations: applied }, 'database brought up to date');
    const audit = await startAudit(config, { database, logger });
    ends.push(() => audit.stop());
    tracing = await startTracing(config.tracing, { database, logger });
    ends.push(() => tracing.stop());

    const queue = await openQueue({ database, redisUrl: config.redisUrl, logger });
    ends.push(() => queue.close());
    const blobs = await openBlobStore(config);
    ends.push(async () => blobs.close());
    const objects = createReceivedObjects(config.dataDir, blobs);
    const monitoring = await startMonitoring(config, { database, queue, meters });
    ends.push(() => monitoring.stop());
    const core = await createRequestCore({
      database,
      queue,
      endpoints: ENDPOINTS,
      blobs,
      config,
      logger,
    });
    ends.push(() => core.close());
    if (blobs.direct) {
      const cache = setInterval(() => {
        Promise.all([
          removeExpiredResults(database, config.dataDir),
          removeFetched(config.dataDir, new Date()),
        ]).catch((error: unknown) => {
          logger.warn({ err: error }, 'expired copies could not be removed');
        });
      }, CLEANING_MS);
      ends.push(async () => clearInterval(cache));
    }
    const operations = operationsOn(database, objects, config, rules);
    const admin = await serveAdminSocket(config.dataDir, operations, logger);
    ends.push(() => admin.close());

    const outbound = createOutboundClient(createUrlGuard(config.outbound));
    ends.push(() => outbound.close());
    const roles = new Set(config.roles);
    if (roles.has('delivery')) {
      const outbox = await startDeliveries(config, {
        database,
        objects,
        core,
        outbound,
        audit,
        traced: tracing.traced,
        logger,
      });
      ends.push(() => outbox.stop());
      const commitment = startCommitmentRounds({
        database,
        sources: config.sources,
        destinations: config.destinations.filter(isDicom),
        aeTitle: config.dicom.aeTitle,
        logger,
        now: () => new Date(),
      });
      ends.push(() => commitment.stop());
    }
    if (roles.has('worker')) {
      const worker = await startWorker({
        database,
        queue,
        endpoints: ENDPOINTS,
        pipelines: PIPELINES,
        mock: MOCK,
        fetchFile: createHostedFileFetcher(outbound, config.outbound),
        blobs,
        config,
        logger,
        modelsReady: meters.modelsReady,
        onInference: meters.onInference,
      });
      ends.push(() => worker.stop());
      const expiry = startExpiry({ database, blobs, config, logger });
      ends.push(async () => expiry.stop());
    }
    const reception: Pick<IntakeDoorParts, 'onReception' | 'audit'> = {
      onReception: (peer, received) => meters.onReception(peer.source ?? '', received),
      audit: createDicomAudit({ ...audit, logger }),
    };
    let dicom: DimseGateway | null = null;
    if (roles.has('dimse')) {
      const started = await startDimse({
        config,
        routing: rules.current,
        database,
        objects,
        // Studies belong to the site, so that its keys see their requests in the history.
        submit: (command) => core.submit({ ...command, accountId: DEFAULT_ACCOUNT_ID }),
        result: core.result,
        forward: (instances, destinations) =>
          database.transaction(async (tx) => {
            const giveUpSeconds = config.delivery.giveUpAfterHours * 3600;
            const objects = await forwardedObjects(tx, instances);
            await enqueueForwards(tx, objects, destinations, giveUpSeconds);
          }),
        ...reception,
        archiveAccess: httpAccess,
        logger,
      });
      ends.push(() => started.close());
      dicom = started;
      if (!objects.shared) {
        const retention = startRetention({ ...retentionOf(config, database), logger });
        ends.push(() => retention.stop());
      }
    }
    let http: HttpServer | null = null;
    if (roles.has('api')) {
      const { checks, metrics } = monitoring;
      const common = { database, core, blobs, outbound, checks, metrics, audit, logger };
      const intake = { config, database, objects, ...reception, logger, now: () => new Date() };
      // A process that does not listen for DICOM has an intake of its own.
      const door = dicom?.door ?? openIntakeDoor(intake);
      const storeInstances = createStoreInstances({ door, config, logger });
      const api = await startApi(config, { ...common, storeInstances, objects, rules });
      ends.push(() => api.stop());
      http = api.server;
    }
    logger.info({ roles: config.roles, http: http?.url, dicom: dicom?.port }, 'gateway started');
    monitoring.serving(true);
    const announceStop = () => monitoring.serving(false);
    return { http, dicom, core, operations, announceStop, close };
  } catch (error) {
    await close().catch((closing: unknown) => logger.error({ err: closing }, 'could not close'));
    throw error;
  }
}

/** The operations alone, for a command that finds no gateway running. */
export async function openOperations(
  config: Config,
): Promise<{ operations: AdminOperations; close(): Promise<void> }> {
  const database = await openDatabase({ ...config, logger: silentLogger });
  await migrate(database);
  const blobs = await openBlobStore(config);
  const objects = createReceivedObjects(config.dataDir, blobs);
  return {
    operations: operationsOn(database, objects, config, fixedRules(config.routing)),
    close: async () => {
      blobs.close();
      await database.close();
    },
  };
}

function operationsOn(
  database: PooledDatabase,
  objects: ReceivedObjects,
  config: Config,
  rules: RulesSource,
): AdminOperations {
  const now = () => ({ routing: rules.current(), at: new Date() });
  const giveUpSeconds = config.delivery.giveUpAfterHours * 3600;
  const operations = createOperations({
    database,
    studies: {
      explain: (key) => explainStudy(database, key, { ...now(), objects }),
      completeNow: (key) => completeNow(database, key, new Date()),
      release: (key, rule) => releaseStudy(database, key, rule, now()),
      rerun: (key) => rerunStudy(database, key, new Date()),
      dryRun: (routing, last) =>
        dryRun(database, {
          ...now(),
          ...(routing !== null && { routing: routingSchema.parse(routing) }),
          objects,
          last,
        }),
    },
    more: {
      ...createDeliveryOperations(config, database),
      ...createHoldOperations(
        createHoldQueue({
          database,
          subjectOf: (requestId) => subjectOfRequest(database, requestId),
          sendAgain: (tx, id) => sendAgain(tx, id, ['dead', 'pending'], giveUpSeconds),
        }),
      ),
      ...createArchiveOperations(config, database),
    },
  });
  const all = {
    ...operations,
    ...auditOperationsOn(database, config),
    ...(!objects.shared && retentionOperations(retentionOf(config, database))),
  };
  return auditedOperations(all, createAuditWriter(database));
}

const isDicom = (d: Config['destinations'][number]): d is DicomDestination => d.type === 'dicom';

async function startDeliveries(
  config: Config,
  parts: {
    database: PooledDatabase;
    objects: ReceivedObjects;
    core: RequestCore;
    outbound: OutboundClient;
    audit: AuditService;
    traced: RunningTracing['traced'];
    logger: Logger;
  },
): Promise<Outbox> {
  const { database, objects, core, outbound, audit, traced, logger } = parts;
  const subject = (requestId: string) => subjectOfRequest(database, requestId);
  const isFhir = (d: Config['destinations'][number]): d is FhirDestination => d.type === 'fhir';
  const pacs = connectPacs(config, httpAccess);
  const deliverers = [
    createDicomDeliverer({
      destinations: pacs.destinations,
      transports: pacs.transports,
      results: core,
      subject,
      paper: config.report.paper,
      builders: DICOM_OBJECTS,
    }),
    createForwardDeliverer({ transports: pacs.transports, database, objects }),
    createFhirDeliverer({
      destinations: config.destinations.filter(isFhir),
      results: core,
      subjectOf: subject,
      reportPdf: (result, of) =>
        rebuildReportPdf(
          result,
          of,
          (name) => core.artifactPath(of.requestId, name),
          config.report.paper,
        ),
      earlierRequests: (requestId) => earlierRequests(database, requestId),
      binaries: binaryLedger(join(config.dataDir, 'binaries')),
      holds: holdLedger(database),
      logger,
    }),
    createWebhookDeliverer({
      database,
      core,
      client: outbound,
      address: config.http.publicUrl ?? ownAddress(config.http),
      logger,
    }),
  ].map((deliverer) =>
    auditedDeliverer(traced(deliverer), {
      writeAudit: audit.write,
      actorOf: (name) => auditedActor(config, name),
      studyOf: (instance) => studyOfInstance(database, instance),
    }),
  );
  const { alternates } = pacs;
  const outbox = await startOutbox({ database, deliverers, config, alternates, logger });
  return {
    ...outbox,
    stop: async () => {
      await outbox.stop();
      await pacs.close();
    },
  };
}

/** How long received studies are kept, and what is told of their removal. */
function retentionOf({ dataDir, retention }: Config, database: PooledDatabase) {
  const { intakeDays = null, quarantineDays = null } = retention;
  const writeAudit = createAuditWriter(database);
  return { database, dataDir, intakeDays, quarantineDays, writeAudit };
}

/** How clients on this machine reach the HTTP door. */
function ownAddress({ host, port, tls }: Config['http']): string {
  return `${tls ? 'https' : 'http'}://${host}:${port}`;
}

async function startApi(
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
  const cleaning = setInterval(() => {
    uploads.removeExpired().catch((error: unknown) => {
      logger.warn({ err: error }, 'expired uploads could not be removed');
    });
  }, CLEANING_MS);
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
      clearInterval(cleaning);
      stopping.abort();
      await server.stop();
      await webConsole?.close();
    },
  };
}
