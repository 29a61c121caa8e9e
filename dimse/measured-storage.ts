import type { AssociationPeer, ObjectSink, StorageService } from './network/storage-service.ts';

/** How the reception of one object went. */
export interface Reception {
  outcome: 'stored' | 'refused' | 'broken-off';
  /** Of the data set, as far as it came. */
  bytes: number;
  /** From the C-STORE request to the moment when the object is safe, or not. */
  seconds: number;
}

/** A storage service that tells of each object how its reception went. */
export function measuredStorage(
  storage: StorageService,
  onReception: (peer: AssociationPeer, reception: Reception) => void,
): StorageService {
  return {
    ...storage,
    async open(object, peer) {
      const began = performance.now();
      let bytes = 0;
      const tell = (outcome: Reception['outcome']) =>
        onReception(peer, { outcome, bytes, seconds: (performance.now() - began) / 1000 });
      const refused = (error: unknown) => {
        tell('refused');
        throw error;
      };
      const sink: ObjectSink = await storage.open(object, peer).catch(refused);
      return {
        write(piece) {
          bytes += piece.length;
          return sink.write(piece);
        },
        async commit() {
          await sink.commit().catch(refused);
          tell('stored');
        },
        discard() {
          tell('broken-off');
          return sink.discard();
        },
      };
    },
  };
}
