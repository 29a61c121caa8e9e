import type { Config } from '../config/schema.ts';
import type { Database } from '../src/database/port.ts';
import type { ReceivedObjects } from '../src/files/port.ts';
import type { Logger } from '../src/logging/logger.ts';
import { type DicomAudit, NO_AUDIT } from './dicom-audit.ts';
import { createIntake } from './intake.ts';
import { measuredStorage, type Reception } from './measured-storage.ts';
import type { AssociationPeer, StorageService } from './network/storage-service.ts';
import { noteReceptions } from './receptions-under-way.ts';
import { createSourceLimits, type SourceLimits } from './source-limits.ts';
import { watchReleases } from './study-releases.ts';

export interface IntakeDoorParts {
  config: Pick<Config, 'dataDir' | 'dicom' | 'sources'>;
  database: Database;
  objects: ReceivedObjects;
  /** Told how the reception of each object went. */
  onReception?: (peer: AssociationPeer, reception: Reception) => void;
  audit?: DicomAudit;
  logger: Logger;
  now: () => Date;
}

/** Where objects come in, by C-STORE or STOW-RS: one intake, and one count of the limits. */
export interface IntakeDoor {
  /** For what others bring. */
  storage: StorageService;
  /** For what we fetch ourselves: it is no reception. */
  unmeasured: StorageService;
  sourceLimits: SourceLimits;
}

export function openIntakeDoor({
  config: { dataDir, dicom, sources },
  database,
  objects,
  onReception = () => {},
  audit = NO_AUDIT,
  logger,
  now,
}: IntakeDoorParts): IntakeDoor {
  const releases = watchReleases({ sources, database, logger, now });
  const sourceLimits = createSourceLimits();
  const intake = createIntake({
    dataDir,
    database,
    objects,
    sources,
    logger,
    now,
    sourceLimits,
    limits: dicom,
    onArrival: (peer, source, arrival) => {
      audit.arrived(peer, arrival.studyId);
      releases.arrived(peer, source, arrival);
    },
    onAssociationEnd: async (peer, end) => {
      await releases.ended(peer, end);
      await audit.ended(peer, end);
    },
  });
  const unmeasured = noteReceptions(intake, { sources, database, now });
  return { unmeasured, storage: measuredStorage(unmeasured, onReception), sourceLimits };
}
