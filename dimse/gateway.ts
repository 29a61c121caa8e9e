import { mkdir } from 'node:fs/promises';
import type { Routing } from '../config/routing.ts';
import type { Config } from '../config/schema.ts';
import type { ReceivedObjects } from '../src/core/files/received-objects.ts';
import type { ResultReader, Submit } from '../src/core/requests/request.ts';
import type { Forward } from '../src/core/studies/assembly.ts';
import { startStudyAssembly } from '../src/core/studies/assembly.ts';
import { deleteRemovedObjects, removeOrphanedFiles } from '../src/core/studies/intake-folder.ts';
import { startOrderRounds } from '../src/core/studies/order-rounds.ts';
import { receivedOrders } from '../src/core/studies/received-orders.ts';
import { recoverIntake } from '../src/core/studies/recover-intake.ts';
import { retentionCutoff } from '../src/core/studies/retention.ts';
import type { PooledDatabase } from '../src/platform/database/pooled.ts';
import { SonogateError } from '../src/platform/errors/catalogue.ts';
import type { Logger } from '../src/platform/logging/logger.ts';
import type { ClientCertificates } from '../src/platform/tls/client-files.ts';
import { type ArchiveAccess, auditedArchive, openArchives } from './archive/open-archives.ts';
import { startArchiveRounds } from './archive/rounds.ts';
import { type Listener, listen } from './network/listener.ts';
import type { AssociationPeer } from './network/service-ports.ts';
import { queryService } from './query-retrieve/query-scp.ts';
import { admitCaller } from './receive/admission.ts';
import { type DicomAudit, NO_AUDIT } from './receive/audit.ts';
import { acceptedTransferSyntaxes, acceptedWithQueries } from './receive/presentation-contexts.ts';
import type { Reception } from './receive/storage-scp.ts';
import { createStorageScp, type StorageScp } from './receive/storage-scp.ts';
import { normalizedServices } from './services/services.ts';
import { type OpenFhirWorklist, openWorklists } from './worklist/modality-worklist.ts';

export interface DimseGateway {
  /** The bound port. It differs from the setting only if the setting is 0. */
  port: number;
  /** The storage service, for objects that arrive by STOW-RS. */
  door: StorageScp;
  /**
   * Waits for the objects that are being received, then closes the listener and stops the assembly.
   */
  close(): Promise<void>;
}

function requireSource({ source }: AssociationPeer): void {
  if (source === undefined) throw new SonogateError('operation_not_authorized');
}

interface DimseParts {
  config: Pick<
    Config,
    | 'dataDir'
    | 'dicom'
    | 'sources'
    | 'queryRetrieve'
    | 'archives'
    | 'orders'
    | 'hl7v2'
    | 'routing'
    | 'destinations'
    | 'retention'
    | 'shutdown'
  >;
  /** The current rules, if they can change while the gateway is running. */
  routing?: () => Routing;
  database: PooledDatabase;
  objects: ReceivedObjects;
  submit: Submit;
  result: ResultReader['result'];
  forward: Forward;
  onReception?: (peer: AssociationPeer, reception: Reception) => void;
  audit?: DicomAudit;
  certificates: ClientCertificates;
  archiveAccess?: ArchiveAccess;
  /** Loads the FHIR worklist. Called only if one of the configured worklists is a FHIR server. */
  fhirWorklist?: OpenFhirWorklist | undefined;
  logger: Logger;
  now: () => Date;
}

/** Listens for the associations of carts, archives and query clients. */
function listenForCallers(
  { config, database, objects, certificates, logger, audit = NO_AUDIT }: DimseParts,
  door: StorageScp,
  now: () => Date,
): Promise<Listener> {
  const { dicom, sources, queryRetrieve } = config;
  const services = normalizedServices({ database, objects, sources, logger, now });
  return listen({
    host: dicom.host,
    port: dicom.port,
    tls: dicom.tls,
    aeTitle: dicom.aeTitle,
    maxPduBytes: dicom.maxPduBytes,
    maxAssociations: dicom.maxAssociations,
    offer: queryRetrieve.callers.length > 0 ? acceptedWithQueries : acceptedTransferSyntaxes,
    admit: (peer) => admitCaller(sources, door.sourceLimits, peer, queryRetrieve.callers),
    onRefused: audit.refused,
    onTlsRefused: audit.tlsRefused,
    storage: {
      ...door.storage,
      open(object, peer) {
        requireSource(peer);
        return door.storage.open(object, peer);
      },
    },
    query: queryService({ database, objects, config, certificates, audit }),
    async normalized(request, peer) {
      requireSource(peer);
      // A cart may request storage commitment immediately after sending its objects, when their
      // rows are not yet committed.
      await door.storage.settled?.(peer);
      return services(request, peer);
    },
    logger,
  });
}

/**
 * Starts receiving objects by DICOM. Objects that the previous run stored but did not record in the
 * database are registered first. Then the gateway listens, stores objects, assembles studies and
 * submits them.
 * @throws the system error if the address cannot be bound or a certificate cannot be read.
 */
export async function startDimse(parts: DimseParts): Promise<DimseGateway> {
  const { config, database, objects, certificates, logger, audit = NO_AUDIT } = parts;
  const { routing = () => config.routing, now } = parts;
  const { dataDir, dicom, sources } = config;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const registration = { dataDir, database, objects, sources, logger, now };
  const { intakeDays } = config.retention;
  await deleteRemovedObjects(registration);
  if (objects.shared && intakeDays !== undefined) {
    await removeOrphanedFiles(registration, retentionCutoff(intakeDays, now()), now());
  }
  await recoverIntake({ ...registration, isAlone: database.exclusive });

  let onDeadline = (_completeAfter: Date) => {};
  const door = createStorageScp({
    config,
    database,
    objects,
    onReception: parts.onReception,
    onDeadline: (completeAfter) => onDeadline(completeAfter),
    audit,
    recovers: true,
    logger,
    now,
  });
  const listener = await listenForCallers(parts, door, now);
  const archives = startArchiveRounds({
    archives: openArchives(config, { logger, certificates, access: parts.archiveAccess }).map(
      (archive) => auditedArchive(archive, audit),
    ),
    sources,
    database,
    storage: door.unmeasured,
    logger,
    now,
  });
  const orders = startOrderRounds({
    worklists: [
      ...(config.hl7v2 ? [receivedOrders(database)] : []),
      ...openWorklists(config, certificates, parts.fhirWorklist),
    ],
    database,
    queried: audit.queried,
    logger,
    now,
  });
  const assembly = startStudyAssembly({
    config,
    routing,
    database,
    objects,
    submit: parts.submit,
    result: parts.result,
    forward: parts.forward,
    outstanding: () => door.registrar.outstanding(),
    logger,
    now,
  });
  onDeadline = assembly.wakeAt;
  logger.event('listener_open', {
    host: dicom.host,
    port: listener.port,
    aeTitle: dicom.aeTitle,
  });
  return {
    port: listener.port,
    door,
    async close() {
      const { graceSeconds } = config.shutdown;
      await Promise.all([listener.close(graceSeconds), archives.stop(), orders.stop()]);
      await door.close();
      await assembly.stop();
    },
  };
}
