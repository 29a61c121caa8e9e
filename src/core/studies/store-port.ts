import type { Readable } from 'node:stream';

/** A store transaction (PS3.18 10.5) as it comes. */
export interface StoreTransaction {
  /** `X-Request-Id` of the call. */
  id: string;
  /** Name of the API key. */
  keyName: string;
  address: string;
  /** Study Instance UID of the path; null where it names none. */
  study: string | null;
  contentType: string;
  body: Readable;
}

export interface StoredInstance {
  sopClassUid: string;
  sopInstanceUid: string;
}

/** What became of each object. */
export interface StoreOutcome {
  stored: StoredInstance[];
  /** `reason`: Failure Reason (0008,1197); `transient`: worth sending again. */
  failed: (StoredInstance & { reason: number; transient: boolean })[];
  /** Failure reasons of parts in which no object could be read. */
  unreadable: number[];
}

/**
 * Stores the objects of a transaction as C-STORE does; each is safe before the outcome says so.
 * @throws SonogateError `forbidden`, `unsupported_media_type`, `invalid_multipart`, `overloaded`.
 */
export type StoreInstances = (transaction: StoreTransaction) => Promise<StoreOutcome>;
