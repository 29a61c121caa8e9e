import type { Config } from '../../config/schema.ts';
import type { DimseGateway } from '../../dimse/gateway.ts';
import { createDicomAudit } from '../../dimse/receive/audit.ts';
import type { StorageScpParts } from '../../dimse/receive/storage-scp.ts';
import { forwardedObjects } from '../../dimse/send/deliver.ts';
import { httpAccess } from '../../fhir/client/authorization.ts';
import { contentEndpoint } from '../../pipelines/contract/content.ts';
import { echoEndpoint } from '../../pipelines/echo/endpoint.ts';
import { obstetricEndpoint } from '../../pipelines/obstetric/endpoint.ts';
import { translateEndpoint } from '../../pipelines/translate/endpoint.ts';
import { DEFAULT_ACCOUNT_ID } from '../core/accounts/keys.ts';
import { openBlobStore } from '../core/files/open-blob-store.ts';
import { createReceivedObjects, removeFetched } from '../core/files/received-objects.ts';
import { enqueueForwards } from '../core/outbox/deliveries.ts';
import { openQueue } from '../core/queue/queue.ts';
import { createRequestCore, type RequestCore } from '../core/requests/core.ts';
import { removeExpiredResults } from '../core/requests/results.ts';
import { forgetReceptions } from '../core/studies/receptions.ts';
import { startRetention } from '../core/studies/retention.ts';
import { fixedRules, type RulesSource } from '../core/studies/rules/rules-source.ts';
import type { HttpServer } from '../doors/http/server.ts';
import { commandsOn, type RunCommand, typedCommands } from '../operations/commands.ts';
import { adminSocketPath, gatewayAnswers, serveAdminSocket } from '../operations/socket.ts';
import { DatabaseLockedError } from '../platform/database/folder-lock.ts';
import { migrate } from '../platform/database/migrate.ts';
import { openDatabase } from '../platform/database/open.ts';
import { EVENTS } from '../platform/logging/events.ts';
import type { Logger } from '../platform/logging/logger.ts';
import { observedLogger } from '../platform/logging/logger.ts';
import { createOutboundClient } from '../platform/outbound/client.ts';
import { createUrlGuard } from '../platform/outbound/url-guard.ts';
import { openSiteClock } from '../platform/time.ts';
import { createProcessMeters, startMonitoring } from './monitoring/metrics.ts';
import { NO_TRACING, startTracing } from './monitoring/tracing.ts';
import { PIPELINE_PROGRAM } from './pipelines/program.ts';
import { startAudit } from './wiring/audit.ts';
import { startCleaning } from './wiring/cleaning.ts';
import { operationsOn, retentionOf } from './wiring/operations.ts';
import { reviewsOf, withReviews } from './wiring/reviews.ts';

/** The endpoints of this gateway, and the pipeline module that a child process loads for each. */
const DESCRIBED = [obstetricEndpoint, echoEndpoint, contentEndpoint, translateEndpoint];
const PIPELINES: Readonly<Record<string, string>> = {
  [obstetricEndpoint.id]: new URL('./pipelines/obstetric.ts', import.meta.url).href,
  [echoEndpoint.id]: new URL('./pipelines/echo.ts', import.meta.url).href,
  [contentEndpoint.id]: new URL('./pipelines/content.ts', import.meta.url).href,
  [translateEndpoint.id]: new URL('./pipelines/translate.ts', import.meta.url).href,
};
const MOCK = new URL('./pipelines/mock.ts', import.meta.url).href;

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

/**
 * Wires all parts and starts those in `config.roles`. This is the only place where the parts are
 * connected. Modules needed by only one role are imported when that role starts: a process that
 * only listens for DICOM loads no web server, no PDF writer and no pipeline.
 * @param rules source of the routing rules, if they can change while the gateway is running.
 * @throws DatabaseLockedError if another gateway is running on the data folder.
 * @throws the system error if an address cannot be bound.
 */
export async function startGateway(
  config: Config,
  plainLogger: Logger,
  rules: RulesSource = fixedRules(config.routing),
): Promise<Gateway> {
  const meters = createProcessMeters();
  let tracing = NO_TRACING;
  const logger = observedLogger(plainLogger, (event, fields) => {
    meters.onEvent(event, fields);
    tracing.onEvent(event, fields);
  });
  const ends: (() => Promise<unknown>)[] = [async () => rules.stop()];
  const close = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    // The database lock would also refuse a second gateway, except on a file system without locks.
    if (config.databaseUrl === undefined && (await gatewayAnswers(config.dataDir))) {
      throw new DatabaseLockedError(`the gateway that serves ${adminSocketPath(config.dataDir)}`);
    }
    const database = await openDatabase({ ...config, logger });
    ends.push(() => database.close());
    const applied = await migrate(database);
    if (applied.length > 0) logger.event(EVENTS.databaseMigrated, { migrations: applied });
    if (database.exclusive) await forgetReceptions(database);
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
    const endpoints = withReviews(DESCRIBED, config);
    const core = await createRequestCore({
      database,
      queue,
      endpoints,
      blobs,
      config,
      logger,
    });
    ends.push(() => core.close());
    if (blobs.direct) {
      const cleaning = startCleaning(
        async () => {
          await removeExpiredResults(database, config.dataDir);
          await removeFetched(config.dataDir, new Date());
        },
        EVENTS.copiesNotRemoved,
        logger,
      );
      ends.push(() => cleaning.stop());
    }
    const operations = operationsOn(database, objects, config, rules);
    const run = commandsOn(operations, audit.write);
    const admin = await serveAdminSocket(config.dataDir, run, logger);
    ends.push(() => admin.close());

    const roles = new Set(config.roles);
    const outbound = createOutboundClient(createUrlGuard(config.outbound));
    ends.push(() => outbound.close());
    if (roles.has('delivery')) {
      const { startDeliveries } = await import('./wiring/deliveries.ts');
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
    }
    if (roles.has('worker')) {
      const { startWorker } = await import('../core/queue/worker.ts');
      const { fetchIntoFiles } = await import('../../dimse/archive/into-files.ts');
      const { openArchives } = await import('../../dimse/archive/open-archives.ts');
      const { createHostedFileFetcher } = await import('../core/files/hosted-files.ts');
      const { startExpiry } = await import('../core/requests/expiry.ts');
      const worker = await startWorker({
        database,
        queue,
        endpoints,
        program: PIPELINE_PROGRAM,
        pipelines: PIPELINES,
        mock: MOCK,
        fetchFile: createHostedFileFetcher(outbound, config.outbound),
        fetchArchived: fetchIntoFiles(openArchives(config, logger, httpAccess), {
          maxObjectBytes: config.dicom.maxObjectBytes,
          timeoutSeconds: config.outbound.fetchTimeoutSeconds,
        }),
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
    const reception: Pick<StorageScpParts, 'onReception' | 'audit'> = {
      onReception: (peer, received) => meters.onReception(peer.source ?? '', received),
      audit: createDicomAudit({ ...audit, logger }),
    };
    const clock = await openSiteClock(database);
    ends.push(() => clock.stop());
    let dicom: DimseGateway | null = null;
    let hl7v2: { port: number } | null = null;
    if (roles.has('dimse')) {
      const { startDimse } = await import('../../dimse/gateway.ts');
      const hasFhirWorklist = config.orders.worklists.some(({ type }) => type === 'fhir');
      const fhirOrders = hasFhirWorklist
        ? await import('../../fhir/match/service-request-worklist.ts')
        : null;
      const started = await startDimse({
        config,
        routing: rules.current,
        database,
        objects,
        // Studies belong to the installation's own account, so that its keys see their requests in
        // the history.
        submit: (command) => core.submit({ ...command, accountId: DEFAULT_ACCOUNT_ID }),
        result: core.result,
        forward: (instances, destinations, kind) =>
          database.transaction(async (tx) => {
            const giveUpSeconds = config.delivery.giveUpAfterHours * 3600;
            const objects = await forwardedObjects(tx, instances);
            await enqueueForwards(tx, objects, destinations, giveUpSeconds, kind);
          }),
        ...reception,
        archiveAccess: httpAccess,
        fhirWorklist: fhirOrders?.serviceRequestWorklist,
        logger,
        now: clock.now,
      });
      ends.push(() => started.close());
      dicom = started;
      const { hl7v2: settings } = config;
      if (settings) {
        const { startHl7v2 } = await import('./wiring/hl7v2.ts');
        const parts = { database, audit, logger, now: clock.now };
        const messages = await startHl7v2({ ...config, hl7v2: settings }, parts);
        ends.push(() => messages.stop());
        hl7v2 = messages;
      }
    }
    // The DICOM and HTTP servers both receive objects and store them on the disk of this machine.
    if (roles.has('dimse') || roles.has('api')) {
      const retention = startRetention({ ...retentionOf(config, database, objects), logger });
      ends.push(() => retention.stop());
    }
    let http: HttpServer | null = null;
    if (roles.has('api')) {
      const { createStorageScp } = await import('../../dimse/receive/storage-scp.ts');
      const { createStoreInstances } = await import('../../dimse/dicomweb/store-instances.ts');
      const { startHttpDoor } = await import('./wiring/http-door.ts');
      const { checks, metrics } = monitoring;
      const reviews = reviewsOf(config, { database, core, blobs, endpoints });
      const common = {
        database,
        objects,
        core,
        reviews,
        blobs,
        outbound,
        checks,
        metrics,
        audit,
        logger,
      };
      const intake = { config, database, objects, ...reception, logger, now: clock.now };
      // A process that does not listen for DICOM has its own intake, and no recovery at startup.
      const door = dicom?.door ?? createStorageScp({ ...intake, recovers: false });
      if (!dicom) ends.push(() => door.close());
      const storeInstances = createStoreInstances({ door, config, logger });
      const api = await startHttpDoor(config, {
        ...common,
        storeInstances,
        operations,
        routing: rules.current,
      });
      ends.push(() => api.stop());
      http = api.server;
    }
    logger.event(EVENTS.gatewayStarted, {
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
      logger.event(EVENTS.gatewayStartFailed, { err: closing }),
    );
    throw error;
  }
}
