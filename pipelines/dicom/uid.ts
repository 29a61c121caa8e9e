import { createHash } from 'node:crypto';

/** Maximum number of characters of a UID (PS3.5 9.1). */
const LONGEST_UID = 64;

/**
 * Returns true if a text is a UID, judged as it was received: numbers separated by dots, at most 64
 * characters. Leading zeros, which PS3.5 9.1 forbids, are accepted, because they are common and do
 * no harm.
 */
export function isUid(text: string): boolean {
  return text.length <= LONGEST_UID && /^\d+(?:\.\d+)*$/.test(text);
}

/** Returns a UID that results, reports and FHIR may carry; null for anything else. */
export function uidOrNull(text: string): string | null {
  return isUid(text) ? text : null;
}

/**
 * Namespace of every UID that the gateway derives. It must never change, because a repeated send
 * must not differ.
 */
const NAMESPACE = Buffer.from('6d0f7b1a5c0e4e6b9c53a1f2d47e8b90', 'hex');

/**
 * Returns a UID below 2.25 from a UUID version 5 (RFC 9562 5.5, PS3.5 B.2). The same parts give the
 * same UID, so an object that is sent again is the same object.
 */
export function derivedUid(...parts: readonly string[]): string {
  const digest = createHash('sha1').update(NAMESPACE).update(JSON.stringify(parts)).digest();
  const bytes = digest.subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return `2.25.${BigInt(`0x${bytes.toString('hex')}`)}`;
}
