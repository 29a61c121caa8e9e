import type { Readable } from 'node:stream';
import { batched } from '../../platform/database/batched.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { newId } from '../../platform/ids.ts';
import {
  type BlobStore,
  TooManyBytesError,
  UPLOAD_LIFE_MS,
  unusedBlobs,
  WrongSizeError,
} from './blob-store.ts';
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

/**
 * How long a process remembers a ready file: a file is usually submitted soon after it was
 * completed. In this time, a file that was deleted through another process is still accepted.
 */
const REMEMBERED_MS = 60_000;

/** Maximum number of ready files that a process remembers, some 5 MB. */
const MOST_REMEMBERED = 10_000;

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

interface UploadsParts {
  database: Queryable;
  blobs: BlobStore;
  limits: UploadLimits;
  now?: () => Date;
}

/** The files that clients upload: announced, received, completed, and then usable as input. */
export class Uploads {
  readonly #database: Queryable;
  readonly #blobs: BlobStore;
  readonly #limits: UploadLimits;
  readonly #now: () => Date;
  readonly #parts: UploadParts;
  readonly #readyFiles: (ids: readonly string[]) => Promise<ReadyFile[]>;
  readonly #remembered = new Map<string, { file: ReadyFile; until: number }>();

  constructor({ database, blobs, limits, now = () => new Date() }: UploadsParts) {
    this.#database = database;
    this.#blobs = blobs;
    this.#limits = limits;
    this.#now = now;
    this.#parts = blobs.direct
      ? createPartsInBucket(database, blobs.direct, limits.partBytes)
      : createPartsThroughGateway(database, blobs, limits.partBytes, now);
    this.#readyFiles = batchedReadyFiles(database);
  }

  /** @throws SonogateError `payload_too_large`, `overloaded`. */
  async create(
    { accountId, test }: Uploader,
    { filename, bytes, mediaType }: AnnouncedFile,
  ): Promise<FileRow> {
    const { maxFileBytes } = this.#limits;
    const now = this.#now();
    if (bytes !== null && bytes > maxFileBytes) throw tooLarge(maxFileBytes);
    await this.#checkRoom(bytes ?? 0);
    const { rows } = await this.#database.query<FileRow>(
      `INSERT INTO files (id, account_id, test, filename, media_type, bytes, status, created_at,
         expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $8) RETURNING *`,
      [newId('file'), accountId, test, filename, mediaType, bytes, now, this.#endOfLife()],
    );
    return toFile(rows[0] as FileRow);
  }

  /**
   * Stores the bytes of a pending file. A later PUT replaces an earlier one. `length` is the
   * Content-Length, if given: a PUT with the wrong length is refused before any byte is read.
   * @throws SonogateError `not_found`, `upload_incomplete`, `payload_too_large`, `overloaded`.
   */
  async receive(id: string, source: Readable, length: number | null): Promise<FileRow> {
    const { maxBytes } = this.#limits;
    const file = await this.#pending(id);
    const expected = file.bytes ?? length;
    if (expected !== null && expected > maxBytes) throw tooLarge(maxBytes);
    if (length !== null && length !== expected) throw wrongSize(expected, `${length} are sent`);
    // If the size of the file was announced, the space for its first PUT is already reserved. In
    // all other cases, the space must be checked now.
    if (file.bytes === null || file.sha256 !== null) await this.#checkRoom(expected ?? 0);
    const received = await this.#blobs
      .write(source, expected ?? maxBytes)
      .catch((error: unknown) => {
        if (!(error instanceof TooManyBytesError)) throw error;
        throw expected === null ? tooLarge(maxBytes) : wrongSize(expected, 'more were sent');
      });
    if (expected !== null && received.bytes !== expected) {
      throw wrongSize(expected, `${received.bytes} were sent`);
    }
    await this.#leaveForRemoval(file, received.sha256);
    const { rows } = await this.#database.query<FileRow>(
      `UPDATE files SET sha256 = $2, bytes = $3 WHERE id = $1 AND status = 'pending' RETURNING *`,
      [id, received.sha256, received.bytes],
    );
    if (!rows[0]) throw new SonogateError('not_found', 'There is no pending upload here.');
    return toFile(rows[0]);
  }

  /**
   * Makes a received file usable. Calling this twice does no harm.
   * @throws SonogateError `not_found`, `upload_incomplete`.
   */
  async complete(
    uploader: Uploader,
    id: string,
    sha256: string | null,
    named: readonly NamedPart[] | null = null,
  ): Promise<FileRow> {
    const file = await this.find(uploader, id);
    const digest =
      (await this.#takeIn(file)) ??
      file.sha256 ??
      (this.#isInParts(file) ? await this.#parts.assemble(id, file.bytes ?? 0, named) : null);
    if (digest === null) {
      throw new SonogateError('upload_incomplete', 'The bytes have not arrived yet.');
    }
    const leaveParts = async () => {
      if (this.#isInParts(file)) await this.#leaveForRemoval({ ...file, sha256: digest }, null);
    };
    if (sha256 !== null && sha256 !== digest) {
      await leaveParts();
      throw new SonogateError(
        'upload_incomplete',
        `The SHA-256 of the bytes received is ${digest}; send the file again.`,
      );
    }
    const { rows } = await this.#database.query<FileRow>(
      `UPDATE files SET status = 'ready', sha256 = $3, expires_at = $2
       WHERE id = $1 AND expires_at > $4 RETURNING *`,
      [id, this.#renewed(), digest, this.#now()],
    );
    if (!rows[0]) {
      await leaveParts();
      throw new SonogateError('not_found', 'The upload was deleted, or expired, meanwhile.');
    }
    const completed = toFile(rows[0]);
    this.#remember([completed]);
    return completed;
  }

  /**
   * Returns the file in its present state.
   * @throws SonogateError `not_found`
   */
  async find({ accountId, test }: Uploader, id: string): Promise<FileRow> {
    const { rows } = await this.#database.query<FileRow>(
      `SELECT * FROM files WHERE id = $1 AND account_id = $2 AND (test OR NOT $4)
         AND expires_at > $3`,
      [id, accountId, this.#now(), test],
    );
    if (!rows[0]) throw new SonogateError('not_found', 'There is no such upload.');
    return toFile(rows[0]);
  }

  /**
   * Returns a URL for a direct PUT of the bytes, valid for `seconds`; null if the client must send
   * them through the gateway.
   */
  async directUrl(file: FileRow, seconds: number): Promise<string | null> {
    const { id, bytes, media_type: mediaType } = file;
    const { direct } = this.#blobs;
    if (!direct || bytes === null || this.#isInParts(file)) return null;
    return direct.uploadUrl(id, { bytes, mediaType }, seconds);
  }

  /** Returns the parts of a file and whether each has arrived; null for a file sent in one PUT. */
  async parts(file: FileRow): Promise<PartState[] | null> {
    return this.#isInParts(file) ? this.#parts.state(file.id, file.bytes ?? 0) : null;
  }

  /**
   * Returns a URL for a direct PUT of one part, valid for `seconds`; null if the client must send
   * the part through the gateway.
   */
  async partUrl(file: FileRow, part: PartState, seconds: number): Promise<string | null> {
    return file.status === 'pending' ? this.#parts.url(file.id, part, seconds) : null;
  }

  /**
   * Stores one part. A later PUT replaces an earlier one.
   * @returns the part's ETag.
   * @throws SonogateError `not_found`, `upload_incomplete`, `overloaded`.
   */
  async receivePart(
    id: string,
    n: number,
    source: Readable,
    length: number | null,
  ): Promise<string> {
    const file = await this.#pending(id);
    if (!this.#isInParts(file)) throw new SonogateError('not_found', 'The upload has no parts.');
    return this.#parts.receive(id, file.bytes ?? 0, n, { source, length }, (bytes) =>
      this.#checkRoom(bytes),
    );
  }

  /**
   * Deletes a file or an incomplete upload: nobody can use it any more. Its bytes are removed a day
   * after it was announced, once no unfinished request reads them.
   * @throws SonogateError `not_found`
   */
  async remove({ accountId, test }: Uploader, id: string): Promise<void> {
    const { rows } = await this.#database.query<Pick<FileRow, 'status'>>(
      `UPDATE files SET expires_at = $3
       WHERE id = $1 AND account_id = $2 AND (test OR NOT $4) AND expires_at > $3 RETURNING status`,
      [id, accountId, this.#now(), test],
    );
    if (!rows[0]) throw new SonogateError('not_found', 'There is no such upload.');
    this.#remembered.delete(id);
    if (rows[0].status === 'pending') await this.#parts.abort(id);
  }

  /**
   * Returns those files among `ids` that this uploader may use now, and keeps them for at least
   * another day.
   */
  async ready(uploader: Uploader, ids: readonly string[]): Promise<Map<string, UploadedFile>> {
    const at = this.#now();
    const found = (await this.#lookUp(ids)).filter(
      ({ account_id, test, expires_at }) =>
        account_id === uploader.accountId && (test || !uploader.test) && expires_at > at,
    );
    if (!(await this.#renew(found))) return this.ready(uploader, ids);
    return new Map(
      found.map(({ id, filename, bytes, sha256 }) => [
        id,
        { name: filename, path: '', bytes, sha256 },
      ]),
    );
  }

  /** Looks up ready files, without a statement if all are remembered and none must be renewed. */
  async #lookUp(ids: readonly string[]): Promise<ReadyFile[]> {
    const [now, endOfLife] = [this.#now().getTime(), this.#endOfLife()];
    const remembered = ids
      .flatMap((id) => this.#remembered.get(id) ?? [])
      .filter(({ file, until }) => until > now && file.expires_at >= endOfLife);
    if (remembered.length === ids.length) return remembered.map(({ file }) => file);
    const found = await this.#readyFiles(ids);
    this.#remember(found);
    return found;
  }

  #remember(files: readonly FileRow[]): void {
    const until = this.#now().getTime() + REMEMBERED_MS;
    for (const file of files.filter(isReady)) this.#remembered.set(file.id, { file, until });
    for (const id of this.#remembered.keys()) {
      if (this.#remembered.size <= MOST_REMEMBERED) break;
      this.#remembered.delete(id);
    }
  }

  /**
   * Reads the bytes of a ready file.
   * @throws BlobMissingError
   */
  read({ sha256 }: Pick<UploadedFile, 'sha256'>): Promise<Readable> {
    return this.#blobs.read(sha256);
  }

  /**
   * Removes expired files that no unfinished request reads.
   * @returns the number of files removed.
   */
  async removeExpired(): Promise<number> {
    const now = this.#now();
    await this.#blobs.removeAbandoned(now);
    const { rows } = await this.#database.query<{ sha256: string | null }>(
      `DELETE FROM files WHERE expires_at <= $1 AND created_at <= $2 AND NOT EXISTS (
         SELECT 1 FROM requests WHERE status IN ('queued', 'preparing', 'running')
           AND files || prior_files @> jsonb_build_array(jsonb_build_object('sha256', sha256)))
       RETURNING sha256`,
      [now, new Date(now.getTime() - UPLOAD_LIFE_MS)],
    );
    const digests = rows.flatMap(({ sha256 }) => sha256 ?? []);
    for (const sha256 of await unusedBlobs(this.#database, digests)) {
      await this.#blobs.remove(sha256, this.#now());
    }
    await this.#parts.removeLeftOver();
    return rows.length;
  }

  /** Returns when an upload expires: a day after it was announced, completed or last used. */
  #endOfLife(): Date {
    return new Date(this.#now().getTime() + UPLOAD_LIFE_MS);
  }

  /** Returns when a ready file expires: `#endOfLife`, and time until its expiry is extended. */
  #renewed(): Date {
    return new Date(this.#endOfLife().getTime() + RENEWED_EVERY_MS);
  }

  /**
   * Extends the life of files that a request uses, so that they expire 24 to 25 hours from now.
   * @returns false if one of them has expired and its bytes may have been removed.
   */
  async #renew(files: readonly FileRow[]): Promise<boolean> {
    const endOfLife = this.#endOfLife();
    const due = files.filter(({ expires_at }) => expires_at < endOfLife);
    if (due.length === 0) return true;
    const { rowCount } = await this.#database.query(
      'UPDATE files SET expires_at = $2 WHERE id = ANY($1::text[]) AND expires_at > $3',
      [due.map(({ id }) => id), this.#renewed(), this.#now()],
    );
    return rowCount === due.length;
  }

  #isInParts({ bytes }: FileRow): boolean {
    return bytes !== null && bytes > this.#limits.maxBytes;
  }

  /** @throws SonogateError `overloaded` if storing this many more bytes would fill the disk. */
  async #checkRoom(bytes: number): Promise<void> {
    const free = await unreservedBytes(this.#database, this.#blobs, this.#now());
    if (free - bytes < this.#limits.minFreeBytes) {
      throw new SonogateError('overloaded', 'There is currently no room for the file.');
    }
  }

  /**
   * Before the bytes of a pending file are replaced, keeps a row for the old bytes, as an expired
   * upload. Without a row, they would never be removed. Does nothing if there are no old bytes, or
   * if the new ones are the same.
   */
  async #leaveForRemoval(
    { account_id, test, filename, media_type, bytes, sha256, created_at }: FileRow,
    next: string | null,
  ): Promise<void> {
    if (sha256 === null || sha256 === next) return;
    await this.#database.query(
      `INSERT INTO files (id, account_id, test, filename, media_type, bytes, status, sha256,
         created_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $8, $9)`,
      [
        newId('file'),
        account_id,
        test,
        filename,
        media_type,
        bytes,
        sha256,
        created_at,
        this.#now(),
      ],
    );
  }

  async #pending(id: string): Promise<FileRow> {
    const { rows } = await this.#database.query<FileRow>(
      `SELECT * FROM files WHERE id = $1 AND status = 'pending' AND expires_at > $2`,
      [id, this.#now()],
    );
    if (!rows[0]) throw new SonogateError('not_found', 'There is no pending upload here.');
    return toFile(rows[0]);
  }

  /**
   * Returns the SHA-256 of the bytes that the client uploaded directly to the store; null if it
   * uploaded no bytes there.
   */
  async #takeIn(file: FileRow): Promise<string | null> {
    const { id, status, bytes } = file;
    const { direct } = this.#blobs;
    if (!direct || status !== 'pending' || bytes === null) return null;
    const taken = await direct.takeIn(id, bytes).catch((error: unknown) => {
      throw error instanceof WrongSizeError ? wrongSize(bytes, `${error.found} were sent`) : error;
    });
    if (!taken) return null;
    await this.#leaveForRemoval(file, taken.sha256);
    // The bytes are now stored only under their digest. They could no longer be found if the digest
    // were not recorded at once.
    await this.#database.query('UPDATE files SET sha256 = $2 WHERE id = $1', [id, taken.sha256]);
    return taken.sha256;
  }
}

/** Looks up the ready files of concurrently submitted requests in one query. */
const batchedReadyFiles = (database: Queryable) =>
  batched(async (asked: readonly (readonly string[])[]) => {
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
