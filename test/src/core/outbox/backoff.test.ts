import { describe, expect, it } from 'vitest';
import { backoffSeconds } from '../../../../src/core/outbox/outbox.ts';

const schedule = { baseSeconds: 2, capSeconds: 900 };

describe('backoff with full jitter', () => {
  it.each([
    [1, 2],
    [2, 4],
    [5, 32],
    [9, 512],
    [10, 900],
    [1000, 900],
  ])('after attempt %i waits for less than %i seconds', (attempt, limit) => {
    expect(backoffSeconds(attempt, schedule, 0)).toBe(0);
    expect(backoffSeconds(attempt, schedule, 0.5)).toBe(limit / 2);
    expect(backoffSeconds(attempt, schedule, 1 - Number.EPSILON)).toBeLessThan(limit);
  });
});
