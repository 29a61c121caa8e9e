import type { X509Certificate } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import type { QueryCaller, Source } from '../../config/schema.ts';
import { isAddressIn } from '../../src/platform/addresses.ts';
import { type ErrorCode, SonogateError } from '../../src/platform/errors/catalogue.ts';
import { isBoundTo } from '../../src/platform/tls/certificates.ts';
import type { Admitted, AssociationPeer } from '../network/service-ports.ts';

const MINUTE_MILLISECONDS = 60_000;

/**
 * The number of objects or bytes that a source may still send. It refills at a steady rate, and is
 * negative after a large object.
 */
interface Bucket {
  left: number;
  at: number;
}

/**
 * Limits for each source, so that no source can occupy the whole gateway. Each process keeps its
 * own counts.
 */
export interface SourceLimits {
  /**
   * Counts an association until the returned function is called. Returns the error code instead if
   * the association is refused.
   */
  associate(source: Source): (() => void) | { refused: ErrorCode };
  /**
   * Counts an object.
   * @returns true if the object is accepted.
   */
  admitObject(source: Source): boolean;
  countBytes(source: Source, bytes: number): void;
}

/**
 * Creates the limits.
 * @param now milliseconds from any monotonic clock.
 */
export function createSourceLimits(now: () => number = () => performance.now()): SourceLimits {
  const open = new Map<string, number>();
  const buckets = new Map<string, Bucket>();

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
    admitObject(source) {
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

interface Caller {
  aeTitle: string;
  address: string;
  /**
   * The certificate for which the caller proved, in the TLS handshake, that it has the private key;
   * null without TLS or without a certificate.
   */
  certificate: X509Certificate | null;
}

/**
 * Finds the first source that lists the calling AE title (or `*`) and contains the caller's
 * address. If the source requires a certificate, the caller must have presented that certificate.
 * If some source binds the title to a certificate, the title belongs to one peer only, so sources
 * for any title (`*`) do not admit it.
 * @returns a catalogue code if no source matches.
 */
export function findSource<
  Entry extends Pick<Source, 'addresses' | 'certificate' | 'callingAeTitles'>,
>(
  sources: readonly Entry[],
  { aeTitle, address, certificate }: Caller,
): Entry | { refused: ErrorCode } {
  const naming = sources.filter(({ callingAeTitles }) => callingAeTitles.includes(aeTitle));
  const isBound = naming.some((source) => source.certificate !== undefined);
  const any = sources.filter(
    (source) => naming.includes(source) || source.callingAeTitles.includes('*'),
  );
  const here = (isBound ? naming : any).filter(({ addresses }) => isAddressIn(addresses, address));
  if (here.length === 0) return { refused: 'calling_ae_not_recognized' };
  const proven = here.find(
    ({ certificate: binding }) =>
      binding === undefined || (certificate !== null && isBoundTo(binding, certificate)),
  );
  return proven ?? { refused: 'certificate_not_of_calling_ae' };
}

/** Seconds for which a peer that only queries may be silent. */
const QUERY_IDLE_SECONDS = 300;

/**
 * Admits a caller as one of the sources, within that source's limits, or as a peer that may query.
 * A caller that is a source may query only if `callers` lists it as well.
 */
export function admitCaller(
  sources: readonly Source[],
  limits: SourceLimits,
  { callingAeTitle, address, certificate = null }: AssociationPeer,
  callers: readonly QueryCaller[] = [],
): Admitted | { refused: ErrorCode } {
  const caller = { aeTitle: callingAeTitle, address, certificate };
  const source = findSource(sources, caller);
  const mayQuery = !('refused' in findSource(callers, caller));
  if ('refused' in source) {
    // A caller that matches no source may still query. A caller refused because of its certificate
    // may not even query, because it uses the title of a source without proof.
    const isNobody = source.refused === 'calling_ae_not_recognized';
    return isNobody && mayQuery ? { idleTimeoutSeconds: QUERY_IDLE_SECONDS, mayQuery } : source;
  }
  const ended = limits.associate(source);
  if (typeof ended !== 'function') return ended;
  const { idleTimeoutSeconds, name } = source;
  return { idleTimeoutSeconds, source: name, mayQuery, ended };
}

/** Milliseconds between checks of the free disk space. */
const LOOK_MS = 250;

/**
 * Monitors the free space of the data folder.
 * @returns a function that throws SonogateError `overloaded` (A700H) while fewer than
 * `minFreeBytes` are free.
 */
export function watchFreeSpace(dataDir: string, minFreeBytes: number): () => Promise<void> {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let free: Promise<number> = Promise.resolve(0);
  const look = async () => {
    const { bavail, bsize } = await statfs(dataDir);
    return bavail * bsize;
  };
  return async () => {
    if (performance.now() - lookedAt >= LOOK_MS) {
      lookedAt = performance.now();
      free = look();
    }
    if ((await free) >= minFreeBytes) return;
    throw new SonogateError('overloaded', 'The disk has less free space than dicom.minFreeBytes.');
  };
}
