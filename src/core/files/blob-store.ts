import type { Readable } from 'node:stream';
import type { Queryable } from '../../platform/database/port.ts';
import { DAY_MS } from '../../platform/time.ts';

/** Bytes written less than this many milliseconds ago may belong to an upload in progress. */
export const IN_USE_MS = 3_600_000;

/** Milliseconds after which an incomplete upload expires (exchange 5.9). */
export const UPLOAD_LIFE_MS = DAY_MS;

/** Thrown if a stream has more bytes than its limit. None of them are stored. */
export class TooManyBytesError extends Error {
  override name = 'TooManyBytesError';
}

/** Thrown if an upload does not have the announced number of bytes. All of them are discarded. */
export class WrongSizeError extends Error {
  override name = 'WrongSizeError';
  readonly found: number;

  constructor(found: number) {
    super(`${found} bytes`);
    this.found = found;
  }
}

/**
 * Thrown if the storage cannot assemble the parts: one is missing, too small or has another ETag
 * than the one supplied by the client, or the multipart upload has ended.
 */
export class PartDiffersError extends Error {
  override name = 'PartDiffersError';
}

/** Thrown if the store has no bytes with this digest. */
export class BlobMissingError extends Error {
  override name = 'BlobMissingError';
}

export interface StoredBlob {
  /** SHA-256 of the content, in lower-case hexadecimal digits. */
  sha256: string;
  bytes: number;
}

/**
 * Stores files by the SHA-256 of their content. Identical content is stored once, and stored
 * content never changes.
 */
export interface BlobStore {
  /**
   * Stores a stream completely or not at all. An interrupted stream leaves nothing behind. The
   * bytes are durable once this resolves.
   * @throws TooManyBytesError as soon as `limit` is exceeded.
   */
  write(source: Readable, limit: number): Promise<StoredBlob>;
  /** @throws BlobMissingError */
  read(sha256: string): Promise<Readable>;
  /**
   * Places the bytes at `path`, which must not exist. The new file must not be changed, because it
   * is a hard link where possible.
   * @throws BlobMissingError
   */
  place(sha256: string, path: string): Promise<void>;
  /** Removes bytes that no row refers to. Bytes written within the last hour are kept. */
  remove(sha256: string, now: Date): Promise<void>;
  /** Removes partial files of killed processes, and uploads that were never accepted. */
  removeAbandoned(now: Date): Promise<void>;
  /** Returns the free space in bytes; `Infinity` if unknown. */
  free(): Promise<number>;
  /**
   * Checks that the store accepts bytes. A folder is not checked, because its disk is
   * (`watchFreeSpace`).
   * @throws SonogateError `storage_unreachable`
   */
  requireWritable(): Promise<void>;
  close(): void;
  /**
   * Direct access for clients; null if only the gateway can reach the bytes. Clients then use
   * signed URLs of the gateway.
   */
  direct: DirectAccess | null;
}

/**
 * A store that every host of an installation can reach. Clients reach it through signed URLs (AWS
 * Signature Version 4).
 */
export interface DirectAccess {
  has(sha256: string): Promise<boolean>;
  /** Stores a local file whose digest is known. The bytes are durable once this resolves. */
  takeFile(path: string, stored: StoredBlob, signal: AbortSignal): Promise<void>;
  /**
   * Returns a URL for downloading the bytes as `name`, valid for `seconds`; null if the store does
   * not have them.
   */
  downloadUrl(
    sha256: string,
    as: { name: string; mediaType: string },
    seconds: number,
  ): Promise<string | null>;
  /** Returns a URL for a PUT of `bytes` as the upload `id`, valid for `seconds`. */
  uploadUrl(id: string, as: { bytes: number; mediaType: string }, seconds: number): Promise<string>;
  /**
   * Moves the bytes that a client uploaded as `id` into the store, under their digest. The upload
   * then no longer exists.
   * @returns null if no bytes were uploaded.
   * @throws WrongSizeError unless the upload has exactly `bytes` bytes.
   */
  takeIn(id: string, bytes: number): Promise<StoredBlob | null>;
  multipart: MultipartAccess;
}

/**
 * S3 multipart uploads: at most 10,000 parts, each of at least 5 MiB except for the last. `takeIn`
 * accepts the assembled file.
 */
export interface MultipartAccess {
  /**
   * Begins the upload `id` in parts.
   * @returns the storage's own upload id.
   */
  begin(id: string): Promise<string>;
  /** Returns a URL for a PUT of one part, valid for `seconds`. */
  partUrl(
    id: string,
    uploadId: string,
    part: { partNumber: number; bytes: number },
    seconds: number,
  ): Promise<string>;
  arrived(id: string, uploadId: string): Promise<{ partNumber: number; etag: string }[]>;
  /**
   * Assembles the parts.
   * @throws PartDiffersError
   */
  join(
    id: string,
    uploadId: string,
    parts: readonly { partNumber: number; etag: string }[],
  ): Promise<void>;
  /** Discards the parts. It is not an error if the upload has already ended. */
  abort(id: string, uploadId: string): Promise<void>;
}

/**
 * Returns those digests whose bytes no row refers to. Files with the same content share their
 * bytes, which may be removed only when no row refers to them any more.
 */
export async function unusedBlobs(
  database: Queryable,
  digests: readonly string[],
): Promise<string[]> {
  if (digests.length === 0) return [];
  const { rows } = await database.query<{ sha256: string }>(
    `SELECT DISTINCT sha256 FROM unnest($1::text[]) AS asked (sha256)
     WHERE NOT EXISTS (SELECT 1 FROM files f WHERE f.sha256 = asked.sha256)
       AND NOT EXISTS (SELECT 1 FROM file_parts p WHERE p.sha256 = asked.sha256)
       AND NOT EXISTS (SELECT 1 FROM instances i WHERE i.file_sha256 = asked.sha256)
       AND NOT EXISTS (SELECT 1 FROM request_artifacts a WHERE a.sha256 = asked.sha256)`,
    [digests],
  );
  return rows.map(({ sha256 }) => sha256);
}
