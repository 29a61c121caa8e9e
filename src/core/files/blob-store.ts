import type { Readable } from 'node:stream';
import { MS_PER_DAY } from '../../platform/time.ts';

/** Bytes touched within this time may belong to an upload that still runs. */
export const IN_USE_MS = 3_600_000;

/** An upload that is not completed within this time has ended (exchange 5.9). */
export const UPLOAD_LIFE_MS = MS_PER_DAY;

/** The bytes were more than were announced; nothing was kept. */
export class TooManyBytesError extends Error {
  override name = 'TooManyBytesError';
}

/** Of an upload other than so many bytes were PUT; they are gone. */
export class WrongSizeError extends Error {
  override name = 'WrongSizeError';
  readonly found: number;

  constructor(found: number) {
    super(`${found} bytes`);
    this.found = found;
  }
}

/** A part is not there, or has another ETag than the one it was named with. */
export class PartDiffersError extends Error {
  override name = 'PartDiffersError';
}

/** There are no bytes of this digest, or no longer any. */
export class BlobMissingError extends Error {
  override name = 'BlobMissingError';
}

/** Bytes as the store knows them. */
export interface StoredBlob {
  /** Of the content, in lower-case hexadecimal digits. */
  sha256: string;
  bytes: number;
}

/** Files by the SHA-256 of their content: written once, never changed, the same bytes only once. */
export interface BlobStore {
  /**
   * Takes in a stream whole or not at all: what broke off leaves nothing behind, and what is
   * reported is durable.
   * @throws TooManyBytesError as soon as `limit` is passed.
   */
  write(source: Readable, limit: number): Promise<StoredBlob>;
  /** @throws BlobMissingError */
  read(sha256: string): Promise<Readable>;
  /**
   * Puts the bytes at `path`, which must not exist, as a link where that is possible: they are not
   * to be changed there.
   * @throws BlobMissingError
   */
  place(sha256: string, path: string): Promise<void>;
  /** Removes bytes that nothing refers to; those written within the last hour stay. */
  remove(sha256: string, now: Date): Promise<void>;
  /** Removes what a process that was killed left half-written, and uploads never taken in. */
  removeAbandoned(now: Date): Promise<void>;
  /** Free bytes; `Infinity` when the store does not say. */
  free(): Promise<number>;
  /** Lets go of connections. */
  close(): void;
  /** Null when only the gateway reaches the bytes: its own signed addresses lead to them then. */
  direct: DirectAccess | null;
}

/**
 * A store that every machine of a site reaches, and clients by themselves through signed addresses
 * (AWS Signature Version 4).
 */
export interface DirectAccess {
  has(sha256: string): Promise<boolean>;
  /** Takes in a file of this machine whose digest is known; it is durable there afterwards. */
  takeFile(path: string, stored: StoredBlob, signal: AbortSignal): Promise<void>;
  /** Lets its bearer download the bytes as `name` for so many seconds; null when there are none. */
  downloadUrl(
    sha256: string,
    as: { name: string; mediaType: string },
    seconds: number,
  ): Promise<string | null>;
  /** Lets its bearer PUT so many bytes as the upload `id` for so many seconds. */
  uploadUrl(id: string, as: { bytes: number; mediaType: string }, seconds: number): Promise<string>;
  /**
   * Takes in what was PUT as the upload `id`, or null when nothing was; afterwards the upload is
   * gone from where it was PUT.
   * @throws WrongSizeError unless it has exactly so many bytes.
   */
  takeIn(id: string, bytes: number): Promise<StoredBlob | null>;
  multipart: MultipartAccess;
}

/**
 * Multipart uploads of S3: parts of 5 MiB or more but for the last, 10,000 at most. What was joined
 * is taken in by `takeIn`.
 */
export interface MultipartAccess {
  /** Begins an upload in parts as the upload `id`; returns the name that the storage gave it. */
  begin(id: string): Promise<string>;
  /** Lets its bearer PUT one part for so many seconds. */
  partUrl(
    id: string,
    uploadId: string,
    part: { partNumber: number; bytes: number },
    seconds: number,
  ): Promise<string>;
  /** The parts that the storage holds. */
  arrived(id: string, uploadId: string): Promise<{ partNumber: number; etag: string }[]>;
  /** Puts the parts together. @throws PartDiffersError */
  join(
    id: string,
    uploadId: string,
    parts: readonly { partNumber: number; etag: string }[],
  ): Promise<void>;
  /** Drops the parts; that the upload has already ended is no error. */
  abort(id: string, uploadId: string): Promise<void>;
}
