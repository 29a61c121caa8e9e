import type { DicomwebArchiveSettings } from '../../config/archive.ts';
import type { Config } from '../../config/schema.ts';
import type { Logger } from '../../src/logging/logger.ts';
import type { HttpAccess } from '../dicomweb/stow-transport.ts';
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
    const { name, retrieve, callingAeTitle = dicom.aeTitle, moveTo = dicom.aeTitle } = settings;
    const { host, port, aeTitle, timeoutSeconds, tls } = settings;
    const node = { host, port, aeTitle, callingAeTitle, timeoutSeconds, tls };
    return dimseArchive({ name, node, retrieve, moveTo }, logger);
  });
}
