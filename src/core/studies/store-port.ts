import type { Readable } from 'node:stream';

/** A store transaction (PS3.18 10.5) as received. */
export interface StoreTransaction {
  /** `X-Request-Id` of the HTTP request. */
  id: string;
  /** Name of the API key; null for an upload in the console. */
  keyName: string | null;
  address: string;
  /** Study Instance UID in the path of the HTTP request; null if the path has none. */
  study: string | null;
  contentType: string;
  body: Readable;
}

export interface StoredInstance {
  sopClassUid: string;
  sopInstanceUid: string;
}

export interface StoreOutcome {
  /** `within` is null if the first bytes of the object do not hold both UIDs. */
  stored: (StoredInstance & { within: { study: string; series: string } | null })[];
  /**
   * `reason` is the Failure Reason (0008,1197); `transient` is true if sending the object again may
   * succeed.
   */
  failed: (StoredInstance & { reason: number; transient: boolean })[];
  /** Failure reasons of parts that contained no readable object. */
  unreadable: number[];
}

/**
 * Stores the objects of a transaction in the same way as C-STORE. Each object is durable before its
 * outcome is reported.
 * @throws SonogateError `forbidden`, `unsupported_media_type`, `invalid_multipart`, `overloaded`.
 */
export type StoreInstances = (transaction: StoreTransaction) => Promise<StoreOutcome>;
