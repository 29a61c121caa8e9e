import type { Job } from '../contract/job.ts';

type Open<T> = (settings: Job['models']) => Promise<T>;

/**
 * Returns a function that opens the models for each combination of settings only once. If opening
 * fails, the caller receives the error, and the next call tries again.
 */
export function openOnce<T>(open: Open<T>): Open<T> {
  const kept = new Map<string, Promise<T>>();
  return (settings) => {
    const key = JSON.stringify(settings);
    const opened = kept.get(key) ?? open(settings);
    kept.set(key, opened);
    opened.catch(() => kept.delete(key));
    return opened;
  };
}
