import { Readable } from 'node:stream';
import type { Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { newId } from '../../platform/ids.ts';
import {
  type BlobStore,
  type DirectAccess,
  PartDiffersError,
  TooManyBytesError,
  unusedBlobs,
  WrongSizeError,
} from './blob-store.ts';

/** A part as listed by the client when it completes an upload. */
export interface NamedPart {
  part_number: number;
  etag: string;
}

export interface PartState {
  partNumber: number;
  firstByte: number;
  bytes: number;
  /** ETag without quotation marks; null until the bytes have arrived. */
  etag: string | null;
}

/**
 * The parts of files too large for one PUT. Parts may arrive in any order, and each is stored
 * completely or not at all.
 */
export interface UploadParts {
  state(fileId: string, bytes: number): Promise<PartState[]>;
  /**
   * Returns a URL for a direct PUT of a part, valid for `seconds`; null if the client must send the
   * part through the gateway.
   */
  url(fileId: string, part: PartState, seconds: number): Promise<string | null>;
  /**
   * Stores a part that arrives through the gateway.
   * @param checkRoom called with the size of the part if it replaces a part that has already
   * arrived: space is reserved only for missing parts.
   * @returns its ETag.
   * @throws SonogateError `not_found`, `upload_incomplete`, and what `checkRoom` throws.
   */
  receive(
    fileId: string,
    bytes: number,
    partNumber: number,
    sent: { source: Readable; length: number | null },
    checkRoom: (bytes: number) => Promise<void>,
  ): Promise<string>;
  /**
   * Assembles the file.
   * @param named every part in ascending order with its ETag, or null for all parts that have
   * arrived.
   * @returns the file's SHA-256.
   * @throws SonogateError `upload_incomplete` with the parts that are missing or differ.
   */
  assemble(fileId: string, bytes: number, named: readonly NamedPart[] | null): Promise<string>;
  /** Stops accepting parts of a file. */
  abort(fileId: string): Promise<void>;
  /** Removes the parts of files that are no longer pending, with their bytes. */
  removeLeftOver(): Promise<void>;
}

/** Divides a file into parts of `partBytes`; the last part has the remaining bytes. */
function partsOf(
  bytes: number,
  partBytes: number,
  etags: ReadonlyMap<number, string>,
): PartState[] {
  return Array.from({ length: Math.ceil(bytes / partBytes) }, (_, n) => ({
    partNumber: n + 1,
    firstByte: n * partBytes,
    bytes: Math.min(partBytes, bytes - n * partBytes),
    etag: etags.get(n + 1) ?? null,
  }));
}

function checkArrived(parts: readonly PartState[]): void {
  const missing = parts.filter(({ etag }) => etag === null);
  if (missing.length > 0) throw incomplete(`missing parts: ${numbers(missing)}`);
}

/**
 * Checks the parts as S3 does: all of them, in ascending order, each with the ETag returned by its
 * PUT.
 * @throws SonogateError `upload_incomplete`
 */
function checkNamed(parts: readonly PartState[], named: readonly NamedPart[]): void {
  checkOrder(parts, named);
  const differing = parts.filter(({ etag }, n) => unquoted(named[n]?.etag) !== etag);
  if (differing.length > 0) throw incomplete(`ETags differ: parts ${numbers(differing)}`);
}

function checkOrder(parts: readonly PartState[], named: readonly NamedPart[]): void {
  const ascending = named.every(({ part_number }, n) => part_number === parts[n]?.partNumber);
  if (!ascending || named.length !== parts.length) {
    throw incomplete('`parts` names every part once, in ascending order');
  }
}

const unquoted = (etag = ''): string => etag.replaceAll('"', '');

const numbers = (parts: readonly PartState[]): string =>
  parts.map(({ partNumber }) => partNumber).join(', ');

function incomplete(detail: string): SonogateError {
  return new SonogateError('upload_incomplete', `${detail}; the upload can be continued.`);
}

/** Manages parts that clients PUT directly to the storage, as one S3 multipart upload per file. */
export function createPartsInBucket(
  database: Queryable,
  direct: DirectAccess,
  partBytes: number,
): UploadParts {
  const { multipart } = direct;

  async function state(fileId: string, bytes: number): Promise<PartState[]> {
    const uploadId = await multipartUploadOf(database, fileId);
    const arrived = uploadId === null ? [] : await multipart.arrived(fileId, uploadId);
    const etags = arrived.map(({ partNumber, etag }) => [partNumber, unquoted(etag)] as const);
    return partsOf(bytes, partBytes, new Map(etags));
  }

  async function abort(fileId: string): Promise<void> {
    const uploadId = await multipartUploadOf(database, fileId);
    if (uploadId === null) return;
    await multipart.abort(fileId, uploadId);
    await forget(database, fileId);
  }

  /** Joins the parts that the client named or, if it named none, those that have arrived. */
  async function join(
    fileId: string,
    uploadId: string,
    bytes: number,
    named: readonly NamedPart[] | null,
  ): Promise<void> {
    const etags = named?.map(({ part_number, etag }) => [part_number, unquoted(etag)] as const);
    const parts = etags ? partsOf(bytes, partBytes, new Map(etags)) : await state(fileId, bytes);
    if (named) checkOrder(parts, named);
    checkArrived(parts);
    const joined = parts.map(({ partNumber, etag }) => ({ partNumber, etag: etag ?? '' }));
    try {
      await multipart.join(fileId, uploadId, joined);
    } catch (error) {
      if (!(error instanceof PartDiffersError)) throw error;
      if (named) checkNamed(await state(fileId, bytes), named);
      throw incomplete('parts are missing or differ');
    }
  }

  return {
    state,
    abort,

    async url(fileId, { partNumber, bytes }, seconds) {
      const uploadId =
        (await multipartUploadOf(database, fileId)) ?? (await begin(database, multipart, fileId));
      return multipart.partUrl(fileId, uploadId, { partNumber, bytes }, seconds);
    },

    async receive() {
      const detail = 'The parts of this upload must be sent directly to the storage.';
      throw new SonogateError('not_found', detail);
    },

    async assemble(fileId, bytes, named) {
      const uploadId = await multipartUploadOf(database, fileId);
      if (uploadId === null) throw incomplete('no part has arrived');
      await join(fileId, uploadId, bytes, named);
      // The storage has already joined the parts and ended this multipart upload. If the client
      // sends a part again, a new multipart upload is needed.
      await forget(database, fileId);
      const taken = await direct.takeIn(fileId, bytes).catch((error: unknown) => {
        if (!(error instanceof WrongSizeError)) throw error;
        throw incomplete(
          `the parts have ${error.found} bytes in total instead of ${bytes}; send them again`,
        );
      });
      if (!taken) throw incomplete('the parts have been lost; send them again');
      return taken.sha256;
    },

    async removeLeftOver() {
      const { rows } = await database.query<{ file_id: string }>(
        `SELECT file_id FROM multipart_uploads WHERE NOT EXISTS (
           SELECT 1 FROM files WHERE id = file_id AND status = 'pending')`,
      );
      for (const { file_id } of rows) await abort(file_id);
    },
  };
}

/** Returns the storage's id of the multipart upload of a file; null if none has begun. */
async function multipartUploadOf(database: Queryable, fileId: string): Promise<string | null> {
  const { rows } = await database.query<{ upload_id: string }>(
    'SELECT upload_id FROM multipart_uploads WHERE file_id = $1',
    [fileId],
  );
  return rows[0]?.upload_id ?? null;
}

/** Begins the multipart upload of a file, unless another call has begun one at the same time. */
async function begin(
  database: Queryable,
  multipart: DirectAccess['multipart'],
  fileId: string,
): Promise<string> {
  const begun = await multipart.begin(fileId);
  const { rowCount } = await database.query(
    'INSERT INTO multipart_uploads (file_id, upload_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [fileId, begun],
  );
  if (rowCount === 1) return begun;
  await multipart.abort(fileId, begun);
  return (await multipartUploadOf(database, fileId)) ?? begun;
}

async function forget(database: Queryable, fileId: string): Promise<void> {
  await database.query('DELETE FROM multipart_uploads WHERE file_id = $1', [fileId]);
}

/**
 * Milliseconds for which the rows of stored parts are kept. `BlobStore.remove` keeps bytes written
 * within the last hour. The rows are kept for longer, so that the bytes can be removed together
 * with their row.
 */
const IN_USE_MS = 2 * 3_600_000;

/**
 * Manages parts that clients send through the gateway, each stored as a blob with its SHA-256 as
 * the ETag.
 */
export function createPartsThroughGateway(
  database: Queryable,
  blobs: BlobStore,
  partBytes: number,
  now: () => Date,
): UploadParts {
  async function state(fileId: string, bytes: number) {
    const { rows } = await database.query<{ part_number: number; sha256: string }>(
      'SELECT part_number, sha256 FROM file_parts WHERE file_id = $1',
      [fileId],
    );
    return partsOf(bytes, partBytes, new Map(rows.map((row) => [row.part_number, row.sha256])));
  }

  return {
    state,

    url: async () => null,

    async receive(fileId, bytes, partNumber, { source, length }, checkRoom) {
      const part = (await state(fileId, bytes)).find((each) => each.partNumber === partNumber);
      if (!part) throw new SonogateError('not_found', 'The upload has no such part.');
      const wrong = (found: string) =>
        incomplete(`part ${partNumber} has ${part.bytes} bytes and ${found}`);
      if (length !== null && length !== part.bytes) throw wrong(`${length} are sent`);
      if (part.etag !== null) await checkRoom(part.bytes);
      const received = await blobs.write(source, part.bytes).catch((error: unknown) => {
        throw error instanceof TooManyBytesError ? wrong('more were sent') : error;
      });
      if (received.bytes !== part.bytes) throw wrong(`${received.bytes} were sent`);
      // The old bytes of a replaced part get a row with a new file id that belongs to no file.
      // Without a row, these bytes would never be removed.
      await database.query(
        `WITH replaced AS (
           INSERT INTO file_parts (file_id, part_number, sha256, bytes, stored_at)
           SELECT $6, part_number, sha256, bytes, stored_at FROM file_parts
           WHERE file_id = $1 AND part_number = $2 AND sha256 <> $3)
         INSERT INTO file_parts (file_id, part_number, sha256, bytes, stored_at)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (file_id, part_number)
           DO UPDATE SET sha256 = EXCLUDED.sha256, stored_at = EXCLUDED.stored_at`,
        [fileId, partNumber, received.sha256, received.bytes, now(), newId('file')],
      );
      return received.sha256;
    },

    async assemble(fileId, bytes, named) {
      const parts = await state(fileId, bytes);
      checkArrived(parts);
      if (named) checkNamed(parts, named);
      async function* whole() {
        for (const { etag } of parts) yield* await blobs.read(etag ?? '');
      }
      return (await blobs.write(Readable.from(whole()), bytes)).sha256;
    },

    // There is nothing to do: once an upload is aborted, it accepts no more parts (uploads.ts), and
    // `removeLeftOver` removes its bytes later.
    abort: async () => {},

    async removeLeftOver() {
      const { rows } = await database.query<{ sha256: string }>(
        `DELETE FROM file_parts WHERE stored_at <= $1 AND NOT EXISTS (
           SELECT 1 FROM files WHERE id = file_id AND status = 'pending')
         RETURNING sha256`,
        [new Date(now().getTime() - IN_USE_MS)],
      );
      const digests = rows.map(({ sha256 }) => sha256);
      for (const sha256 of await unusedBlobs(database, digests)) await blobs.remove(sha256, now());
    },
  };
}
