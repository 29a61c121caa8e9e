/**
 * Characters of `clinical_context.indication`: more than any referral says, and few enough that a text
 * made to be slow to search for identifiers is judged in milliseconds (src/requests/identifiers.ts).
 */
export const LONGEST_INDICATION = 2000;
