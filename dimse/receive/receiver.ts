import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeFileMeta } from '../../pipelines/dicom/part10.ts';
import {
  COMPRESSED_TRANSFER_SYNTAXES,
  NATIVE_TRANSFER_SYNTAXES,
} from '../../pipelines/dicom/transfer-syntaxes.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import { type Listener, listen } from '../network/listener.ts';
import type { IncomingObject, StorageService } from '../network/service-ports.ts';

export interface ReceivedObject extends IncomingObject {
  path: string;
  callingAeTitle: string;
}

/**
 * Starts a small storage SCP that writes what it receives into a folder, as `<SOP Instance
 * UID>.dcm`. It is the PACS of the demo and of the tests, and accepts every SOP class from any
 * caller.
 */
export async function startReceiver(options: {
  folder: string;
  host: string;
  port: number;
  logger: Logger;
  onObject?: (object: ReceivedObject) => void;
}): Promise<Listener> {
  await mkdir(options.folder, { recursive: true });
  const storage: StorageService = {
    async open(object, peer) {
      const partial = join(options.folder, `${randomUUID()}.part`);
      const path = join(options.folder, `${object.sopInstanceUid}.dcm`);
      const file = await open(partial, 'wx');
      await file.write(
        encodeFileMeta({
          ...object,
          sourceAeTitle: peer.callingAeTitle,
          receivingAeTitle: peer.calledAeTitle,
        }),
      );
      return {
        async write(bytes) {
          await file.writeFile(bytes);
        },
        async commit() {
          await file.close();
          await rename(partial, path);
          options.onObject?.({ ...object, path, callingAeTitle: peer.callingAeTitle });
        },
        async discard() {
          await file.close();
          await rm(partial, { force: true });
        },
      };
    },
    async ended() {},
  };
  return listen({
    host: options.host,
    port: options.port,
    aeTitle: null,
    maxPduBytes: RECEIVER_MAX_PDU_BYTES,
    maxAssociations: RECEIVER_MAX_ASSOCIATIONS,
    offer: () => ({
      preferred: [],
      others: [...COMPRESSED_TRANSFER_SYNTAXES, ...NATIVE_TRANSFER_SYNTAXES],
    }),
    admit: () => ({ idleTimeoutSeconds: RECEIVER_IDLE_SECONDS }),
    storage,
    logger: options.logger,
  });
}

const RECEIVER_MAX_PDU_BYTES = 131_072;
const RECEIVER_MAX_ASSOCIATIONS = 16;
const RECEIVER_IDLE_SECONDS = 300;
