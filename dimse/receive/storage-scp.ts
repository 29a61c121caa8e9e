import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { encodeFileMeta, type FileMeta } from '../../pipelines/dicom/part10.ts';
import type { ReceivedObjects } from '../../src/core/files/received-objects.ts';
import {
  type RegistrationOptions,
  RowMayExistError,
  registerObject,
  type StoredObject,
} from '../../src/core/studies/arrival.ts';
import { newPlace, syncFolder } from '../../src/core/studies/intake-folder.ts';
import type { Arrival } from '../../src/core/studies/study-store.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import { EVENTS } from '../../src/platform/logging/events.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import type {
  AssociationEnd,
  AssociationPeer,
  IncomingObject,
  ObjectSink,
  StorageService,
} from '../network/service-ports.ts';
import { createSourceLimits, type SourceLimits } from './admission.ts';
import { type DicomAudit, NO_AUDIT } from './audit.ts';
import { noteReceptions, watchReleases } from './receptions.ts';

interface IntakeOptions extends RegistrationOptions {
  limits: Pick<Config['dicom'], 'maxObjectBytes' | 'minFreeBytes'>;
  sourceLimits: SourceLimits;
  /** Called when the row of an object is committed, before its status is sent. */
  onArrival: (peer: AssociationPeer, source: string, arrival: Arrival) => void;
  onAssociationEnd: (peer: AssociationPeer, end: AssociationEnd) => Promise<void>;
}

/**
 * The durable side of C-STORE. `commit` resolves after the file was written and synced, its folder
 * synced and its row committed, in this order: nothing that was answered 0000H can be lost. A
 * refused object leaves nothing behind; a file without a row is registered at the next start
 * (`recoverIntake`).
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
  // Objects that we retrieved ourselves come from a node that may be no source.
  const limited = sources.find(({ name }) => name === source);
  if (limited && !sourceLimits.admitObject(limited)) throw new SonogateError('source_over_limit');

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
      // Hashed while the disk writes.
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
        if (error instanceof RowMayExistError) throw error.cause;
        await forget(place, options);
        throw error;
      }
      options.onArrival(peer, source, arrival);
    },
    discard,
  };
}

/**
 * Deletes the files of a refused object: the sender still has it, and its retries would fill the
 * disk.
 */
async function forget(
  { partial, complete }: { partial: string; complete: string },
  { dataDir, logger }: IntakeOptions,
): Promise<void> {
  try {
    for (const path of [partial, complete]) await rm(join(dataDir, path), { force: true });
  } catch (error) {
    // The next start registers or removes the file.
    logger.event(EVENTS.objectLeftover, { error: String(error) });
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

/** The result of receiving one object. */
export interface Reception {
  outcome: 'stored' | 'refused' | 'broken-off';
  /** Bytes of the data set that arrived. */
  bytes: number;
  /** Seconds from the C-STORE request until the object is safe, or is not. */
  seconds: number;
}

/** A storage service that reports the result of each reception. */
function measuredStorage(
  storage: StorageService,
  onReception: (peer: AssociationPeer, reception: Reception) => void,
): StorageService {
  return {
    ...storage,
    async open(object, peer) {
      const began = performance.now();
      let bytes = 0;
      const report = (outcome: Reception['outcome']) =>
        onReception(peer, { outcome, bytes, seconds: (performance.now() - began) / 1000 });
      const refused = (error: unknown) => {
        report('refused');
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
          report('stored');
        },
        discard() {
          report('broken-off');
          return sink.discard();
        },
      };
    },
  };
}

export interface StorageScpParts {
  config: Pick<Config, 'dataDir' | 'dicom' | 'sources'>;
  database: Database;
  objects: ReceivedObjects;
  /** Called with the result of each reception. */
  onReception?: (peer: AssociationPeer, reception: Reception) => void;
  audit?: DicomAudit;
  logger: Logger;
  now: () => Date;
}

/**
 * The storage services for objects that arrive by C-STORE, STOW-RS or our own retrievals. They
 * share one intake and one count of the limits.
 */
export interface StorageScp {
  /** For objects that others send. */
  storage: StorageService;
  /** For objects that we retrieve ourselves, which are not counted as receptions. */
  unmeasured: StorageService;
  sourceLimits: SourceLimits;
}

export function createStorageScp({
  config: { dataDir, dicom, sources },
  database,
  objects,
  onReception = () => {},
  audit = NO_AUDIT,
  logger,
  now,
}: StorageScpParts): StorageScp {
  const releases = watchReleases({ sources, database, logger, now });
  const sourceLimits = createSourceLimits();
  const intake = createIntake({
    dataDir,
    database,
    objects,
    sources,
    logger,
    now,
    sourceLimits,
    limits: dicom,
    onArrival: (peer, source, arrival) => {
      audit.arrived(peer, arrival.studyId);
      releases.arrived(peer, source, arrival);
    },
    onAssociationEnd: async (peer, end) => {
      await releases.ended(peer, end);
      await audit.ended(peer, end);
    },
  });
  const unmeasured = noteReceptions(intake, { sources, database, now });
  return { unmeasured, storage: measuredStorage(unmeasured, onReception), sourceLimits };
}
