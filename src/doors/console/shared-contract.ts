/** Paged lists and patient identity in the console's API; see contract.ts. Types only. */

export interface Page<Row> {
  rows: Row[];
  /** `cursor` of the next page; null at the end. */
  nextCursor: string | null;
}

export interface CursorQuery {
  cursor?: string;
  /** Number of rows per page, 1 to 200; the default is 50. */
  limit?: number;
}

/**
 * The identity in the images; '' for attributes without a value. Dates are DICOM DA (YYYYMMDD).
 */
export interface Identity {
  /** Readable name: groups and components of the DICOM PN joined by blanks, family name first. */
  name: string;
  patientId: string;
  birthDate: string;
  accessionNumber: string;
  studyInstanceUid: string;
  studyDate: string;
  studyDescription: string;
}

/**
 * The part of a patient's identity that the role may see. `pseudonym` (`K7QX-42MR`) is the same for
 * all of a patient's studies and reveals nothing else.
 */
export type Subject =
  | { shown: 'hidden'; pseudonym: string }
  | { shown: 'initials'; pseudonym: string; initials: string }
  | ({ shown: 'identity'; pseudonym: string; initials: string } & Identity);
