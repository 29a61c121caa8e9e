import { createReadStream } from 'node:fs';
import type { Queryable } from '../database/port.ts';
import type { ArtifactEntry } from '../requests/artifacts.ts';
import type { BlobStore } from './blob-store.ts';
import { artifactPath } from './results.ts';

/**
 * Copies the artifacts of a stored result to a store from which clients download by themselves. The
 * copy only spares the gateway the download: the result store has them all the same.
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
       AND NOT EXISTS (SELECT 1 FROM file_parts WHERE sha256 = own.sha256)`,
    [id],
  );
  for (const { sha256 } of rows) await blobs.remove(sha256, now);
}
