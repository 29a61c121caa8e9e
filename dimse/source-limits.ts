import type { Source } from '../config/schema.ts';
import type { ErrorCode } from '../src/errors/catalogue.ts';

const MINUTE_MILLISECONDS = 60_000;

/** What is left of a minute's allowance, which refills evenly; below zero after a large object. */
interface Bucket {
  left: number;
  at: number;
}

/** Keeps one machine from taking the gateway from the others; counted by this process. */
export interface SourceLimits {
  /** Counts an association until the function is called, or says why it is refused for now. */
  associate(source: Source): (() => void) | { refused: ErrorCode };
  /** Whether another object may come now; counts it. */
  takeObject(source: Source): boolean;
  countBytes(source: Source, bytes: number): void;
}

/** @param now milliseconds of any steady clock. */
export function createSourceLimits(now: () => number = () => performance.now()): SourceLimits {
  const open = new Map<string, number>();
  const buckets = new Map<string, Bucket>();

  /** The bucket of a source as it is now; null without a limit. */
  const bucketOf = (
    { name, limits }: Source,
    kind: 'objectsPerMinute' | 'bytesPerMinute',
  ): Bucket | null => {
    const quota = limits?.[kind];
    if (quota === undefined) return null;
    const key = `${kind} ${name}`;
    const at = now();
    const before = buckets.get(key) ?? { left: quota, at };
    const refilled = before.left + ((at - before.at) / MINUTE_MILLISECONDS) * quota;
    const bucket = { left: Math.min(quota, refilled), at };
    buckets.set(key, bucket);
    return bucket;
  };
  const hasRoom = (source: Source): boolean =>
    (bucketOf(source, 'objectsPerMinute')?.left ?? 1) >= 1 &&
    (bucketOf(source, 'bytesPerMinute')?.left ?? 1) > 0;

  return {
    associate(source) {
      const { name, limits } = source;
      const count = open.get(name) ?? 0;
      if (limits?.associations !== undefined && count >= limits.associations) {
        return { refused: 'too_many_associations' };
      }
      if (!hasRoom(source)) return { refused: 'source_congested' };
      open.set(name, count + 1);
      return () => open.set(name, (open.get(name) ?? 1) - 1);
    },
    takeObject(source) {
      if (!hasRoom(source)) return false;
      const objects = bucketOf(source, 'objectsPerMinute');
      if (objects) objects.left -= 1;
      return true;
    },
    countBytes(source, bytes) {
      const bucket = bucketOf(source, 'bytesPerMinute');
      if (bucket) bucket.left -= bytes;
    },
  };
}
