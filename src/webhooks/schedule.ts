const MINUTE = 60;
const HOUR = 3600;

/** Seconds to wait after each failed attempt: ten attempts in 75 hours (Standard Webhooks). */
const WAITS = [
  5,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

export const LONGEST_WAIT_SECONDS = Math.max(...WAITS);

const JITTER = 0.1;

/** An address without any success for this long is disabled, and no delivery is tried for longer. */
export const GIVE_UP_SECONDS = 5 * 24 * HOUR;

/**
 * Seconds until the next attempt after `tries` failed ones, give or take a tenth; null when that
 * was the last. `random` is uniform in [0, 1).
 */
export function retryWait(tries: number, random: number): number | null {
  const wait = WAITS[tries - 1];
  return wait === undefined ? null : wait * (1 + JITTER * (2 * random - 1));
}
