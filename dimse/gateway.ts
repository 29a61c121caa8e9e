import { mkdir } from 'node:fs/promises';
import type { Routing } from '../config/routing-schema.ts';
import type { Config } from '../config/schema.ts';
import type { Database } from '../src/database/port.ts';
import type { ReceivedObjects } from '../src/files/port.ts';
import type { Logger } from '../src/logging/logger.ts';
import type { ResultReader, Submit } from '../src/requests/port.ts';
import { auditedArchive } from './archive/audited-archive.ts';
import { type ArchiveAccess, openArchives } from './archive/open-archives.ts';
import { startArchiveRounds } from './archive/rounds.ts';
import { startStudyAssembly } from './assembly.ts';
import { type DicomAudit, NO_AUDIT } from './dicom-audit.ts';
import { type IntakeDoor, openIntakeDoor } from './intake-door.ts';
import { recoverIntake } from './intake-recovery.ts';
import { endOfRetention } from './intake-retention.ts';
import type { Reception } from './measured-storage.ts';
import { listen } from './network/listener.ts';
import type { AssociationPeer } from './network/storage-service.ts';
import { offer } from './offer.ts';
import { removeForgottenFiles } from './removed-objects.ts';
import { requireKnownAttributes } from './routing/attribute-values.ts';
import { normalizedServices } from './services/services.ts';
import { admit } from './source.ts';
import type { Forward } from './study-actions.ts';

export interface DimseGateway {
  /** The port that is bound; differs from the setting when that is 0. */
  port: number;
  /** For objects that come another way. */
  door: IntakeDoor;
  /** Lets objects under way finish, then ends listener and assembly. */
  close(): Promise<void>;
}

/**
 * DICOM in: takes up what the last run left, then listens, stores, assembles and submits.
 * @throws the system's error when the address cannot be bound or a certificate cannot be read.
 */
export async function startDimse({
  config,
  routing = () => config.routing,
  database,
  objects,
  submit,
  result,
  forward,
  onReception,
  audit = NO_AUDIT,
  archiveAccess,
  logger,
  now = () => new Date(),
}: {
  config: Pick<
    Config,
    | 'dataDir'
    | 'dicom'
    | 'sources'
    | 'archives'
    | 'routing'
    | 'destinations'
    | 'retention'
    | 'shutdown'
  >;
  /** The rules as they are now, where they can change while the gateway runs. */
  routing?: () => Routing;
  database: Database;
  objects: ReceivedObjects;
  submit: Submit;
  result: ResultReader['result'];
  forward: Forward;
  /** Told how the reception of each object went. */
  onReception?: (peer: AssociationPeer, reception: Reception) => void;
  audit?: DicomAudit;
  /** How we show archives of DICOMweb who we are. */
  archiveAccess?: ArchiveAccess;
  logger: Logger;
  now?: () => Date;
}): Promise<DimseGateway> {
  const { dataDir, dicom, sources } = config;
  requireKnownAttributes(routing());
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const registration = { dataDir, database, objects, sources, logger, now };
  const { intakeDays } = config.retention;
  if (objects.shared && intakeDays !== undefined) {
    await removeForgottenFiles(registration, endOfRetention(intakeDays, now()), now());
  }
  await recoverIntake(registration);

  const door = openIntakeDoor({ config, database, objects, onReception, audit, logger, now });
  const listener = await listen({
    host: dicom.host,
    port: dicom.port,
    tls: dicom.tls,
    aeTitle: dicom.aeTitle,
    maxPduBytes: dicom.maxPduBytes,
    maxAssociations: dicom.maxAssociations,
    offer,
    admit: (peer) => admit(sources, door.sourceLimits, peer),
    onRefused: audit.refused,
    onTlsRefused: audit.tlsRefused,
    storage: door.storage,
    normalized: normalizedServices({ database, objects, sources, logger, now }),
    logger,
  });
  const archives = startArchiveRounds({
    archives: openArchives(config, logger, archiveAccess).map((archive) =>
      auditedArchive(archive, audit),
    ),
    sources,
    database,
    storage: door.unmeasured,
    logger,
    now,
  });
  const assembly = startStudyAssembly({
    config,
    routing,
    database,
    objects,
    submit,
    result,
    forward,
    logger,
    now,
  });
  logger.info({ host: dicom.host, port: listener.port, aeTitle: dicom.aeTitle }, 'DICOM listener');
  return {
    port: listener.port,
    door,
    async close() {
      const { graceSeconds } = config.shutdown;
      await Promise.all([listener.close(graceSeconds), archives.stop()]);
      await assembly.stop();
    },
  };
}
