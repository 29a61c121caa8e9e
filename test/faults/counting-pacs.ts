import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Listener, listen } from '../../dimse/network/listener.ts';
import type { ObjectSink, StorageService } from '../../dimse/network/service-ports.ts';
import { STATUS } from '../../dimse/network/status.ts';
import type { CommitmentReport } from '../../dimse/services/commitment-message.ts';
import { sendCommitmentReport } from '../../dimse/services/commitment-scp.ts';
import { sopReferences, uidOf } from '../../dimse/services/referenced-objects.ts';
import { decodeDataSet } from '../../pipelines/dicom/data-set.ts';
import { STORAGE_COMMITMENT } from '../../pipelines/dicom/sop-classes.ts';
import {
  COMPRESSED_TRANSFER_SYNTAXES,
  EXPLICIT_VR_LITTLE_ENDIAN,
  IMPLICIT_VR_LITTLE_ENDIAN,
  NATIVE_TRANSFER_SYNTAXES,
} from '../../pipelines/dicom/transfer-syntaxes.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { freePort } from '../peers/free-port.ts';

/**
 * How a PACS behaves.
 *
 *   well          accepts and keeps what it is sent
 *   dead          does not listen
 *   slow          waits for seconds before each response
 *   rejecting     answers every association request with A-ASSOCIATE-RJ
 *   out of room   answers each object with A700H
 *   no contexts   accepts no presentation context
 *   lying         answers 0000H, keeps nothing, and commits to nothing
 */
export type PacsMood =
  | 'well'
  | 'dead'
  | 'slow'
  | 'rejecting'
  | 'out of room'
  | 'no contexts'
  | 'lying';

/** An object that was answered with success, and the digest of its data set. */
export interface Taken {
  sopInstanceUid: string;
  dataSetSha256: string;
  kept: boolean;
}

/** A PACS that counts what it receives. Its behavior can be changed at any time. */
export interface CountingPacs {
  port: number;
  /** Every C-STORE that was answered with 0000H, in order. */
  taken: readonly Taken[];
  /** Number of C-STOREs and associations that failed because of the mood. */
  refusals: number;
  be(mood: PacsMood): Promise<void>;
  close(): Promise<void>;
}

const SLOW_MS = 4000;

/**
 * Starts the PACS.
 * @param gatewayPort port to which storage commitment reports are sent.
 */
export async function startCountingPacs(gatewayPort: number): Promise<CountingPacs> {
  const port = await freePort();
  const taken: Taken[] = [];
  const held = new Set<string>();
  let mood: PacsMood = 'well';
  let listener: Listener | null = null;

  const storage: StorageService = {
    async open({ sopInstanceUid }): Promise<ObjectSink> {
      if (mood === 'out of room') {
        pacs.refusals += 1;
        throw new SonogateError('overloaded');
      }
      const hash = createHash('sha256');
      return {
        write: async (bytes) => void hash.update(bytes),
        async commit() {
          if (mood === 'slow') await delay(SLOW_MS);
          const kept = mood !== 'lying';
          if (kept) held.add(sopInstanceUid);
          else pacs.refusals += 1;
          taken.push({ sopInstanceUid, dataSetSha256: hash.digest('hex'), kept });
        },
        discard: async () => {},
      };
    },
    ended: async () => {},
  };
  /**
   * Sends the report over a separate association, as archives do (PS3.4 J.3.3), until it is
   * answered.
   */
  const tell = async (report: CommitmentReport) => {
    const gateway = {
      host: '127.0.0.1',
      port: gatewayPort,
      aeTitle: 'SONOGATE',
      callingAeTitle: 'PACS',
      timeoutSeconds: 5,
    };
    for (let left = 60; left > 0 && listener; left -= 1) {
      const heard = await sendCommitmentReport(gateway, report).then(
        () => true,
        () => false,
      );
      if (heard) return;
      await delay(1000);
    }
  };
  const start = () =>
    listen({
      host: '127.0.0.1',
      port,
      aeTitle: null,
      maxPduBytes: 131_072,
      maxAssociations: 64,
      offer: (abstractSyntax) => {
        if (mood === 'no contexts') {
          pacs.refusals += 1;
          return null;
        }
        if (abstractSyntax === STORAGE_COMMITMENT) {
          return { preferred: [], others: [EXPLICIT_VR_LITTLE_ENDIAN, IMPLICIT_VR_LITTLE_ENDIAN] };
        }
        return {
          preferred: [],
          others: [...COMPRESSED_TRANSFER_SYNTAXES, ...NATIVE_TRANSFER_SYNTAXES],
        };
      },
      admit: () => {
        if (mood !== 'rejecting') return { idleTimeoutSeconds: 60 };
        pacs.refusals += 1;
        return { refused: 'calling_ae_not_recognized' };
      },
      storage,
      async normalized({ dataSet, transferSyntax }) {
        const asked = decodeDataSet(dataSet, transferSyntax);
        const references = sopReferences(asked.ReferencedSOPSequence);
        const failed = references.filter(({ sopInstanceUid }) => !held.has(sopInstanceUid));
        const report = {
          transactionUid: uidOf(asked.TransactionUID) ?? '',
          committed: references.filter(({ sopInstanceUid }) => held.has(sopInstanceUid)),
          failed: failed.map((each) => ({ ...each, reason: STATUS.noSuchSopInstance })),
        };
        void tell(report);
        return { status: STATUS.success };
      },
      logger: silentLogger,
    });

  const pacs: CountingPacs = {
    port,
    taken,
    refusals: 0,
    async be(next) {
      mood = next;
      if (next === 'dead') {
        await listener?.close(0);
        listener = null;
      } else {
        listener ??= await start();
      }
    },
    async close() {
      await listener?.close(0);
    },
  };
  await pacs.be('well');
  return pacs;
}
