import { createHash } from 'node:crypto';

/** Maximum number of characters in a UID (PS3.5 9.1). */
const LONGEST_UID = 64;

/**
 * Returns true if a received text is a UID: numbers separated by dots, at most 64 characters. PS3.5
 * 9.1 forbids leading zeros, but they are common and harmless, so they are accepted.
 */
export function isUid(text: string): boolean {
  return text.length <= LONGEST_UID && /^\d+(?:\.\d+)*$/.test(text);
}

/** Returns the UID if it may be written into results, reports and FHIR; null for any other text. */
export function uidOrNull(text: string): string | null {
  return isUid(text) ? text : null;
}

/**
 * Namespace of every UID that the gateway derives. It must never change, because an object must
 * have the same UID whenever it is sent.
 */
const NAMESPACE = Buffer.from('6d0f7b1a5c0e4e6b9c53a1f2d47e8b90', 'hex');

/**
 * Returns a UID under 2.25, made from a version 5 UUID (RFC 9562 5.5, PS3.5 B.2). The same parts
 * always produce the same UID, so an object sent again is recognised as the same object.
 */
export function derivedUid(...parts: readonly string[]): string {
  return uidOfDigest(
    createHash('sha1').update(NAMESPACE).update(JSON.stringify(parts)).digest(),
    5,
  );
}

/** Returns a UID under 2.25 from 122 bits of a digest, formed as a UUID of the given version. */
export function uidOfDigest(digest: Buffer, version: 5 | 8): string {
  const bytes = digest.subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return `2.25.${BigInt(`0x${bytes.toString('hex')}`)}`;
}
