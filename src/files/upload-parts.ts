import { Readable } from 'node:stream';
import type { Queryable } from '../database/port.ts';
import { SonogateError } from '../errors/catalogue.ts';
import { type BlobStore, TooManyBytesError } from './blob-store.ts';

/** A part as the client names it when it completes an upload. */
export interface NamedPart {
  part_number: number;
  etag: string;
}

/** Which bytes of the file a part holds; `sha256` is null until they have arrived. */
export interface PartState {
  partNumber: number;
  firstByte: number;
  bytes: number;
  sha256: string | null;
}

/** The parts of files that are too large for one PUT: in any order, each whole or not at all. */
export interface UploadParts {
  state(fileId: string, bytes: number): Promise<PartState[]>;
  /** @throws SonogateError `not_found`, `upload_incomplete`. */
  receive(
    fileId: string,
    bytes: number,
    partNumber: number,
    source: Readable,
    length: number | null,
  ): Promise<string>;
  /**
   * Puts the file together; returns its SHA-256.
   * @param named every part in ascending order with its ETag, or null for whatever has arrived
   * @throws SonogateError `upload_incomplete` naming the parts that are missing or differ.
   */
  assemble(fileId: string, bytes: number, named: readonly NamedPart[] | null): Promise<string>;
  /** Forgets the parts of files that are no longer pending, and their bytes. */
  removeLeftOver(): Promise<void>;
}

/** Bytes that were stored within this time are not removed (blob-folder.ts), nor is what names them. */
const IN_USE_MS = 2 * 3_600_000;

export function createUploadParts(
  database: Queryable,
  blobs: BlobStore,
  partBytes: number,
  now: () => Date,
): UploadParts {
  async function state(fileId: string, bytes: number): Promise<PartState[]> {
    const { rows } = await database.query<{ part_number: number; sha256: string }>(
      'SELECT part_number, sha256 FROM file_parts WHERE file_id = $1',
      [fileId],
    );
    const arrived = new Map(rows.map((row) => [row.part_number, row.sha256]));
    return Array.from({ length: Math.ceil(bytes / partBytes) }, (_, n) => ({
      partNumber: n + 1,
      firstByte: n * partBytes,
      bytes: Math.min(partBytes, bytes - n * partBytes),
      sha256: arrived.get(n + 1) ?? null,
    }));
  }

  return {
    state,

    async receive(fileId, bytes, partNumber, source, length) {
      const part = (await state(fileId, bytes)).find((each) => each.partNumber === partNumber);
      if (!part) throw new SonogateError('not_found', 'The upload has no such part.');
      const wrong = (found: string) =>
        incomplete(`part ${partNumber} has ${part.bytes} bytes and ${found}`);
      if (length !== null && length !== part.bytes) throw wrong(`${length} are sent`);
      const received = await blobs.write(source, part.bytes).catch((error: unknown) => {
        throw error instanceof TooManyBytesError ? wrong('more were sent') : error;
      });
      if (received.bytes !== part.bytes) throw wrong(`${received.bytes} were sent`);
      await database.query(
        `INSERT INTO file_parts (file_id, part_number, sha256, bytes, stored_at)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (file_id, part_number)
           DO UPDATE SET sha256 = EXCLUDED.sha256, stored_at = EXCLUDED.stored_at`,
        [fileId, partNumber, received.sha256, received.bytes, now()],
      );
      return received.sha256;
    },

    async assemble(fileId, bytes, named) {
      const parts = await state(fileId, bytes);
      const missing = parts.filter(({ sha256 }) => sha256 === null);
      if (missing.length > 0) throw incomplete(`missing parts: ${numbers(missing)}`);
      if (named) checkNamed(parts, named);
      async function* whole() {
        for (const { sha256 } of parts) yield* await blobs.read(sha256 ?? '');
      }
      return (await blobs.write(Readable.from(whole()), bytes)).sha256;
    },

    async removeLeftOver() {
      const { rows } = await database.query<{ sha256: string }>(
        `DELETE FROM file_parts WHERE stored_at <= $1 AND NOT EXISTS (
           SELECT 1 FROM files WHERE id = file_id AND status = 'pending')
         RETURNING sha256`,
        [new Date(now().getTime() - IN_USE_MS)],
      );
      for (const sha256 of new Set(rows.map((row) => row.sha256))) {
        const { rows: users } = await database.query(
          'SELECT 1 FROM files WHERE sha256 = $1 UNION ALL SELECT 1 FROM file_parts WHERE sha256 = $1',
          [sha256],
        );
        if (users.length === 0) await blobs.remove(sha256, now());
      }
    },
  };
}

/** S3's rule: every part, in ascending order, with the ETag that its PUT answered. */
function checkNamed(parts: readonly PartState[], named: readonly NamedPart[]): void {
  const differing = parts.filter(({ sha256 }, n) => named[n]?.etag.replaceAll('"', '') !== sha256);
  const ascending = named.every(({ part_number }, n) => part_number === parts[n]?.partNumber);
  if (!ascending || named.length !== parts.length) {
    throw incomplete('`parts` names every part once, in ascending order');
  }
  if (differing.length > 0) throw incomplete(`ETags differ: parts ${numbers(differing)}`);
}

const numbers = (parts: readonly PartState[]): string =>
  parts.map(({ partNumber }) => partNumber).join(', ');

function incomplete(detail: string): SonogateError {
  return new SonogateError('upload_incomplete', `${detail}; the upload can go on.`);
}
