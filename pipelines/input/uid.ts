const LONGEST = 64;

/**
 * A UID as results, reports and FHIR may carry it: digits and dots, 64 at most (PS3.5 9.1); null for
 * anything else. Components with a leading zero, which are wrong, are common and do no harm.
 */
export function asUid(text: string): string | null {
  return text.length <= LONGEST && /^\d+(?:\.\d+)*$/.test(text) ? text : null;
}
