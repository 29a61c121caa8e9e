import type { FoundObject, FoundStudy } from '../../src/operations/operations.ts';
import type { StorageService } from '../network/service-ports.ts';

/**
 * A place that keeps studies and can be asked for them, by whatever protocol (docs/query-retrieve.md).
 * Every failure is a SonogateError: `peer_unreachable`, `peer_rejected_association`,
 * `presentation_context_refused`, `archive_refused_query`, `archive_unauthorized`.
 */
export interface Archive {
  name: string;
  /** Studies that match every key that is given; at most `limit`. */
  studies(keys: StudyKeys, options: AskOptions & { limit: number }): Promise<FoundStudy[]>;
  /** Every object of a study; empty when the archive does not have the study. */
  objects(studyInstanceUid: string, options?: AskOptions): Promise<FoundObject[]>;
  /**
   * Brings objects of a study into the intake: those that are named, or all. Resolves when the
   * archive has said its last word; what has arrived is to be seen in the database.
   */
  retrieve(wanted: Wanted, options?: AskOptions): Promise<Retrieved>;
}

export interface AskOptions {
  signal?: AbortSignal;
}

/** Keys of a query at STUDY level (PS3.4 C.6.2.1.2); what is left out matches everything. */
export interface StudyKeys {
  patientId?: string;
  issuerOfPatientId?: string;
  studyInstanceUid?: string;
  accessionNumber?: string;
  /** A DA or a range of it: `20260101-20261231`, `-20261231`. */
  studyDate?: string;
  modality?: string;
}

export interface Wanted {
  studyInstanceUid: string;
  /** The objects that are wanted; `whole` when these are all of the study. */
  objects: readonly FoundObject[];
  whole: boolean;
  /** Name under which they are filed: that of a source, or of the archive. */
  source: string;
  into: StorageService;
}

/** What the archive says of a retrieval (PS3.4 C.4.2.1.6 to C.4.2.1.9). */
export interface Retrieved {
  completed: number;
  failed: number;
  /** In the archive's own words; '' when it has none. */
  detail: string;
}
