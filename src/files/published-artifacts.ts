import { createReadStream } from 'node:fs';
import type { Queryable } from '../database/port.ts';
import type { ArtifactEntry } from '../requests/artifacts.ts';
import type { BlobStore } from './blob-store.ts';
import { artifactPath } from './results.ts';

/**
 * Puts a stored result and its artifacts into a bucket, where every process and machine of the site
 * finds them and clients download by themselves. A folder keeps them where they are.
 */
export async function publishArtifacts(
  blobs: BlobStore,
  dataDir: string,
  id: string,
  artifacts: readonly ArtifactEntry[],
): Promise<void> {
  if (!blobs.direct) return;
  for (const { name, bytes } of artifacts) {
    const path = await artifactPath(dataDir, id, name, 'succeeded');
    if (path !== null) await blobs.write(createReadStream(path), bytes);
  }
}

/** Removes those copies, unless another request or an upload has the same bytes. */
export async function withdrawArtifacts(
  blobs: BlobStore,
  database: Queryable,
  id: string,
  now: Date,
): Promise<void> {
  if (!blobs.direct) return;
  const { rows } = await database.query<{ sha256: string }>(
    `SELECT DISTINCT sha256 FROM request_artifacts own WHERE request_id = $1
       AND NOT EXISTS (SELECT 1 FROM request_artifacts WHERE sha256 = own.sha256 AND request_id <> $1)
       AND NOT EXISTS (SELECT 1 FROM files WHERE sha256 = own.sha256)
       AND NOT EXISTS (SELECT 1 FROM file_parts WHERE sha256 = own.sha256)
       AND NOT EXISTS (SELECT 1 FROM instances WHERE file_sha256 = own.sha256)`,
    [id],
  );
  for (const { sha256 } of rows) await blobs.remove(sha256, now);
}
