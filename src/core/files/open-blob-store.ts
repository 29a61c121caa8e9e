import { join } from 'node:path';
import type { Config } from '../../../config/schema.ts';
import { openBlobFolder } from './blob-folder.ts';
import type { BlobStore } from './blob-store.ts';

/**
 * Opens the blob store of a site: the bucket at `blobUrl`, or a folder of `dataDir`.
 * @throws the storage's error when the bucket cannot be used.
 */
export async function openBlobStore({
  dataDir,
  blobUrl,
}: Pick<Config, 'dataDir' | 'blobUrl'>): Promise<BlobStore> {
  if (!blobUrl) return openBlobFolder(join(dataDir, 'files'));
  // Imported only here, so that a site without S3 storage does not load the S3 client.
  const { openS3BlobStore } = await import('./blob-s3.ts');
  return openS3BlobStore(blobUrl, join(dataDir, 'spool'));
}
