import type { ArchivedObject } from '../../../core/files/archived-objects.ts';

/**
 * Studies and their descriptions, from the configured archives and EHRs. An address supplied by a
 * client is only compared with their addresses and never contacted.
 */
export interface StudySource {
  /** The archive for studies that do not specify one. */
  usualArchive: string;
  /** Returns the archive with this DICOMweb address; null if no permitted archive has it. */
  archiveAt(address: string): string | null;
  /**
   * Lists the objects of a study; empty if the archive does not have the study.
   * @throws SonogateError `overloaded` when the archive cannot answer.
   */
  objects(archive: string, studyInstanceUid: string): Promise<Omit<ArchivedObject, 'archive'>[]>;
  /**
   * Reads a resource from a configured EHR by its reference: `Type/id`, or with the EHR's address.
   * @returns null if no EHR has it.
   * @throws SonogateError `overloaded` when the EHR cannot answer.
   */
  read(type: 'ImagingStudy' | 'Endpoint', reference: string): Promise<unknown>;
}
