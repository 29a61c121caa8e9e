import type { Config } from '../../config/schema.ts';
import { SonogateError } from '../errors/catalogue.ts';

const WINDOW_SECONDS = 60;

/** Full buckets are forgotten after this many keys, so that memory stays bounded. */
const KEPT_BUCKETS = 10_000;

/** What is left of the calls of a key. */
export interface Allowance {
  allowed: boolean;
  /** Whole calls that may follow at once. */
  remaining: number;
  /** Seconds until the full number may come at once again. */
  resetSeconds: number;
  /** Seconds until the next call may come; 0 when it may now. */
  retrySeconds: number;
  quota: number;
}

/**
 * Limits per key, kept in the memory of this process: two processes allow twice as much, and a
 * restart forgets what was used.
 */
export interface CallLimits {
  /** Counts a call, when it is allowed. */
  take(keyId: string): Allowance;
  /**
   * Counts an open stream until the function that it returns is called.
   * @throws SonogateError `rate_limited`
   */
  openStream(keyId: string): () => void;
}

/** A token bucket per key: a minute's calls may come at once, and refill evenly. */
export function createCallLimits(
  {
    callsPerMinute,
    openStreamsPerKey,
  }: Pick<Config['http'], 'callsPerMinute' | 'openStreamsPerKey'>,
  now: () => number = () => performance.now() / 1000,
): CallLimits {
  const perSecond = callsPerMinute / WINDOW_SECONDS;
  const buckets = new Map<string, { calls: number; at: number }>();
  const streams = new Map<string, number>();

  const forgetFull = (at: number) => {
    for (const [key, bucket] of buckets) {
      if (bucket.calls + (at - bucket.at) * perSecond >= callsPerMinute) buckets.delete(key);
    }
  };

  return {
    take(keyId) {
      const at = now();
      const bucket = buckets.get(keyId) ?? { calls: callsPerMinute, at };
      const there = Math.min(callsPerMinute, bucket.calls + (at - bucket.at) * perSecond);
      const allowed = there >= 1;
      const calls = allowed ? there - 1 : there;
      if (buckets.size >= KEPT_BUCKETS) forgetFull(at);
      buckets.set(keyId, { calls, at });
      return {
        allowed,
        remaining: Math.floor(calls),
        resetSeconds: Math.ceil((callsPerMinute - calls) / perSecond),
        retrySeconds: calls >= 1 ? 0 : Math.ceil((1 - calls) / perSecond),
        quota: callsPerMinute,
      };
    },

    openStream(keyId) {
      const open = streams.get(keyId) ?? 0;
      if (open >= openStreamsPerKey) {
        throw new SonogateError(
          'rate_limited',
          `A key may hold ${openStreamsPerKey} streams open.`,
        );
      }
      streams.set(keyId, open + 1);
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        const left = (streams.get(keyId) ?? 1) - 1;
        if (left > 0) streams.set(keyId, left);
        else streams.delete(keyId);
      };
    },
  };
}

/** Header fields of draft-ietf-httpapi-ratelimit-headers-10. */
export function rateLimitHeaders({ quota, remaining, resetSeconds }: Allowance) {
  return {
    'RateLimit-Policy': `"calls";q=${quota};w=${WINDOW_SECONDS}`,
    RateLimit: `"calls";r=${remaining};t=${resetSeconds}`,
  };
}
