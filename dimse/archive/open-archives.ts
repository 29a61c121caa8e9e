import type { DicomArchiveSettings, DicomwebArchiveSettings } from '../../config/archive.ts';
import type { Config } from '../../config/schema.ts';
import type { Logger } from '../../src/logging/logger.ts';
import type { HttpAccess } from '../dicomweb/stow-transport.ts';
import type { CalledNode } from '../network/calling-association.ts';
import type { Archive } from './archive.ts';
import { dicomwebArchive } from './dicomweb-archive.ts';
import { dimseArchive } from './dimse-archive.ts';

export type ArchiveAccess = (settings: DicomwebArchiveSettings) => HttpAccess;

/** The archives of a site. Nothing is called before one is asked. */
export function openArchives(
  { archives, dicom }: Pick<Config, 'archives' | 'dicom'>,
  logger: Logger,
  access?: ArchiveAccess,
): Archive[] {
  return archives.map((settings) => {
    if (settings.type === 'dicomweb') {
      if (!access) throw new Error('an archive of DICOMweb needs credentials');
      return dicomwebArchive(settings, access(settings), dicom.aeTitle);
    }
    const { name, retrieve, moveTo = dicom.aeTitle } = settings;
    return dimseArchive({ name, node: archiveNode(settings, dicom), retrieve, moveTo }, logger);
  });
}

export function archiveNode(
  settings: DicomArchiveSettings,
  dicom: Pick<Config['dicom'], 'aeTitle'>,
): CalledNode {
  const { host, port, aeTitle, callingAeTitle = dicom.aeTitle, timeoutSeconds, tls } = settings;
  return { host, port, aeTitle, callingAeTitle, timeoutSeconds, tls };
}
