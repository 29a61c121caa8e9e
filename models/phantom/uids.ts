import { createHash } from 'node:crypto';

/**
 * A UID of the form 2.25.<UUID> (PS3.5 B.2) that is the same for the same name: the UUID is made
 * of the SHA-256 of the name with the version (8, RFC 9562) and variant bits set.
 */
export function derivedUid(name: string): string {
  const digest = createHash('sha256').update(name).digest();
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x80;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  return `2.25.${BigInt(`0x${digest.toString('hex', 0, 16)}`)}`;
}
