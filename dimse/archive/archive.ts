import type { FoundObject, FoundStudy } from '../../src/operations/operations.ts';
import type { StorageService } from '../network/service-ports.ts';

/**
 * A PACS or other archive that can be queried and retrieved from, by DIMSE or DICOMweb
 * (docs/query-retrieve.md). Every failure is a SonogateError: `peer_unreachable`,
 * `peer_rejected_association`, `presentation_context_refused`, `archive_refused_query`,
 * `move_destination_unknown`, `peer_out_of_resources`; with DIMSE also `unexpected_pdu` and
 * `invalid_config`, with DICOMweb also `peer_unauthorized` and `peer_unavailable`.
 */
export interface Archive {
  name: string;
  studies(keys: StudyKeys, options: AskOptions & { limit: number }): Promise<FoundStudy[]>;
  /** Lists every object of a study; empty if the archive does not have the study. */
  objects(studyInstanceUid: string, options?: AskOptions): Promise<FoundObject[]>;
  /**
   * Retrieves objects of a study. Resolves when the archive has sent its final response; the
   * database records which objects have arrived.
   */
  retrieve(wanted: Wanted, options?: AskOptions): Promise<Retrieved>;
}

export interface AskOptions {
  signal?: AbortSignal;
}

/** Matching keys of a query at STUDY level (PS3.4 C.6.2.1.2); an absent key matches every study. */
export interface StudyKeys {
  patientId?: string;
  issuerOfPatientId?: string;
  studyInstanceUid?: string;
  accessionNumber?: string;
  /** A date (DA) or a range of dates: `20260101-20261231`, `-20261231`. */
  studyDate?: string;
  modality?: string;
}

export interface Wanted {
  studyInstanceUid: string;
  /** The objects to retrieve. `whole` is true if these are all the study's objects. */
  objects: readonly FoundObject[];
  whole: boolean;
  /**
   * The source under which the objects are recorded: a configured source, or the name of the
   * archive.
   */
  source: string;
  into: StorageService;
}

/** The result of a retrieval as reported by the archive (PS3.4 C.4.2.1.6 to C.4.2.1.9). */
export interface Retrieved {
  completed: number;
  failed: number;
  /** The archive's refusal, or the error comment in its response; '' if there was none. */
  detail: string;
}
