import { createHash } from 'node:crypto';

/**
 * PS3.5 9.1: digits and dots, at most 64. It becomes part of log lines, rows and file names.
 * Components with a leading zero, which are wrong, are common and do no harm.
 */
export function isUid(text: string): boolean {
  return /^\d[\d.]{0,63}$/.test(text);
}

const LONGEST = 64;

/**
 * A UID as results, reports and FHIR may carry it: digits and dots, 64 at most (PS3.5 9.1); null for
 * anything else. Components with a leading zero, which are wrong, are common and do no harm.
 */
export function uidOrNull(text: string): string | null {
  return text.length <= LONGEST && /^\d+(?:\.\d+)*$/.test(text) ? text : null;
}

/** Namespace of every UID the gateway derives; never change it (a retried send must not differ). */
const NAMESPACE = Buffer.from('6d0f7b1a5c0e4e6b9c53a1f2d47e8b90', 'hex');

/**
 * A UID below 2.25 from a UUID version 5 (RFC 9562 5.5, PS3.5 B.2): the same parts give the same
 * UID, so that an object sent again is the same object.
 */
export function derivedUid(...parts: readonly string[]): string {
  const digest = createHash('sha1').update(NAMESPACE).update(JSON.stringify(parts)).digest();
  const bytes = digest.subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return `2.25.${BigInt(`0x${bytes.toString('hex')}`)}`;
}

/** Who we are on the wire and in file meta information (PS3.7 D.3.3.2, PS3.10 7.1). Fixed for good. */
export const IMPLEMENTATION_CLASS_UID = '2.25.169341957018733126024411829457170226503';
export const IMPLEMENTATION_VERSION = 'SONOGATE_1';
