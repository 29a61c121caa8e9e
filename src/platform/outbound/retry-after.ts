const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * Returns true for an HTTP status after which a later attempt may succeed: the server is
 * overloaded, unreachable behind its proxy, or has failed (RFC 9110 15, RFC 6585 4, RFC 8470 5.2).
 */
export function isTemporaryStatus(status: number): boolean {
  return TEMPORARY.has(status);
}

/**
 * Returns the whole seconds, at most `longest`, that a peer asks us to wait in its `Retry-After`
 * header: a number of seconds or a date (RFC 9110 10.2.3). Undefined if the header is missing, is
 * sent twice or cannot be parsed.
 */
export function retryAfterSeconds(
  header: string | readonly string[] | null | undefined,
  longest: number,
  now: Date = new Date(),
): number | undefined {
  const text = typeof header === 'string' ? header.trim() : '';
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now.getTime()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(Math.ceil(seconds), 0), longest);
}
