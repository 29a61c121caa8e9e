import { Readable } from 'node:stream';
import type { Queryable } from '../database/port.ts';
import { SonogateError } from '../errors/catalogue.ts';
import { type BlobStore, TooManyBytesError } from './blob-store.ts';
import { checkArrived, checkNamed, incomplete, partsOf, type UploadParts } from './upload-parts.ts';

/** Bytes that were stored within this time are not removed (blob-folder.ts), nor is what names them. */
const IN_USE_MS = 2 * 3_600_000;

/** Parts that the gateway takes in, each kept as a blob of its own; the ETag is its SHA-256. */
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
      checkArrived(parts);
      if (named) checkNamed(parts, named);
      async function* whole() {
        for (const { etag } of parts) yield* await blobs.read(etag ?? '');
      }
      return (await blobs.write(Readable.from(whole()), bytes)).sha256;
    },

    // The upload itself no longer takes any (uploads.ts); the bytes go when they are not in use.
    abort: async () => {},

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
