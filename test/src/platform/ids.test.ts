import { describe, expect, it } from 'vitest';
import { firstId, newId, newUuid } from '../../../src/platform/ids.ts';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

function number(id: string): bigint {
  return [...id.slice(id.indexOf('_') + 1)].reduce(
    (sum, letter) => sum * 32n + BigInt(ALPHABET.indexOf(letter)),
    0n,
  );
}

describe('ids', () => {
  it('are a prefix and 26 characters of Crockford base 32 in lower case', () => {
    expect(newId('req')).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/);
  });

  it('contain a UUIDv7: milliseconds since 1970, version 7, variant 10 (RFC 9562 5.7)', () => {
    const at = new Date('2026-11-20T12:00:00.123Z');
    const value = number(newId('req', at));
    expect(value >> 80n).toBe(BigInt(at.getTime()));
    expect((value >> 76n) & 0xfn).toBe(7n);
    expect((value >> 62n) & 0b11n).toBe(0b10n);
  });

  it('sort in the order of creation, even within a millisecond', () => {
    const at = new Date();
    const ids = Array.from({ length: 2000 }, () => newId('req', at));
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('continue from the last one if the clock is set back a little', () => {
    const at = new Date('2027-01-01T00:00:00.500Z');
    const first = newId('req', at);
    expect(newId('req', new Date(at.getTime() - 200)) > first).toBe(true);
  });

  it('from a given time on begin at the first id of that time', () => {
    const at = new Date('2028-01-01T00:00:00.500Z');
    const id = newId('req', at);
    expect(firstId('req', at) <= id).toBe(true);
    expect(firstId('req', new Date(at.getTime() + 1)) > id).toBe(true);
  });

  it('of rows and files are UUIDs of version 7 that sort in the order of creation', () => {
    const uuids = Array.from({ length: 200 }, () => newUuid());
    expect(uuids[0]).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect([...uuids].sort()).toEqual(uuids);
  });
});
