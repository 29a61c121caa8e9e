import { join } from 'node:path';
import {
  type Config,
  type DicomDestination,
  type FhirDestination,
  type Hl7v2Destination,
  isDeidentifying,
} from '../../../config/schema.ts';
import { clientTls, dial } from '../../../dimse/network/dial.ts';
import { connectPacs } from '../../../dimse/pacs.ts';
import { createStorageScp } from '../../../dimse/receive/storage-scp.ts';
import { createDicomDeliverer, createForwardDeliverer } from '../../../dimse/send/deliver.ts';
import { createDeidentifiedDeliverer } from '../../../dimse/send/deliver-deidentified.ts';
import { createDicomWithdrawer } from '../../../dimse/send/withdraw.ts';
import { startCommitmentRounds } from '../../../dimse/services/commitment-scu.ts';
import { httpAccess } from '../../../fhir/client/authorization.ts';
import { createFhirDeliverer } from '../../../fhir/deliver/deliver.ts';
import { holdLedger } from '../../../fhir/deliver/holds.ts';
import { binaryLedger } from '../../../fhir/deliver/send-report.ts';
import { createFhirWithdrawer } from '../../../fhir/deliver/withdraw.ts';
import { dicomObjects } from '../../../pipelines/artifacts/dicom-objects.ts';
import { rebuildReportPdf } from '../../../pipelines/artifacts/pdf/report.ts';
import type { Subject } from '../../../pipelines/dicom/subject.ts';
import { echoEndpoint } from '../../../pipelines/echo/endpoint.ts';
import { obstetricEndpoint } from '../../../pipelines/obstetric/endpoint.ts';
import { INTERGROWTH_CURVES } from '../../../pipelines/obstetric/growth/curves.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { escalateAlerts } from '../../core/alerts/alerts.ts';
import { createMailDeliverer } from '../../core/alerts/deliver.ts';
import type { ReceivedObjects } from '../../core/files/received-objects.ts';
import { auditedDeliverer } from '../../core/outbox/audited-deliverer.ts';
import { receivedRevisions } from '../../core/outbox/deliveries.ts';
import type { Deliverer, RequestDelivery } from '../../core/outbox/delivery.ts';
import { startOutbox } from '../../core/outbox/outbox.ts';
import { sentTo, withdrawalOf } from '../../core/outbox/withdrawals.ts';
import type { RequestCore } from '../../core/requests/core.ts';
import {
  earlierRequests,
  laterRequests,
  withdrawnRequests,
} from '../../core/studies/earlier-requests.ts';
import { resultSignatures, signatureOver } from '../../core/studies/signed-results.ts';
import { studyOfInstance } from '../../core/studies/study-store.ts';
import { subjectOfRequest } from '../../core/studies/subject.ts';
import { createWebhookDeliverer } from '../../core/webhooks/deliver.ts';
import { createHl7v2Deliverer, createHl7v2Withdrawer } from '../../doors/hl7v2/deliver.ts';
import type { PooledDatabase } from '../../platform/database/open.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import type { OutboundClient } from '../../platform/outbound/client.ts';
import { createMailer } from '../../platform/outbound/mail.ts';
import { logRounds, type Rounds, startRounds } from '../../platform/rounds.ts';
import type { ClientCertificates } from '../../platform/tls/client-files.ts';
import type { RunningTracing } from '../monitoring/tracing.ts';
import { type AuditService, auditedActor } from './audit.ts';
import { startDeidentification } from './deidentify.ts';
import { startSubscriptionRounds, subscriptionDeliverer } from './subscriptions.ts';

const isDicom = (d: Config['destinations'][number]): d is DicomDestination => d.type === 'dicom';
const isFhir = (d: Config['destinations'][number]): d is FhirDestination => d.type === 'fhir';
const isHl7v2 = (d: Config['destinations'][number]): d is Hl7v2Destination => d.type === 'hl7v2';

interface DeliveryParts {
  database: PooledDatabase;
  objects: ReceivedObjects;
  core: RequestCore;
  outbound: OutboundClient;
  audit: AuditService;
  certificates: ClientCertificates;
  traced: RunningTracing['traced'];
  logger: Logger;
  /** The site's clock: other hosts check the deadlines that are set here. */
  now: () => Date;
}

/** Starts the outbox with a deliverer for each kind of destination. */
export async function startDeliveries(
  config: Config,
  parts: DeliveryParts,
): Promise<{ stop(): Promise<void> }> {
  const { database, audit, certificates, traced, logger, now } = parts;
  const objects = await startObjectDeliveries(config, parts);
  const deliverers = [
    ...objects.deliverers,
    ...reportDeliverers(config, parts),
    ...noticeDeliverers(config, parts),
  ].map((deliverer) =>
    auditedDeliverer(traced(deliverer), {
      writeAudit: audit.write,
      actorOf: (name) => auditedActor(config, name),
      studyOf: (instance) => studyOfInstance(database, instance),
    }),
  );
  const { alternates } = objects;
  const outbox = await startOutbox({ database, deliverers, config, alternates, logger });
  const escalation = startEscalation(config, { database, logger });
  const subscriptions = startSubscriptionRounds(config, database, logger);
  const commitment = startCommitmentRounds({
    database,
    sources: config.sources,
    destinations: config.destinations.filter(isDicom),
    aeTitle: config.dicom.aeTitle,
    certificates,
    logger,
    now,
  });
  return {
    stop: async () => {
      await escalation?.stop();
      await subscriptions.stop();
      await commitment.stop();
      await outbox.stop();
      await objects.stop();
    },
  };
}

/**
 * Starts the deliverers that send DICOM objects: results, objects as received, and de-identified
 * copies.
 */
async function startObjectDeliveries(
  config: Config,
  { database, objects, core, certificates, logger, now }: DeliveryParts,
) {
  const intake = config.destinations.some(({ type }) => type === 'local')
    ? createStorageScp({
        config,
        database,
        objects,
        recovers: false,
        logger,
        now,
      })
    : null;
  const pacs = connectPacs(config, {
    access: httpAccess(certificates),
    storage: intake?.unmeasured ?? null,
    certificates,
  });
  const deidentifying = config.destinations.filter(isDeidentifying);
  const names = new Set(deidentifying.map(({ name }) => name));
  const transports = [...pacs.transports];
  // The transports for identified objects. Destinations for de-identified objects are excluded.
  const identified = new Map(transports.filter(([name]) => !names.has(name)));
  const deidentification =
    deidentifying.length > 0 ? await startDeidentification(config, database, logger) : null;
  const results = {
    destinations: pacs.destinations,
    transports: identified,
    results: core,
    subject: (requestId: string) => subjectOfRequest(database, requestId),
    paper: config.report.paper,
    builders: dicomObjects(INTERGROWTH_CURVES),
  };
  const deliverers: Deliverer[] = [
    createDicomDeliverer(results),
    createDicomWithdrawer({
      ...results,
      withdrawalOf: (requestId) => withdrawalOf(database, requestId),
      sentTo: (delivery) => sentTo(database, delivery),
    }),
    createForwardDeliverer({ transports: identified, database, objects }),
  ];
  if (deidentification) {
    deliverers.push(
      createDeidentifiedDeliverer({
        destinations: deidentifying,
        transports: new Map(transports.filter(([name]) => names.has(name))),
        database,
        objects,
        deidentify: deidentification.deidentify,
      }),
    );
  }
  return {
    deliverers,
    alternates: pacs.alternates,
    stop: async () => {
      await deidentification?.stop();
      await pacs.close();
      await intake?.close();
    },
  };
}

/** Creates the deliverers that send reports to EHRs, by FHIR and by HL7 v2. */
function reportDeliverers(
  config: Config,
  { database, core, certificates, logger }: DeliveryParts,
): Deliverer[] {
  const subjectOf = (requestId: string) => subjectOfRequest(database, requestId);
  const reportPdf = (result: Result, of: Subject) =>
    rebuildReportPdf(
      result,
      of,
      INTERGROWTH_CURVES,
      (name) => core.artifactPath(of.requestId, name),
      config.report.paper,
    );
  const withdrawal = (requestId: string) => withdrawalOf(database, requestId);
  const overHl7v2 = {
    destinations: config.destinations.filter(isHl7v2),
    results: core,
    subjectOf,
    earlierRequests: (requestId: string) => earlierRequests(database, requestId),
    laterRequests: (requestId: string) => laterRequests(database, requestId),
    receivedRevisions: (delivery: RequestDelivery, requestIds: readonly string[]) =>
      receivedRevisions(database, delivery, requestIds),
    dial: (to: Pick<Hl7v2Destination, 'host' | 'port' | 'tls'>) =>
      dial({ ...to, tls: clientTls(to.tls, certificates) }),
  };
  const toEhrs = {
    destinations: config.destinations.filter(isFhir),
    results: core,
    earlierRequests: (requestId: string) => earlierRequests(database, requestId),
    laterRequests: (requestId: string) => laterRequests(database, requestId),
    withdrawnRequests: (requestIds: readonly string[]) => withdrawnRequests(database, requestIds),
    signatures: (requestIds: readonly string[]) => resultSignatures(database, requestIds),
    certificates,
    logger,
  };
  return [
    createFhirDeliverer({
      ...toEhrs,
      subjectOf,
      reportPdf,
      binaries: binaryLedger(join(config.dataDir, 'binaries')),
      holds: holdLedger(database),
    }),
    createFhirWithdrawer({ ...toEhrs, withdrawalOf: withdrawal }),
    createHl7v2Deliverer({
      ...overHl7v2,
      signatureOver: (requestId) => signatureOver(database, requestId),
      reportPdf,
    }),
    createHl7v2Withdrawer({ ...overHl7v2, withdrawalOf: withdrawal }),
  ];
}

/** Creates the deliverers that notify people and programs: mail, webhooks and FHIR Subscriptions. */
function noticeDeliverers(
  config: Config,
  { database, core, outbound, audit, logger }: DeliveryParts,
): Deliverer[] {
  const address = config.http.publicUrl ?? ownAddress(config.http);
  const mail = config.alerts
    ? createMailDeliverer({
        database,
        alerts: config.alerts,
        mailer: createMailer(config.alerts.server),
        subjectOf: (requestId) => subjectOfRequest(database, requestId),
        titleOf,
        consoleUrl: config.console.enabled ? `${address}/console` : null,
      })
    : null;
  return [
    ...(mail ? [mail] : []),
    createWebhookDeliverer({
      database,
      bodyOf: (id, accountId, object) => core.webhookBody(id, accountId, object, address),
      client: outbound,
      logger,
    }),
    subscriptionDeliverer({ database, core, outbound, audit, logger }),
  ];
}

const ESCALATION_ROUND_MILLISECONDS = 15_000;

/** Escalates alerts that nobody has acknowledged, if configured. */
function startEscalation(
  config: Config,
  { database, logger }: { database: PooledDatabase; logger: Logger },
): Rounds | null {
  if (!config.alerts?.lists.some(({ escalation }) => escalation)) return null;
  return startRounds({
    work: () => escalateAlerts(database, config),
    pauseMilliseconds: ESCALATION_ROUND_MILLISECONDS,
    ...logRounds(logger, 'escalation of alerts', (error) =>
      logger.event('alerts_not_escalated', { error: String(error) }),
    ),
  });
}

const titleOf = (id: string): string =>
  [obstetricEndpoint, echoEndpoint].find((endpoint) => endpoint.id === id)?.title ?? id;

function ownAddress({ host, port, tls }: Config['http']): string {
  return `${tls ? 'https' : 'http'}://${host}:${port}`;
}
