import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Dicer } from '@fastify/busboy';
import type { Dispatcher } from 'undici';
import { SonogateError } from '../../src/errors/catalogue.ts';
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
  { headers, body }: Pick<Dispatcher.ResponseData, 'headers' | 'body'>,
  storage: StorageService,
  peer: AssociationPeer,
): Promise<StoredParts> {
  const told: StoredParts = { stored: 0, failed: 0, detail: '' };
  const store = async (part: Readable) => {
    try {
      await storeFile(part, storage, peer);
      told.stored += 1;
    } catch (error) {
      told.failed += 1;
      told.detail = error instanceof Error ? error.message : String(error);
      await readToEnd(part);
    }
  };
  const type = String(headers['content-type'] ?? '');
  if (/^application\/dicom\b/i.test(type)) {
    await store(body);
    return told;
  }
  const boundary = boundaryOf(type);
  if (boundary === null) {
    body.destroy();
    throw new SonogateError('archive_refused_query', 'The answer is no multipart/related.');
  }
  let work: Promise<void> = Promise.resolve();
  let coming: Readable | null = null;
  const dicer = new Dicer({ boundary });
  dicer.on('part', (part: Readable) => {
    // Seen by who reads the part; without a listener it would end the process.
    part.on('error', () => {});
    coming = part;
    work = work.then(() => store(part));
  });
  try {
    await pipeline(body, dicer);
  } catch (error) {
    const lost = new SonogateError('peer_unreachable', (error as Error).message, { cause: error });
    destroy(coming, lost);
    await work;
    throw lost;
  }
  await work;
  return told;
}

/** A part that breaks off never ends by itself. */
function destroy(part: Readable | null, error: Error): void {
  part?.destroy(error);
}

/** What is left of a part must be read, else the next one never comes. */
async function readToEnd(part: Readable): Promise<void> {
  try {
    for await (const _ of part);
  } catch {
    // It broke off: so does the answer, which says so.
  }
}

/** RFC 2046 5.1.1: with or without quotation marks, 1 to 70 characters. */
function boundaryOf(contentType: string): string | null {
  if (!/^multipart\/related\b/i.test(contentType)) return null;
  const match = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType);
  return match?.[1] ?? match?.[2] ?? null;
}
