import { LONGEST_WAIT_SECONDS } from './schedule.ts';

/**
 * Seconds that a `Retry-After` header asks for (RFC 9110 10.2.3: seconds, or a date), at most the
 * longest wait of our own schedule: no endpoint holds its deliveries for longer. Null when there is
 * none that can be read.
 */
export function retryAfterSeconds(header: string | string[] | undefined, now: Date): number | null {
  if (typeof header !== 'string') return null;
  const text = header.trim();
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now.getTime()) / 1000;
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), LONGEST_WAIT_SECONDS);
}
