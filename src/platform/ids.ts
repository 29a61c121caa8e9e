import { randomUUID } from 'node:crypto';

type IdPrefix = 'req' | 'file' | 'art' | 'key' | 'whd' | 'whe' | 'acc' | 'dlv' | 'sub';

/** Crockford's base 32 in lower case, without i, l, o and u. The strings sort like the numbers. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 26;

/** Returns the pattern of ids with this prefix, for checking ids that come from outside. */
export function idForm(prefix: IdPrefix): RegExp {
  return new RegExp(`^${prefix}_[${ALPHABET}]{${LENGTH}}$`);
}

/**
 * The last id. Further ids in the same millisecond count up from it, so that ids sort in the order
 * of creation.
 */
let last = 0n;

/** Returns a UUIDv7 (RFC 9562 5.7) as a number: 48 bits of time, version, 12 and 62 random bits. */
function uuidV7(milliseconds: number): bigint {
  // The first 8 and the last 12 digits of a version 4 UUID are random. Using them is faster than
  // calling `randomBytes` for each id, because Node.js generates the bits of many UUIDs at once.
  const uuid = randomUUID();
  const random = BigInt(`0x${uuid.slice(0, 8)}${uuid.slice(-12)}`);
  const high = (BigInt(milliseconds) << 16n) | 0x7000n | (random >> 68n);
  const low = (0b10n << 62n) | (random & ((1n << 62n) - 1n));
  return (high << 64n) | low;
}

/**
 * Returns the next UUIDv7. It is greater than all previous ones in this process, unless the clock
 * was set back by more than a second.
 */
function nextUuid(now: Date): bigint {
  const next = uuidV7(now.getTime());
  // In the same millisecond, or if the clock was set back a little, continue from the last id (RFC
  // 9562 6.2).
  last = next > last || next >> 80n < (last >> 80n) - 1000n ? next : last + 1n;
  return last;
}

/**
 * Returns a time-ordered UUID, for large tables and many files. Rows that arrive together then have
 * neighbouring index entries, whereas random UUIDs would each touch a different page.
 */
export function newUuid(now: Date = new Date()): string {
  const digits = nextUuid(now).toString(16).padStart(32, '0');
  return digits.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
}

/**
 * Returns an id consisting of a prefix such as `req_` and 26 characters: time-ordered, and unique
 * without asking the database.
 */
export function newId(prefix: IdPrefix, now: Date = new Date()): string {
  return idOf(prefix, nextUuid(now));
}

/** Returns the lowest id for this time: ids created at this time or later sort after it. */
export function firstId(prefix: IdPrefix, since: Date): string {
  return idOf(prefix, BigInt(Math.max(0, since.getTime())) << 80n);
}

export function idOf(prefix: IdPrefix, uuid: bigint): string {
  let rest = uuid;
  let text = '';
  for (let i = 0; i < LENGTH; i += 1) {
    text = ALPHABET[Number(rest & 31n)] + text;
    rest >>= 5n;
  }
  return `${prefix}_${text}`;
}

export function uuidOf(id: string): bigint {
  const digits = id.slice(-LENGTH);
  return [...digits].reduce((sum, digit) => (sum << 5n) | BigInt(ALPHABET.indexOf(digit)), 0n);
}
