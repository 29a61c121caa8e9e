import { randomUUID } from 'node:crypto';
import type { AssociationPeer, OutgoingObject, StorageService } from '../network/service-ports.ts';
import { failedResult, type StoreResult, type StoreTransport } from './store-scu.ts';

/** Name of the source under which the intake keeps this gateway's results. */
const LOCAL_SOURCE = 'local';
const PIECE_BYTES = 64 * 1024;

/**
 * Creates a transport that stores results in our own intake, with the study they belong to. The
 * intake recognises them by their series, like results returned by a PACS. They do not open a
 * revision, and are neither interpreted nor forwarded.
 */
export function localTransport(storage: StorageService, aeTitle: string): StoreTransport {
  return {
    commits: false,
    async send(objects, signal) {
      const peer: AssociationPeer = {
        id: randomUUID(),
        callingAeTitle: aeTitle,
        calledAeTitle: aeTitle,
        address: '',
        source: LOCAL_SOURCE,
      };
      const results: StoreResult[] = [];
      try {
        for (const [preferred] of objects) {
          if (!preferred) continue;
          signal.throwIfAborted();
          await keep(preferred, storage, peer);
          const { sopClassUid, sopInstanceUid } = preferred;
          const done = { outcome: 'stored', status: 0, code: null, detail: 'kept here' } as const;
          results.push({ sopClassUid, sopInstanceUid, ...done });
        }
      } catch (error) {
        results.push(failedResult(objects[results.length]?.[0]?.sopInstanceUid ?? '', error));
      } finally {
        await storage.ended(peer, 'released');
      }
      return results;
    },
  };
}

async function keep(
  { sopClassUid, sopInstanceUid, transferSyntax, read }: OutgoingObject,
  storage: StorageService,
  peer: AssociationPeer,
): Promise<void> {
  const sink = await storage.open({ sopClassUid, sopInstanceUid, transferSyntax }, peer);
  try {
    for await (const piece of read(PIECE_BYTES)) await sink.write(piece);
  } catch (error) {
    await sink.discard();
    throw error;
  }
  await sink.commit();
}
