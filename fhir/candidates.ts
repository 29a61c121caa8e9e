/**
 * A record of the receiver that may be the one meant. It says which record, and what of it speaks
 * for and against; a person looks it up there, so that no identity of the EHR is kept here.
 */
export interface Candidate {
  /** `Patient/<id>` or `ServiceRequest/<id>`. */
  reference: string;
  agrees: readonly string[];
  differs: readonly string[];
}
