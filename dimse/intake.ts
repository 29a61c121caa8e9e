import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../config/schema.ts';
import { SonogateError } from '../src/errors/catalogue.ts';
import { newPlace, syncFolder } from './intake-folder.ts';
import type {
  AssociationEnd,
  AssociationPeer,
  IncomingObject,
  ObjectSink,
  StorageService,
} from './network/storage-service.ts';
import { encodeFileMeta, type FileMeta } from './part10.ts';
import { type RegistrationOptions, registerObject, type StoredObject } from './registration.ts';
import type { SourceLimits } from './source-limits.ts';
import { RowMayStandError } from './study-arrival.ts';
import type { Arrival } from './study-store.ts';

export interface IntakeOptions extends RegistrationOptions {
  limits: Pick<Config['dicom'], 'maxObjectBytes' | 'minFreeBytes'>;
  sourceLimits: SourceLimits;
  /** Called when the row of an object is committed, before its status is sent. */
  onArrival: (peer: AssociationPeer, source: string, arrival: Arrival) => void;
  onAssociationEnd: (peer: AssociationPeer, end: AssociationEnd) => Promise<void>;
}

/**
 * The durable side of C-STORE. `commit` resolves after write, fsync of file and folder, and commit
 * of the row, in this order, so that nothing that got 0000H can be lost; what is refused leaves
 * nothing, and what was on the disk without a row is taken up at the next start (intake-recovery.ts).
 */
export function createIntake(options: IntakeOptions): StorageService {
  return {
    open: (object, peer) => openSink(object, peer, options),
    ended: options.onAssociationEnd,
  };
}

async function openSink(
  object: IncomingObject,
  peer: AssociationPeer,
  options: IntakeOptions,
): Promise<ObjectSink> {
  const { dataDir, sources, limits, sourceLimits, now } = options;
  await requireFreeSpace(dataDir, limits.minFreeBytes);
  const { source } = peer;
  if (source === undefined) throw new SonogateError('calling_ae_not_recognized');
  // What we fetched ourselves comes from a node that is no source.
  const limited = sources.find(({ name }) => name === source);
  if (limited && !sourceLimits.takeObject(limited)) throw new SonogateError('source_over_limit');

  const meta: FileMeta = {
    ...object,
    sourceAeTitle: peer.callingAeTitle,
    receivingAeTitle: peer.calledAeTitle,
  };
  const prefix = encodeFileMeta(meta);
  const place = await newPlace(dataDir, source, now());
  const file = await open(join(dataDir, place.partial), 'wx');
  const discard = async () => {
    await file.close();
    await rm(join(dataDir, place.partial), { force: true });
  };
  await file.writeFile(prefix).catch(async (error) => {
    await discard();
    throw error;
  });
  const whole = createHash('sha256').update(prefix);
  const dataSet = createHash('sha256');
  let dataSetBytes = 0;

  return {
    async write(bytes) {
      dataSetBytes += bytes.length;
      if (limited) sourceLimits.countBytes(limited, bytes.length);
      if (dataSetBytes > limits.maxObjectBytes) throw new SonogateError('object_too_large');
      const written = file.writeFile(bytes);
      // Taken while the disk works.
      whole.update(bytes);
      dataSet.update(bytes);
      await written;
    },
    async commit() {
      const stored: StoredObject = {
        path: place.complete,
        meta,
        bytes: prefix.length + dataSetBytes,
        fileSha256: whole.digest('hex'),
        dataSetSha256: dataSet.digest('hex'),
        source,
        statedStudy: object.statedStudy,
      };
      let arrival: Arrival;
      try {
        await makeDurable(file, join(dataDir, place.partial), join(dataDir, place.complete));
        arrival = await registerObject(stored, options);
      } catch (error) {
        if (error instanceof RowMayStandError) throw error.cause;
        await forget(place, options);
        throw error;
      }
      options.onArrival(peer, source, arrival);
    },
    discard,
  };
}

/** The sender keeps what it was refused: one that tries again would fill the disk with copies. */
async function forget(
  { partial, complete }: { partial: string; complete: string },
  { dataDir, logger }: IntakeOptions,
): Promise<void> {
  try {
    for (const path of [partial, complete]) await rm(join(dataDir, path), { force: true });
  } catch (error) {
    // It is taken up or removed at the next start.
    logger.error({ error: String(error) }, 'a partial object could not be removed');
  }
}

async function makeDurable(file: FileHandle, partial: string, complete: string): Promise<void> {
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, complete);
  await syncFolder(dirname(complete));
}

async function requireFreeSpace(dataDir: string, minFreeBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir);
  if (bavail * bsize < minFreeBytes) throw new SonogateError('overloaded');
}
