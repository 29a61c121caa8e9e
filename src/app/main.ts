import type { Config } from '../../config/schema.ts';
import type { DimseGateway } from '../../dimse/gateway.ts';
import { createDicomAudit } from '../../dimse/receive/audit.ts';
import type { StorageScpParts } from '../../dimse/receive/storage-scp.ts';
import { httpAccess } from '../../fhir/client/authorization.ts';
import { DEFAULT_ACCOUNT_ID } from '../core/accounts/keys.ts';
import { openBlobStore } from '../core/files/open-blob-store.ts';
import { createReceivedObjects, removeFetched } from '../core/files/received-objects.ts';
import { enqueueForwards } from '../core/outbox/deliveries.ts';
import { endWaits } from '../core/outbox/outbox.ts';
import { openQueue } from '../core/queue/queue.ts';
import { createRequestCore, type RequestCore } from '../core/requests/core.ts';
import { removeExpiredResults } from '../core/requests/results.ts';
import { forgetReceptions } from '../core/studies/receptions.ts';
import { startRetention } from '../core/studies/retention.ts';
import { requireUsableRules } from '../core/studies/rules/check-rules.ts';
import { fixedRules, type RulesSource } from '../core/studies/rules/rules-source.ts';
import { arrivalsOf } from '../core/studies/study-store.ts';
import type { HttpServer } from '../doors/http/server.ts';
import { commandsOn, type RunCommand, typedCommands } from '../operations/commands.ts';
import { adminSocketPath, gatewayAnswers, serveAdminSocket } from '../operations/socket.ts';
import { DatabaseLockedError } from '../platform/database/folder-lock.ts';
import { migrate } from '../platform/database/migrate.ts';
import { openDatabase } from '../platform/database/open.ts';
import type { PooledDatabase } from '../platform/database/pooled.ts';
import type { Logger } from '../platform/logging/logger.ts';
import { observedLogger } from '../platform/logging/logger.ts';
import { createOutboundClient } from '../platform/outbound/client.ts';
import { createUrlGuard } from '../platform/outbound/url-guard.ts';
import { openSiteClock } from '../platform/time.ts';
import { ClientCertificates } from '../platform/tls/client-files.ts';
import { COMMIT, VERSION } from '../platform/version.ts';
import { ENDPOINTS, MODULE_OF } from './endpoints.ts';
import { createProcessMeters, startMonitoring } from './monitoring/metrics.ts';
import { NO_TRACING, startTracing } from './monitoring/tracing.ts';
import { PIPELINE_PROGRAM, PIPELINES } from './pipelines/program.ts';
import { startAudit } from './wiring/audit.ts';
import { startCleaning } from './wiring/cleaning.ts';
import { operationsOn, retentionOf } from './wiring/operations.ts';
import { reviewsOf, withReviews } from './wiring/reviews.ts';

export interface Gateway {
  /** Address of the HTTP server; null without the role `api`. */
  http: { url: string; port: number } | null;
  /** Port of the DICOM listener; null without the role `dimse`. */
  dicom: { port: number } | null;
  /** Port of the HL7 version 2 listener; null without `hl7v2` or the role `dimse`. */
  hl7v2: { port: number } | null;
  core: RequestCore;
  run: RunCommand;
  /** Answers readiness probes with 503 from now on. Everything else continues. */
  announceStop(): void;
  /**
   * Closes the HTTP and DICOM servers first, then ends running work. Acknowledged work is not lost.
   */
  close(): Promise<void>;
}

/** The parts that every role of this process uses. */
type Shared = Awaited<ReturnType<typeof openShared>>;

/** What has to be closed when the gateway stops. The last part is closed first. */
type Parts = AsyncDisposableStack;

/**
 * Wires all parts and starts those in `config.roles`. Parts are connected only here and in
 * `wiring/`. Modules needed by only one role are imported when that role starts: a process that
 * only listens for DICOM loads no web server, no PDF writer and no pipeline.
 * @param rules source of the routing rules, if they can change while the gateway is running.
 * @throws DatabaseLockedError if another gateway is running on the data folder.
 * @throws SonogateError `invalid_config` if a rule could never match or act.
 * @throws the system error if an address cannot be bound.
 */
export async function startGateway(
  config: Config,
  plainLogger: Logger,
  rules: RulesSource = fixedRules(config.routing),
): Promise<Gateway> {
  // The stack closes every part, even if closing another part fails.
  const parts: Parts = new AsyncDisposableStack();
  const close = () => parts.disposeAsync();
  parts.defer(() => rules.stop());
  try {
    requireUsableRules(rules.current(), ENDPOINTS);
    const shared = await openShared({ config, plainLogger, rules }, parts);
    const { core, run, monitoring, logger } = shared;
    const roles = new Set(config.roles);
    if (roles.has('delivery')) await startDeliveryRole(shared, parts);
    if (roles.has('worker')) await startWorkerRole(shared, parts);
    const dicom = roles.has('dimse') ? await startDimseRole(shared, parts) : null;
    const hl7v2 = roles.has('dimse') ? await listenForHl7v2(shared, parts) : null;
    // The DICOM and HTTP servers both receive objects and store them on the disk of this host.
    if (roles.has('dimse') || roles.has('api')) {
      const { database, objects, now } = shared;
      const retention = startRetention({
        ...retentionOf(config, { database, objects, now }),
        logger,
      });
      parts.defer(() => retention.stop());
    }
    const http = roles.has('api') ? await startApiRole(shared, dicom, parts) : null;
    logger.event('gateway_started', {
      version: VERSION,
      commit: COMMIT ?? undefined,
      roles: config.roles,
      http: http?.url,
      dicom: dicom?.port,
      hl7v2: hl7v2?.port,
    });
    monitoring.serving(true);
    const announceStop = () => monitoring.serving(false);
    return { http, dicom, hl7v2, core, run: typedCommands(run), announceStop, close };
  } catch (error) {
    await close().catch((closing: unknown) =>
      plainLogger.event('gateway_start_failed', { err: closing }),
    );
    throw error;
  }
}

/** Opens the database and migrates its schema to that of this version. */
async function openMigrated(config: Config, logger: Logger, parts: Parts): Promise<PooledDatabase> {
  // The database lock would also refuse a second gateway, except on a file system without locks.
  if (config.databaseUrl === undefined && (await gatewayAnswers(config.dataDir))) {
    throw new DatabaseLockedError(`the gateway that serves ${adminSocketPath(config.dataDir)}`);
  }
  const database = parts.adopt(await openDatabase({ ...config, logger }), (one) => one.close());
  const applied = await migrate(database, (error) => logger.event('migration_waits', { error }));
  if (applied.length > 0) logger.event('database_migrated', { migrations: applied });
  if (database.exclusive) await forgetReceptions(database);
  return database;
}

/**
 * Removes this host's copies of fetched objects, and results that another host, or a process that
 * was killed, has purged.
 */
function startCleaningCopies(database: PooledDatabase, { dataDir }: Config, logger: Logger) {
  return startCleaning(
    async () => {
      await removeExpiredResults(database, dataDir);
      await removeFetched(dataDir, new Date());
    },
    (err) => logger.event('copies_not_removed', { err }),
    logger,
  );
}

/** Opens the database, the queue and the files, and everything else that all roles share. */
async function openShared(
  { config, plainLogger, rules }: { config: Config; plainLogger: Logger; rules: RulesSource },
  parts: Parts,
) {
  const meters = createProcessMeters();
  let tracing = NO_TRACING;
  const logger = observedLogger(plainLogger, (event, fields) => {
    meters.onEvent(event, fields);
    tracing.onEvent(event, fields);
  });
  const certificates = new ClientCertificates((err, { certFile, caFile }) => {
    logger.event('certificate_unusable', { err, certFile: certFile ?? caFile ?? '' });
  });
  const closing = (one: { close(): void | Promise<void> }) => one.close();
  const stopping = (one: { stop(): void | Promise<void> }) => one.stop();
  const database = await openMigrated(config, logger, parts);
  const audit = parts.adopt(await startAudit(config, { database, certificates, logger }), stopping);
  const clock = await openSiteClock(database, {
    lastSeen: audit.lastEntryAt,
    async onJump(seconds) {
      if (seconds < 0) await endWaits(database);
      logger.event('clock_jumped', { seconds });
    },
  });
  parts.defer(() => clock.stop());
  const { now } = clock;
  tracing = parts.adopt(await startTracing(config.tracing, { database, logger }), stopping);

  const { redisUrl } = config;
  const queue = parts.adopt(await openQueue({ database, redisUrl, logger }), closing);
  const blobs = parts.adopt(await openBlobStore(config), closing);
  const objects = createReceivedObjects(config.dataDir, blobs);
  const monitoring = parts.adopt(
    await startMonitoring(config, { database, queue, blobs, meters }),
    stopping,
  );
  const endpoints = withReviews(ENDPOINTS, config);
  const core = parts.adopt(
    await createRequestCore({ database, queue, endpoints, blobs, config, logger, now }),
    closing,
  );
  parts.adopt(startCleaningCopies(database, config, logger), stopping);
  const common = { database, objects, certificates, logger, now };
  const operations = operationsOn({ ...common, config, rules });
  const run = commandsOn(operations, audit.write);
  parts.adopt(await serveAdminSocket(config.dataDir, run, logger), closing);
  const outbound = parts.adopt(createOutboundClient(createUrlGuard(config.outbound)), closing);
  const reception = {
    onReception: (peer, received) => meters.onReception(peer.source ?? '', received),
    audit: createDicomAudit({ ...audit, logger }),
  } satisfies Pick<StorageScpParts, 'onReception' | 'audit'>;
  return {
    config,
    rules,
    logger,
    meters,
    tracing,
    monitoring,
    audit,
    database,
    queue,
    blobs,
    objects,
    endpoints,
    core,
    operations,
    run,
    outbound,
    certificates,
    reception,
    now,
  };
}

async function startDeliveryRole(shared: Shared, parts: Parts): Promise<void> {
  const { startDeliveries } = await import('./wiring/deliveries.ts');
  const { traced } = shared.tracing;
  const outbox = await startDeliveries(shared.config, { ...shared, traced });
  parts.defer(() => outbox.stop());
}

async function startWorkerRole(shared: Shared, parts: Parts): Promise<void> {
  const { config, database, queue, endpoints, blobs, meters, outbound, certificates } = shared;
  const { logger, now } = shared;
  const { startWorker } = await import('../core/queue/worker.ts');
  const { fetchIntoFiles } = await import('../../dimse/archive/into-files.ts');
  const { openArchives } = await import('../../dimse/archive/open-archives.ts');
  const { createHostedFileFetcher } = await import('../core/files/hosted-files.ts');
  const { startExpiry } = await import('../core/requests/expiry.ts');
  const access = httpAccess(certificates);
  const archives = openArchives(config, { logger, certificates, access });
  const worker = await startWorker({
    ...{ config, database, queue, endpoints, blobs, logger, now },
    program: PIPELINE_PROGRAM,
    pipelines: MODULE_OF,
    mock: PIPELINES.mock,
    fetchFile: createHostedFileFetcher(outbound, config.outbound),
    fetchArchived: fetchIntoFiles(archives, {
      maxObjectBytes: config.dicom.maxObjectBytes,
      timeoutSeconds: config.outbound.fetchTimeoutSeconds,
    }),
    modelsReady: meters.modelsReady,
    onInference: meters.onInference,
  });
  parts.defer(() => worker.stop());
  const expiry = startExpiry({ database, blobs, config, logger, now });
  parts.defer(() => expiry.stop());
}

async function startDimseRole(shared: Shared, parts: Parts): Promise<DimseGateway> {
  const { config, core, database, objects, rules, certificates, logger, now } = shared;
  const { startDimse } = await import('../../dimse/gateway.ts');
  const hasFhirWorklist = config.orders.worklists.some(({ type }) => type === 'fhir');
  const fhirOrders = hasFhirWorklist
    ? await import('../../fhir/match/service-request-worklist.ts')
    : null;
  const dimse = await startDimse({
    ...{ config, database, objects, certificates, logger, now },
    ...shared.reception,
    routing: rules.current,
    // Requests for received studies belong to the installation's own account, so that its API
    // keys list them in the history.
    submit: (command) => core.submit({ ...command, accountId: DEFAULT_ACCOUNT_ID }),
    result: core.result,
    forward: (instances, destinations, kind) =>
      database.transaction(async (tx) => {
        const giveUpSeconds = config.delivery.giveUpAfterHours * 3600;
        const objects = await arrivalsOf(tx, instances);
        await enqueueForwards(tx, objects, destinations, giveUpSeconds, kind);
      }),
    archiveAccess: httpAccess(certificates),
    fhirWorklist: fhirOrders?.serviceRequestWorklist,
  });
  parts.defer(() => dimse.close());
  return dimse;
}

async function listenForHl7v2(
  { config, database, audit, logger, now }: Shared,
  parts: Parts,
): Promise<{ port: number } | null> {
  const { hl7v2, shutdown } = config;
  if (!hl7v2) return null;
  const { startHl7v2 } = await import('./wiring/hl7v2.ts');
  const messages = await startHl7v2({ hl7v2, shutdown }, { database, audit, logger, now });
  parts.defer(() => messages.stop());
  return messages;
}

async function startApiRole(
  shared: Shared,
  dicom: DimseGateway | null,
  parts: Parts,
): Promise<HttpServer> {
  const { config, database, core, blobs, objects, operations, outbound, certificates } = shared;
  const { endpoints, rules, audit, monitoring, logger, now } = shared;
  const { createStorageScp } = await import('../../dimse/receive/storage-scp.ts');
  const { createStoreInstances } = await import('../../dimse/dicomweb/store-instances.ts');
  const { startHttpDoor } = await import('./wiring/http-door.ts');
  // Without the role `dimse`, STOW-RS and uploads in the console need a separate intake. It does
  // not recover at startup, because recovery is a task of the role `dimse`.
  const door =
    dicom?.door ??
    createStorageScp({
      ...{ config, database, objects, logger, now },
      ...shared.reception,
      recovers: false,
    });
  if (!dicom) parts.defer(() => door.close());
  const api = await startHttpDoor(config, {
    ...{ database, core, blobs, operations, objects, outbound, certificates, audit, logger, now },
    checks: monitoring.checks,
    metrics: monitoring.metrics,
    reviews: reviewsOf(config, { database, core, blobs, endpoints }),
    storeInstances: createStoreInstances({ door, config, logger }),
    routing: rules.current,
  });
  parts.defer(() => api.stop());
  return api.server;
}
