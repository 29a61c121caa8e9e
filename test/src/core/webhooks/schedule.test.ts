import { describe, expect, it } from 'vitest';
import { retryWait } from '../../../../src/core/webhooks/endpoints.ts';

describe('the retry schedule of Standard Webhooks', () => {
  it.each([
    [1, 5],
    [2, 300],
    [3, 1800],
    [4, 7200],
    [5, 18_000],
    [6, 36_000],
    [7, 50_400],
    [8, 72_000],
    [9, 86_400],
  ])('waits after attempt %i for %i s, give or take a tenth', (tries, seconds) => {
    expect(retryWait(tries, 0)).toBeCloseTo(0.9 * seconds);
    expect(retryWait(tries, 0.5)).toBe(seconds);
    expect(retryWait(tries, 1)).toBeCloseTo(1.1 * seconds);
  });

  it('ends with the tenth attempt', () => {
    expect(retryWait(10, 0.5)).toBeNull();
  });
});
