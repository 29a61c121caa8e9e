import type { ArchivedObject } from '../../../core/files/archived-objects.ts';

/**
 * The source of studies and their descriptions: archives and EHRs in the configuration of the site.
 * An address that a client names is only compared with theirs, and never called.
 */
export interface StudySource {
  /** The archive of studies that name no archive. */
  usualArchive: string;
  /** Returns the archive with this DICOMweb address; null if the site permits no such archive. */
  archiveAt(address: string): string | null;
  /**
   * Lists the objects of a study; empty when the archive does not have it. @throws SonogateError
   * `overloaded` when the archive cannot answer.
   */
  objects(archive: string, studyInstanceUid: string): Promise<Omit<ArchivedObject, 'archive'>[]>;
  /**
   * Reads a resource of a configured EHR by its reference: `Type/id`, or with the address of the EHR.
   * @returns null when no EHR has it. @throws SonogateError `overloaded` when the EHR cannot answer.
   */
  read(type: 'ImagingStudy' | 'Endpoint', reference: string): Promise<unknown>;
}
