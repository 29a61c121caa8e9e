/**
 * Seconds to wait before the attempt after `attempt` (1 was the first): full jitter, that is any
 * time up to min(cap, base * 2^(attempt - 1)), so that deliveries that failed together do not come
 * back together (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
 * `random` is uniform in [0, 1).
 */
export function backoffSeconds(
  attempt: number,
  { baseSeconds, capSeconds }: { baseSeconds: number; capSeconds: number },
  random: number,
): number {
  return random * Math.min(capSeconds, baseSeconds * 2 ** (attempt - 1));
}
