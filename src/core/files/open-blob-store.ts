import { join } from 'node:path';
import type { Config } from '../../../config/schema.ts';
import { openBlobFolder } from './blob-folder.ts';
import type { BlobStore } from './blob-store.ts';

/**
 * Opens the installation's blob store: the bucket at `blobUrl`, or a folder in `dataDir`.
 * @throws the storage error if the bucket cannot be used.
 */
export async function openBlobStore({
  dataDir,
  blobUrl,
}: Pick<Config, 'dataDir' | 'blobUrl'>): Promise<BlobStore> {
  if (!blobUrl) return openBlobFolder(join(dataDir, 'files'));
  // Imported only when needed: without S3 storage, the S3 client is not loaded.
  const { openS3BlobStore } = await import('./blob-s3.ts');
  return openS3BlobStore(blobUrl, join(dataDir, 'spool'));
}
