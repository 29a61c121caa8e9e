import type { Readable } from 'node:stream';
import { DAY_MS } from '../../platform/time.ts';

/** Milliseconds within which written or used bytes may belong to an upload in progress. */
export const IN_USE_MS = 3_600_000;

/** Milliseconds after which an incomplete upload has ended (exchange 5.9). */
export const UPLOAD_LIFE_MS = DAY_MS;

/** Thrown when a stream has more bytes than announced. None of them are stored. */
export class TooManyBytesError extends Error {
  override name = 'TooManyBytesError';
}

/** Thrown when an upload does not have the announced number of bytes. All of them are dropped. */
export class WrongSizeError extends Error {
  override name = 'WrongSizeError';
  readonly found: number;

  constructor(found: number) {
    super(`${found} bytes`);
    this.found = found;
  }
}

/** Thrown when a part is missing, or when its ETag differs from the ETag that the client named. */
export class PartDiffersError extends Error {
  override name = 'PartDiffersError';
}

/** Thrown when the store has no bytes with this digest. */
export class BlobMissingError extends Error {
  override name = 'BlobMissingError';
}

/** Content of the store and its digest. */
export interface StoredBlob {
  /** SHA-256 of the content, in lower-case hexadecimal digits. */
  sha256: string;
  bytes: number;
}

/** Stores files by the SHA-256 of their content: each content once, and never changed. */
export interface BlobStore {
  /**
   * Stores a stream completely or not at all. An interrupted stream leaves nothing behind; once
   * this resolves, the bytes are durable.
   * @throws TooManyBytesError as soon as `limit` is exceeded.
   */
  write(source: Readable, limit: number): Promise<StoredBlob>;
  /** @throws BlobMissingError */
  read(sha256: string): Promise<Readable>;
  /**
   * Puts the bytes at `path`, which must not exist. They must not be changed there, because `path`
   * is a link if possible.
   * @throws BlobMissingError
   */
  place(sha256: string, path: string): Promise<void>;
  /** Removes bytes to which no row refers. Bytes written within the last hour are kept. */
  remove(sha256: string, now: Date): Promise<void>;
  /** Removes partial files of killed processes, and uploads that were never accepted. */
  removeAbandoned(now: Date): Promise<void>;
  /** Returns the free space in bytes; `Infinity` when it is unknown. */
  free(): Promise<number>;
  close(): void;
  /**
   * Direct access for clients; null when only the gateway can reach the bytes. Clients then use
   * signed URLs of the gateway.
   */
  direct: DirectAccess | null;
}

/**
 * A store that every machine of a site can reach. Clients reach it through signed URLs (AWS
 * Signature Version 4).
 */
export interface DirectAccess {
  has(sha256: string): Promise<boolean>;
  /**
   * Stores a file of this machine whose digest is known. Afterwards the bytes are durable in the
   * store.
   */
  takeFile(path: string, stored: StoredBlob, signal: AbortSignal): Promise<void>;
  /**
   * Returns a URL for downloading the bytes as `name`, valid for `seconds`; null when the store
   * does not have these bytes.
   */
  downloadUrl(
    sha256: string,
    as: { name: string; mediaType: string },
    seconds: number,
  ): Promise<string | null>;
  /** Returns a URL for a PUT of `bytes` as the upload `id`, valid for `seconds`. */
  uploadUrl(id: string, as: { bytes: number; mediaType: string }, seconds: number): Promise<string>;
  /**
   * Moves the bytes that a client PUT as the upload `id` to the name of their digest. Afterwards
   * the upload no longer exists under `id`. @returns null if no bytes were PUT.
   * @throws WrongSizeError unless the upload has exactly `bytes` bytes.
   */
  takeIn(id: string, bytes: number): Promise<StoredBlob | null>;
  multipart: MultipartAccess;
}

/**
 * Multipart uploads of S3: at most 10,000 parts of 5 MiB or more, except for the last. `takeIn`
 * accepts the assembled file.
 */
export interface MultipartAccess {
  /** Begins an upload in parts as the upload `id`; returns the upload id of the storage. */
  begin(id: string): Promise<string>;
  /** Returns a URL for a PUT of one part, valid for `seconds`. */
  partUrl(
    id: string,
    uploadId: string,
    part: { partNumber: number; bytes: number },
    seconds: number,
  ): Promise<string>;
  /** Returns the parts that have arrived in the storage. */
  arrived(id: string, uploadId: string): Promise<{ partNumber: number; etag: string }[]>;
  /**
   * Assembles the parts. @throws PartDiffersError
   */
  join(
    id: string,
    uploadId: string,
    parts: readonly { partNumber: number; etag: string }[],
  ): Promise<void>;
  /** Drops the parts. An upload that has already ended is not an error. */
  abort(id: string, uploadId: string): Promise<void>;
}
