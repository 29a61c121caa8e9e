import type { Queryable } from '../database/port.ts';
import type { BlobStore } from './blob-store.ts';

/**
 * Free bytes of the store less those that uploads under way have been promised and have not brought
 * yet: the whole of a file that comes in one PUT, and of one in parts what has not arrived. A file that
 * did not say its size counts nothing. `Infinity` when the store does not say how much is free.
 */
export async function unpromisedBytes(
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
