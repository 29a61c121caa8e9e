import { randomBytes } from 'node:crypto';

type IdPrefix = 'req' | 'file' | 'art' | 'key' | 'whd' | 'whe' | 'acc' | 'dlv';

/** Crockford's base 32 in lower case: without i, l, o, u; sorts like the number. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 26;

/** The form of ids with this prefix, to check ids from outside. */
export function idForm(prefix: IdPrefix): RegExp {
  return new RegExp(`^${prefix}_[${ALPHABET}]{${LENGTH}}$`);
}

/**
 * Ids of the same millisecond in one process count up here, so that they sort in the order of
 * creation.
 */
let last = 0n;

/** UUIDv7 (RFC 9562 5.7) as a number: 48 bits of time, version, 12 and 62 random bits. */
function uuidV7(milliseconds: number): bigint {
  const random = BigInt(`0x${randomBytes(10).toString('hex')}`);
  const high = (BigInt(milliseconds) << 16n) | 0x7000n | (random >> 68n);
  const low = (0b10n << 62n) | (random & ((1n << 62n) - 1n));
  return (high << 64n) | low;
}

/** `req_` and 26 characters: a time-ordered id that is unique without asking the database. */
export function newId(prefix: IdPrefix, now: Date = new Date()): string {
  const next = uuidV7(now.getTime());
  // Same millisecond (or a clock set back a little): continue from the last id (RFC 9562 6.2).
  last = next > last || next >> 80n < (last >> 80n) - 1000n ? next : last + 1n;
  let rest = last;
  let text = '';
  for (let i = 0; i < LENGTH; i += 1) {
    text = ALPHABET[Number(rest & 31n)] + text;
    rest >>= 5n;
  }
  return `${prefix}_${text}`;
}
