import type { AssociationPeer, IncomingObject, StorageService } from './network/storage-service.ts';
import { decodeFileMeta, MAX_META_BYTES } from './part10.ts';

/**
 * Puts a DICOM file (PS3.10) that comes in pieces into a storage: its file meta information is read
 * and made anew, its data set is kept as it is. Resolves when the object is safe.
 * @throws SonogateError `object_not_understood` when it is no DICOM file; what the storage throws.
 */
export async function storeFile(
  pieces: AsyncIterable<Buffer>,
  storage: StorageService,
  peer: AssociationPeer,
): Promise<IncomingObject> {
  const iterator = pieces[Symbol.asyncIterator]();
  const start: Buffer[] = [];
  let bytes = 0;
  while (bytes < MAX_META_BYTES) {
    const { value, done } = await iterator.next();
    if (done) break;
    start.push(value);
    bytes += value.length;
  }
  const head = Buffer.concat(start);
  const { meta, dataSetOffset } = decodeFileMeta(head);
  const { sopClassUid, sopInstanceUid, transferSyntax } = meta;
  const object = { sopClassUid, sopInstanceUid, transferSyntax };
  const sink = await storage.open(object, peer);
  try {
    await sink.write(head.subarray(dataSetOffset));
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      await sink.write(next.value);
    }
  } catch (error) {
    await sink.discard();
    throw error;
  }
  await sink.commit();
  return object;
}
