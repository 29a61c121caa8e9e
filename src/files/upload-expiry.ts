import type { Queryable } from '../database/port.ts';
import { type BlobStore, UPLOAD_LIFE_MS } from './blob-store.ts';
import type { UploadParts } from './upload-parts.ts';

/** Added to a renewed life, so that a file of many requests does not cost one write in each. */
const RENEWED_EVERY_MS = 3_600_000;

/** How long uploads stay: a day after they were announced, completed or last used. */
export interface UploadExpiry {
  /** The end of a life that begins now. */
  endOfLife(): Date;
  /**
   * Keeps files that a request uses from now on for another day, and an hour longer.
   * @returns false when one of them has expired in the meantime: its bytes may have gone.
   */
  renew(files: readonly { id: string; expires_at: Date }[]): Promise<boolean>;
  /** Removes what has expired and no unfinished request reads; returns how many files. */
  removeExpired(): Promise<number>;
}

export function createUploadExpiry({
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
