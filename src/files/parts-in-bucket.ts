import type { Queryable } from '../database/port.ts';
import { SonogateError } from '../errors/catalogue.ts';
import { type DirectAccess, PartDiffersError, WrongSizeError } from './blob-store.ts';
import {
  checkArrived,
  checkNamed,
  checkOrder,
  incomplete,
  partsOf,
  type UploadParts,
  unquoted,
} from './upload-parts.ts';

/** Parts that clients PUT to the storage by themselves, as one multipart upload of S3 for each file. */
export function createPartsInBucket(
  database: Queryable,
  direct: DirectAccess,
  partBytes: number,
): UploadParts {
  const { multipart } = direct;

  async function uploadOf(fileId: string): Promise<string | null> {
    const { rows } = await database.query<{ upload_id: string }>(
      'SELECT upload_id FROM multipart_uploads WHERE file_id = $1',
      [fileId],
    );
    return rows[0]?.upload_id ?? null;
  }

  async function begin(fileId: string): Promise<string> {
    const begun = await multipart.begin(fileId);
    const { rowCount } = await database.query(
      'INSERT INTO multipart_uploads (file_id, upload_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
      [fileId, begun],
    );
    if (rowCount === 1) return begun;
    await multipart.abort(fileId, begun);
    return (await uploadOf(fileId)) ?? begun;
  }

  const forget = (fileId: string) =>
    database.query('DELETE FROM multipart_uploads WHERE file_id = $1', [fileId]);

  async function state(fileId: string, bytes: number) {
    const uploadId = await uploadOf(fileId);
    const arrived = uploadId === null ? [] : await multipart.arrived(fileId, uploadId);
    return partsOf(
      bytes,
      partBytes,
      new Map(arrived.map(({ partNumber, etag }) => [partNumber, unquoted(etag)])),
    );
  }

  return {
    state,

    async url(fileId, { partNumber, bytes }, seconds) {
      const uploadId = (await uploadOf(fileId)) ?? (await begin(fileId));
      return multipart.partUrl(fileId, uploadId, { partNumber, bytes }, seconds);
    },

    async receive() {
      throw new SonogateError('not_found', 'The parts of this upload go to the storage itself.');
    },

    async assemble(fileId, bytes, named) {
      const uploadId = await uploadOf(fileId);
      if (uploadId === null) throw incomplete('no part has arrived');
      const parts = named
        ? partsOf(bytes, partBytes, new Map(named.map((n) => [n.part_number, unquoted(n.etag)])))
        : await state(fileId, bytes);
      if (named) checkOrder(parts, named);
      checkArrived(parts);
      try {
        await multipart.join(
          fileId,
          uploadId,
          parts.map(({ partNumber, etag }) => ({ partNumber, etag: etag ?? '' })),
        );
      } catch (error) {
        if (!(error instanceof PartDiffersError)) throw error;
        if (named) checkNamed(await state(fileId, bytes), named);
        throw incomplete('parts are missing or differ');
      }
      // From here on the storage knows the upload no more: other bytes need another one.
      await forget(fileId);
      const taken = await direct.takeIn(fileId, bytes).catch((error: unknown) => {
        throw error instanceof WrongSizeError
          ? incomplete(
              `the parts have ${error.found} bytes together, not ${bytes}: send them again`,
            )
          : error;
      });
      if (!taken) throw incomplete('the parts are gone: send them again');
      return taken.sha256;
    },

    async abort(fileId) {
      const uploadId = await uploadOf(fileId);
      if (uploadId === null) return;
      await multipart.abort(fileId, uploadId);
      await forget(fileId);
    },

    async removeLeftOver() {
      const { rows } = await database.query<{ file_id: string }>(
        `SELECT file_id FROM multipart_uploads WHERE NOT EXISTS (
           SELECT 1 FROM files WHERE id = file_id AND status = 'pending')`,
      );
      for (const { file_id } of rows) await this.abort(file_id);
    },
  };
}
