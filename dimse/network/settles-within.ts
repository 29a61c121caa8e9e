import { setTimeout as delay } from 'node:timers/promises';

/** @returns whether the promise is fulfilled or rejected within `milliseconds`. */
export function settlesWithin(milliseconds: number, promise: Promise<unknown>): Promise<boolean> {
  const waiting = new AbortController();
  const late = delay(milliseconds, false, { signal: waiting.signal }).catch(() => true);
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, late]).finally(() => waiting.abort());
}
