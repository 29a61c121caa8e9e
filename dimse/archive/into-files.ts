import { open, rename, rm } from 'node:fs/promises';
import { encodeFileMeta } from '../../pipelines/dicom/part10.ts';
import type { FetchArchivedObjects } from '../../src/core/files/archived-objects.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { ObjectSink, StorageService } from '../network/service-ports.ts';
import type { Archive } from './archive.ts';

/**
 * Creates the function that fetches the objects of a request, from configured archives only.
 * @param limits the maximum size of one object, and the time limit for all objects of a request.
 */
export function fetchIntoFiles(
  archives: readonly Archive[],
  { maxObjectBytes, timeoutSeconds }: { maxObjectBytes: number; timeoutSeconds: number },
): FetchArchivedObjects {
  return async (wanted, signal) => {
    const [first] = wanted;
    if (!first) return [];
    const { archive: name, studyInstanceUid } = first.object;
    const archive = archives.find((one) => one.name === name);
    if (!archive) {
      throw new SonogateError('not_found', `The archive ${name} is no longer configured.`);
    }
    const missing = new Map(wanted.map(({ object, path }) => [object.sopInstanceUid, path]));
    const objects = wanted.map(({ object }) => ({ ...object, modality: '' }));
    const into = filesFor(missing, maxObjectBytes);
    const late = AbortSignal.timeout(timeoutSeconds * 1000);
    const found = { studyInstanceUid, objects, whole: false, source: name, into };
    try {
      await archive.retrieve(found, { signal: AbortSignal.any([signal, late]) });
    } catch (error) {
      signal.throwIfAborted();
      if (late.aborted) throw new SonogateError('peer_unavailable', `${name} was too slow.`);
      throw error;
    }
    return [...missing.values()];
  };
}

/**
 * Creates a storage service that writes each object of `missing` (SOP Instance UID to path) to its
 * path, and then removes it from `missing`. An object that is not in `missing`, or is too large, is
 * refused.
 */
function filesFor(missing: Map<string, string>, maxObjectBytes: number): StorageService {
  return {
    async open(object, peer): Promise<ObjectSink> {
      const { sopInstanceUid } = object;
      const path = missing.get(sopInstanceUid);
      if (path === undefined) throw new SonogateError('object_mismatch', 'It was not requested.');
      const making = `${path}.part`;
      const file = await open(making, 'wx');
      let bytes = 0;
      const discard = async () => {
        await file.close();
        await rm(making, { force: true });
      };
      await file.write(
        encodeFileMeta({
          ...object,
          sourceAeTitle: peer.callingAeTitle,
          receivingAeTitle: peer.calledAeTitle,
        }),
      );
      return {
        async write(chunk) {
          bytes += chunk.length;
          if (bytes > maxObjectBytes) throw new SonogateError('object_too_large');
          await file.write(chunk);
        },
        async commit() {
          await file.close();
          await rename(making, path);
          missing.delete(sopInstanceUid);
        },
        discard,
      };
    },
    ended: async () => {},
  };
}
