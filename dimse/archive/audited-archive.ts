import type { DicomAudit } from '../dicom-audit.ts';
import type { Archive } from './archive.ts';

/**
 * The same archive, each query for studies of a patient written down (PS3.15 A.5.3.10). What is asked
 * of one study that is here already is no query for a patient, and what comes is written down as
 * received.
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
