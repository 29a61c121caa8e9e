import type { DicomArchiveSettings, DicomwebArchiveSettings } from '../../config/peers.ts';
import type { Config } from '../../config/schema.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import type { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import type { HttpAccess } from '../dicomweb/stow-transport.ts';
import { type CalledNode, clientTls } from '../network/dial.ts';
import type { DicomAudit } from '../receive/audit.ts';
import type { Archive, AskOptions } from './archive.ts';
import { dicomwebArchive } from './dicomweb-archive.ts';
import { findObjects, findStudies, openQuery, type QueryAssociation } from './query.ts';
import { getObjects, moveObjects } from './retrieve.ts';

interface DimseArchiveSettings {
  name: string;
  node: CalledNode;
  retrieve: 'c-get' | 'c-move';
  /** Our AE title as configured in the archive, for C-MOVE. */
  moveTo: string;
}

/**
 * Creates an archive that is queried by C-FIND and from which objects are retrieved by C-GET or
 * C-MOVE (PS3.4 C).
 */
export function dimseArchive(
  { name, node, retrieve, moveTo }: DimseArchiveSettings,
  logger: Logger,
): Archive {
  const query = async <T>(
    { signal }: AskOptions,
    ask: (association: QueryAssociation) => Promise<T>,
  ): Promise<T> => {
    const association = await openQuery(node, signal);
    try {
      return await ask(association);
    } finally {
      await association.release();
    }
  };
  return {
    name,
    studies: (keys, { limit, ...options }) =>
      query(options, (association) => findStudies(association, keys, limit)),
    objects: (studyInstanceUid, options = {}) =>
      query(options, (association) => findObjects(association, studyInstanceUid)),
    retrieve: (wanted, { signal } = {}) =>
      retrieve === 'c-get'
        ? getObjects(node, wanted, { signal, logger })
        : moveObjects(node, wanted, { signal, moveTo }),
  };
}

export type ArchiveAccess = (settings: DicomwebArchiveSettings) => HttpAccess;

interface ArchiveParts {
  logger: Logger;
  certificates: ClientCertificates;
  /** Returns the credentials for a DICOMweb archive. */
  access?: ArchiveAccess | undefined;
}

export function openArchives(
  { archives, dicom }: Pick<Config, 'archives' | 'dicom'>,
  { logger, certificates, access }: ArchiveParts,
): Archive[] {
  return archives.map((settings) => {
    if (settings.type === 'dicomweb') {
      if (!access) throw new Error('a DICOMweb archive needs credentials');
      return dicomwebArchive(settings, access(settings), dicom.aeTitle);
    }
    const { name, retrieve, moveTo = dicom.aeTitle } = settings;
    const node = archiveNode(settings, dicom, certificates);
    return dimseArchive({ name, node, retrieve, moveTo }, logger);
  });
}

export function archiveNode(
  settings: DicomArchiveSettings,
  dicom: Pick<Config['dicom'], 'aeTitle'>,
  certificates: ClientCertificates,
): CalledNode {
  const { host, port, aeTitle, callingAeTitle = dicom.aeTitle, timeoutSeconds } = settings;
  const tls = clientTls(settings.tls, certificates);
  return { host, port, aeTitle, callingAeTitle, timeoutSeconds, tls };
}

/**
 * Wraps an archive so that each query for a patient's studies is audited (PS3.15 A.5.3.10). A query
 * for the objects of a study already received is not audited. Arriving objects are audited on
 * receipt.
 */
export function auditedArchive(archive: Archive, audit: Pick<DicomAudit, 'queried'>): Archive {
  return {
    ...archive,
    async studies(keys, options) {
      let found: number | null = null;
      try {
        const studies = await archive.studies(keys, options);
        found = studies.length;
        return studies;
      } finally {
        await audit.queried(archive.name, found);
      }
    },
  };
}
