import { describe, expect, it } from 'vitest';
import { retryAfterSeconds } from '../../../../src/platform/outbound/retry-after.ts';

const LONGEST = 3600;

describe('Retry-After', () => {
  const now = new Date('2026-03-04T10:00:00.600Z');
  it.each<[string | string[] | null | undefined, number | undefined]>([
    ['3', 3],
    [' 3 ', 3],
    ['0', 0],
    ['3599', 3599],
    ['3600', 3600],
    ['3601', 3600],
    ['9'.repeat(400), 3600],
    ['Wed, 04 Mar 2026 10:00:30 GMT', 30],
    ['Wed, 04 Mar 2026 09:59:00 GMT', 0],
    ['Wed, 04 Mar 2099 10:00:00 GMT', 3600],
    ['soon', undefined],
    ['', undefined],
    [['1', '2'], undefined],
    [null, undefined],
    [undefined, undefined],
  ])('%s asks for %s seconds', (header, seconds) => {
    expect(retryAfterSeconds(header, LONGEST, now)).toBe(seconds);
  });
});
