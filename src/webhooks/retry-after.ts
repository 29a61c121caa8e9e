/** No endpoint holds its deliveries for longer than the longest wait of the schedule. */
const LONGEST_SECONDS = 24 * 3600;

/**
 * Seconds that a `Retry-After` header asks for (RFC 9110 10.2.3: seconds, or a date), at most a
 * day; null when there is none that can be read.
 */
export function retryAfterSeconds(header: string | string[] | undefined, now: Date): number | null {
  if (typeof header !== 'string') return null;
  const text = header.trim();
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now.getTime()) / 1000;
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), LONGEST_SECONDS);
}
