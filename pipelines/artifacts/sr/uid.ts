import { createHash } from 'node:crypto';

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
