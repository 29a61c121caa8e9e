import type { Readable } from 'node:stream';
import { batched } from '../../platform/database/batched.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { newId } from '../../platform/ids.ts';
import { type BlobStore, TooManyBytesError, UPLOAD_LIFE_MS, WrongSizeError } from './blob-store.ts';
import {
  createPartsInBucket,
  createPartsThroughGateway,
  type NamedPart,
  type PartState,
  type UploadParts,
} from './upload-parts.ts';

/**
 * Returns the free bytes of the store minus those reserved for uploads in progress: all bytes of a
 * file sent in one PUT, and the missing parts of a file sent in parts. A file without an announced
 * size reserves nothing. `Infinity` if the free space is unknown.
 */
async function unreservedBytes(
  database: Queryable,
  blobs: Pick<BlobStore, 'free'>,
  now: Date,
): Promise<number> {
  const free = await blobs.free();
  if (!Number.isFinite(free)) return free;
  const { rows } = await database.query<{ bytes: string | number }>(
    `SELECT COALESCE(sum(GREATEST(file.bytes - arrived.bytes, 0)), 0) AS bytes
     FROM files file, LATERAL (
       SELECT COALESCE(sum(part.bytes), 0) AS bytes FROM file_parts part WHERE part.file_id = file.id
     ) arrived
     WHERE file.status = 'pending' AND file.sha256 IS NULL AND file.expires_at > $1`,
    [now],
  );
  return free - Number(rows[0]?.bytes ?? 0);
}

/**
 * Extra milliseconds added whenever a file's expiry is extended. A file used by many requests is
 * then updated once an hour rather than for each request.
 */
const RENEWED_EVERY_MS = 3_600_000;

/** Determines when uploads expire: a day after they were announced, completed or last used. */
interface UploadExpiry {
  endOfLife(): Date;
  /**
   * Extends the life of files that a request uses, by a day to a day and an hour from now.
   * @returns false if one of them has expired and its bytes may have been removed.
   */
  renew(files: readonly { id: string; expires_at: Date }[]): Promise<boolean>;
  /**
   * Removes expired files that no unfinished request reads.
   * @returns the number of files removed.
   */
  removeExpired(): Promise<number>;
}

function createUploadExpiry({
  database,
  blobs,
  parts,
  now,
}: {
  database: Queryable;
  blobs: Pick<BlobStore, 'remove' | 'removeAbandoned'>;
  parts: Pick<UploadParts, 'removeLeftOver'>;
  now: () => Date;
}): UploadExpiry {
  const endOfLife = () => new Date(now().getTime() + UPLOAD_LIFE_MS);

  return {
    endOfLife,

    async renew(files) {
      const due = files.filter(({ expires_at }) => expires_at < endOfLife());
      if (due.length === 0) return true;
      const { rowCount } = await database.query(
        'UPDATE files SET expires_at = $2 WHERE id = ANY($1::text[]) AND expires_at > $3',
        [due.map(({ id }) => id), new Date(endOfLife().getTime() + RENEWED_EVERY_MS), now()],
      );
      return rowCount === due.length;
    },

    async removeExpired() {
      await blobs.removeAbandoned(now());
      const { rows } = await database.query<{ sha256: string | null }>(
        `DELETE FROM files WHERE expires_at <= $1 AND created_at <= $2 AND NOT EXISTS (
           SELECT 1 FROM requests WHERE status IN ('queued', 'preparing', 'running')
             AND files || prior_files @> jsonb_build_array(jsonb_build_object('sha256', sha256)))
         RETURNING sha256`,
        [now(), new Date(now().getTime() - UPLOAD_LIFE_MS)],
      );
      const digests = new Set(rows.flatMap(({ sha256 }) => sha256 ?? []));
      for (const sha256 of digests) {
        const { rows: users } = await database.query(
          `SELECT 1 FROM files WHERE sha256 = $1
           UNION ALL SELECT 1 FROM instances WHERE file_sha256 = $1`,
          [sha256],
        );
        if (users.length === 0) await blobs.remove(sha256, now());
      }
      await parts.removeLeftOver();
      return rows.length;
    },
  };
}

/**
 * States of a file.
 *
 *   pending ──complete──▶ ready ──24 h after the last use──▶ removed
 *      └──24 h after creation──▶ removed
 */
type FileStatus = 'pending' | 'ready';

export interface FileRow {
  id: string;
  account_id: string;
  /** True if the file was announced with a test key. */
  test: boolean;
  filename: string;
  media_type: string;
  /** Size in bytes; null for a file without an announced size until it has arrived. */
  bytes: number | null;
  status: FileStatus;
  sha256: string | null;
  created_at: Date;
  expires_at: Date;
}

type ReadyFile = FileRow & { bytes: number; sha256: string };

interface AnnouncedFile {
  filename: string;
  /** Size in bytes; null if it is not known before the PUT. */
  bytes: number | null;
  mediaType: string;
}

interface UploadLimits {
  /** Maximum size in bytes of a file sent in one PUT. A larger file is sent in parts. */
  maxBytes: number;
  maxFileBytes: number;
  /** Size in bytes of every part except the last. */
  partBytes: number;
  /**
   * Free space in bytes that must remain after an upload, counting uploads in progress as stored.
   * An upload that would leave less is refused.
   */
  minFreeBytes: number;
}

/** A ready upload as an input file of a request. */
interface UploadedFile {
  name: string;
  /** Empty: the bytes are in the blob store under their SHA-256. */
  path: string;
  bytes: number;
  sha256: string;
}

/**
 * Which uploads a caller may use: all uploads of the account or, with a test key, only those
 * announced with test keys.
 */
export interface Uploader {
  accountId: string;
  test: boolean;
}

/** The files that clients upload: announced, received, completed, and then usable as input. */
export interface Uploads {
  /** @throws SonogateError `payload_too_large`, `overloaded`. */
  create(uploader: Uploader, announced: AnnouncedFile): Promise<FileRow>;
  /**
   * Stores the bytes of a pending file. A later PUT replaces an earlier one. `length` is the
   * Content-Length, if given: a PUT with the wrong length is refused before any byte is read.
   * @throws SonogateError `not_found`, `upload_incomplete`, `payload_too_large`.
   */
  receive(id: string, source: Readable, length: number | null): Promise<FileRow>;
  /**
   * Makes a received file usable. Calling this twice does no harm.
   * @throws SonogateError `not_found`, `upload_incomplete`.
   */
  complete(
    uploader: Uploader,
    id: string,
    sha256: string | null,
    named?: readonly NamedPart[] | null,
  ): Promise<FileRow>;
  /**
   * Returns the file in its present state.
   * @throws SonogateError `not_found`
   */
  find(uploader: Uploader, id: string): Promise<FileRow>;
  /**
   * Returns a URL for a direct PUT of the bytes, valid for `seconds`; null if the client must send
   * them through the gateway.
   */
  directUrl(file: FileRow, seconds: number): Promise<string | null>;
  /** Returns the parts of a file and whether each has arrived; null for a file sent in one PUT. */
  parts(file: FileRow): Promise<PartState[] | null>;
  /**
   * Returns a URL for a direct PUT of one part, valid for `seconds`; null if the client must send
   * the part through the gateway.
   */
  partUrl(file: FileRow, part: PartState, seconds: number): Promise<string | null>;
  /**
   * Stores one part. A later PUT replaces an earlier one.
   * @returns the part's ETag.
   */
  receivePart(id: string, n: number, source: Readable, length: number | null): Promise<string>;
  /** Aborts an incomplete upload. Its bytes are removed a day after it was announced. */
  abort(uploader: Uploader, id: string): Promise<void>;
  /**
   * Returns those files among `ids` that this uploader may use now, and keeps them for at least
   * another day.
   */
  ready(uploader: Uploader, ids: readonly string[]): Promise<Map<string, UploadedFile>>;
  /**
   * Reads the bytes of a ready file.
   * @throws BlobMissingError
   */
  read(file: Pick<UploadedFile, 'sha256'>): Promise<Readable>;
  removeExpired: UploadExpiry['removeExpired'];
}

export function createUploads({
  database,
  blobs,
  limits,
  now = () => new Date(),
}: {
  database: Queryable;
  blobs: BlobStore;
  limits: UploadLimits;
  now?: () => Date;
}): Uploads {
  const parts = blobs.direct
    ? createPartsInBucket(database, blobs.direct, limits.partBytes)
    : createPartsThroughGateway(database, blobs, limits.partBytes, now);
  const expiry = createUploadExpiry({ database, blobs, parts, now });
  const inParts = ({ bytes }: FileRow) => bytes !== null && bytes > limits.maxBytes;

  async function pending(id: string): Promise<FileRow> {
    const { rows } = await database.query<FileRow>(
      `SELECT * FROM files WHERE id = $1 AND status = 'pending' AND expires_at > $2`,
      [id, now()],
    );
    if (!rows[0]) throw new SonogateError('not_found', 'There is no pending upload here.');
    return toFile(rows[0]);
  }

  async function find({ accountId, test }: Uploader, id: string): Promise<FileRow> {
    const { rows } = await database.query<FileRow>(
      `SELECT * FROM files WHERE id = $1 AND account_id = $2 AND (test OR NOT $4)
         AND expires_at > $3`,
      [id, accountId, now(), test],
    );
    if (!rows[0]) throw new SonogateError('not_found', 'There is no such upload.');
    return toFile(rows[0]);
  }

  /** Looks up the files of concurrently submitted requests in one query. */
  const readyFiles = batched(async (asked: readonly (readonly string[])[]) => {
    const { rows } = await database.query<FileRow>(
      `SELECT id, account_id, test, filename, media_type, bytes, status, sha256, created_at, expires_at
       FROM files WHERE id = ANY($1::text[]) AND status = 'ready'`,
      [[...new Set(asked.flat())]],
      'ready-files',
    );
    const files = new Map(
      rows
        .map(toFile)
        .filter(isReady)
        .map((file) => [file.id, file]),
    );
    return asked.map((ids) => ids.flatMap((id) => files.get(id) ?? []));
  });

  /**
   * Returns the SHA-256 of the bytes that the client uploaded directly to the store; null if it
   * uploaded no bytes there.
   */
  async function takeIn({ id, status, bytes }: FileRow): Promise<string | null> {
    if (!blobs.direct || status !== 'pending' || bytes === null) return null;
    const taken = await blobs.direct.takeIn(id, bytes).catch((error: unknown) => {
      throw error instanceof WrongSizeError ? wrongSize(bytes, `${error.found} were sent`) : error;
    });
    if (!taken) return null;
    // The bytes are now stored only under their digest. If it were not recorded at once, they could
    // no longer be found.
    await database.query('UPDATE files SET sha256 = $2 WHERE id = $1', [id, taken.sha256]);
    return taken.sha256;
  }

  return {
    async create({ accountId, test }, { filename, bytes, mediaType }) {
      if (bytes !== null && bytes > limits.maxFileBytes) throw tooLarge(limits.maxFileBytes);
      if ((await unreservedBytes(database, blobs, now())) - (bytes ?? 0) < limits.minFreeBytes) {
        throw new SonogateError('overloaded', 'There is currently no room for the file.');
      }
      const { rows } = await database.query<FileRow>(
        `INSERT INTO files (id, account_id, test, filename, media_type, bytes, status, created_at,
           expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $8) RETURNING *`,
        [newId('file'), accountId, test, filename, mediaType, bytes, now(), expiry.endOfLife()],
      );
      return toFile(rows[0] as FileRow);
    },

    async receive(id, source, length) {
      const file = await pending(id);
      const expected = file.bytes ?? length;
      if (expected !== null && expected > limits.maxBytes) throw tooLarge(limits.maxBytes);
      if (length !== null && length !== expected) throw wrongSize(expected, `${length} are sent`);
      const limit = expected ?? limits.maxBytes;
      const received = await blobs.write(source, limit).catch((error: unknown) => {
        if (!(error instanceof TooManyBytesError)) throw error;
        throw expected === null ? tooLarge(limits.maxBytes) : wrongSize(expected, 'more were sent');
      });
      if (expected !== null && received.bytes !== expected) {
        throw wrongSize(expected, `${received.bytes} were sent`);
      }
      const { rows } = await database.query<FileRow>(
        `UPDATE files SET sha256 = $2, bytes = $3 WHERE id = $1 AND status = 'pending' RETURNING *`,
        [id, received.sha256, received.bytes],
      );
      if (!rows[0]) throw new SonogateError('not_found', 'There is no pending upload here.');
      return toFile(rows[0]);
    },

    async complete(uploader, id, sha256, named = null) {
      const file = await find(uploader, id);
      const digest =
        (await takeIn(file)) ??
        file.sha256 ??
        (inParts(file) ? await parts.assemble(id, file.bytes ?? 0, named) : null);
      if (digest === null) {
        throw new SonogateError('upload_incomplete', 'The bytes have not arrived yet.');
      }
      if (sha256 !== null && sha256 !== digest) {
        throw new SonogateError(
          'upload_incomplete',
          `The SHA-256 of the bytes received is ${digest}; send the file again.`,
        );
      }
      const { rows } = await database.query<FileRow>(
        `UPDATE files SET status = 'ready', sha256 = $3, expires_at = $2 WHERE id = $1 RETURNING *`,
        [id, expiry.endOfLife(), digest],
      );
      return toFile(rows[0] as FileRow);
    },

    find,

    async directUrl(file, seconds) {
      const { id, bytes, media_type: mediaType } = file;
      if (!blobs.direct || bytes === null || inParts(file)) return null;
      return blobs.direct.uploadUrl(id, { bytes, mediaType }, seconds);
    },

    parts: async (file) => (inParts(file) ? parts.state(file.id, file.bytes ?? 0) : null),

    partUrl: async (file, part, seconds) =>
      file.status === 'pending' ? parts.url(file.id, part, seconds) : null,

    async receivePart(id, n, source, length) {
      const file = await pending(id);
      if (!inParts(file)) throw new SonogateError('not_found', 'The upload has no parts.');
      return parts.receive(id, file.bytes ?? 0, n, source, length);
    },

    async abort({ accountId, test }, id) {
      const { rows } = await database.query(
        `UPDATE files SET expires_at = $3
         WHERE id = $1 AND account_id = $2 AND (test OR NOT $4) AND status = 'pending'
           AND expires_at > $3 RETURNING id`,
        [id, accountId, now(), test],
      );
      if (!rows[0]) throw new SonogateError('not_found', 'There is no pending upload here.');
      await parts.abort(id);
    },

    async ready(uploader, ids) {
      const at = now();
      const found = (await readyFiles(ids)).filter(
        ({ account_id, test, expires_at }) =>
          account_id === uploader.accountId && (test || !uploader.test) && expires_at > at,
      );
      if (!(await expiry.renew(found))) return this.ready(uploader, ids);
      return new Map(
        found.map(({ id, filename, bytes, sha256 }) => [
          id,
          { name: filename, path: '', bytes, sha256 },
        ]),
      );
    },

    read: ({ sha256 }) => blobs.read(sha256),

    removeExpired: expiry.removeExpired,
  };
}

function tooLarge(limit: number): SonogateError {
  return new SonogateError('payload_too_large', `A file may have at most ${limit} bytes.`);
}

function wrongSize(announced: number | null, found: string): SonogateError {
  const detail = `${announced} bytes were declared, but ${found}; nothing was kept.`;
  return new SonogateError('upload_incomplete', detail);
}

/**
 * Converts `bytes` to a number: PostgreSQL returns a bigint as text, the embedded database returns
 * a number.
 */
function toFile(row: FileRow): FileRow {
  return { ...row, bytes: row.bytes === null ? null : Number(row.bytes) };
}

function isReady(file: FileRow): file is ReadyFile {
  return file.bytes !== null && file.sha256 !== null;
}
