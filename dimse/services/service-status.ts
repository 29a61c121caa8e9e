/** Of C-STORE (PS3.7 C.5.8) and of Failure Reason (PS3.3 C.14.1.1): a failure without one of its own. */
export const PROCESSING_FAILURE = 0x0110;

/** Statuses of normalized services that are no error of ours, so not in the catalogue (PS3.7 C.4, C.5). */
export const SERVICE_STATUS = {
  success: 0x0000,
  invalidAttributeValue: 0x0106,
  /** PS3.4 F.7.2.2.3: the step is in a final state. */
  mayNoLongerBeUpdated: 0x0110,
  duplicateSopInstance: 0x0111,
  noSuchSopInstance: 0x0112,
  noSuchEventType: 0x0113,
  noSuchSopClass: 0x0118,
  classInstanceConflict: 0x0119,
  missingAttributeValue: 0x0121,
  noSuchAction: 0x0123,
} as const;
