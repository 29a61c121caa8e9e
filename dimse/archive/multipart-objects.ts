import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { SonogateError } from '../../src/errors/catalogue.ts';
import { bodyParts, dicomBoundary } from '../dicomweb/multipart-related.ts';
import type { AssociationPeer, StorageService } from '../network/storage-service.ts';
import { storeFile } from '../store-file.ts';

export interface StoredParts {
  stored: number;
  failed: number;
  /** Of the last one that failed; '' when none did. */
  detail: string;
}

/**
 * Stores the objects of a WADO-RS answer as they come, one after the other: nothing is collected, and
 * a disk that is slow holds up the server. An object that cannot be taken costs no other.
 * @throws SonogateError `archive_refused_query` when it is no list of objects, `peer_unreachable`
 * when it breaks off.
 */
export async function storeParts(
  { headers, body }: { headers: Dispatcher.ResponseData['headers']; body: Readable },
  storage: StorageService,
  peer: AssociationPeer,
): Promise<StoredParts> {
  const told: StoredParts = { stored: 0, failed: 0, detail: '' };
  const store = async (file: AsyncIterable<Buffer>) => {
    try {
      await storeFile(file, storage, peer);
      told.stored += 1;
    } catch (error) {
      told.failed += 1;
      told.detail = error instanceof Error ? error.message : String(error);
    }
  };
  const type = String(headers['content-type'] ?? '');
  if (/^application\/dicom\b/i.test(type)) {
    await store(body);
    return told;
  }
  const boundary = dicomBoundary(type);
  if (boundary === null) {
    body.destroy();
    throw new SonogateError('archive_refused_query', 'The answer is no multipart/related.');
  }
  try {
    for await (const { bytes } of bodyParts(body, boundary)) await store(bytes);
  } catch (error) {
    body.destroy();
    throw new SonogateError('peer_unreachable', (error as Error).message, { cause: error });
  }
  return told;
}
