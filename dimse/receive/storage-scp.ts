import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { elementHeader, SEQUENCE_END } from '../../pipelines/dicom/elements.ts';
import { encodeFileMeta, type FileMeta } from '../../pipelines/dicom/part10.ts';
import type { ReceivedObjects } from '../../src/core/files/received-objects.ts';
import {
  contentOf,
  type JudgedObject,
  judgeObject,
  keepShared,
  type RegistrationOptions,
  RowMayExistError,
  settleShared,
} from '../../src/core/studies/arrival.ts';
import {
  headerOfStart,
  INLINE_HEADER_BYTES,
  type InstanceHeader,
} from '../../src/core/studies/instance-header.ts';
import { newPlace } from '../../src/core/studies/intake-folder.ts';
import { Registrar } from '../../src/core/studies/registrar.ts';
import type { Arrival } from '../../src/core/studies/study-store.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import type {
  AssociationEnd,
  AssociationPeer,
  IncomingObject,
  ObjectSink,
  StorageService,
} from '../network/service-ports.ts';
import { createSourceLimits, type SourceLimits, watchFreeSpace } from './admission.ts';
import { type DicomAudit, NO_AUDIT } from './audit.ts';
import { noteReceptions, watchReleases } from './completion-signals.ts';
import { DiskWriter } from './disk-writer.ts';

interface IntakeOptions extends RegistrationOptions {
  limits: Pick<Config['dicom'], 'maxObjectBytes' | 'minFreeBytes'>;
  sourceLimits: SourceLimits;
  /**
   * True if the sender gets its response once the file of an object is durable, before its row is
   * committed. If the process ends before the row is written, its next startup writes the row.
   * False with a bucket, because the host may be lost together with its files.
   */
  answersBeforeRow: boolean;
  /** Called when the row of an object is committed. */
  onArrival: (peer: AssociationPeer, source: string, arrival: Arrival) => void;
  onAssociationEnd: (peer: AssociationPeer, end: AssociationEnd) => Promise<void>;
}

export interface Intake extends StorageService {
  registrar: Registrar;
  /** Waits for receptions in progress, after which no more objects are written. */
  close(): Promise<void>;
}

/**
 * Maximum milliseconds by which we delay the A-RELEASE-RP until the association's objects have their
 * rows in the database.
 */
const ROWS_BEFORE_RELEASE_MS = 5000;

/**
 * Creates the intake. `commit` resolves once the object's file has been written, renamed and
 * synced, and its folder has been synced. The file serves as the journal, so no object acknowledged
 * with 0000H can be lost. The object's row follows, together with those of other objects
 * (`Registrar`). If it was never written, it is written at the next startup (`recoverIntake`). A
 * refused object leaves nothing behind.
 */
export function createIntake(options: IntakeOptions): Intake {
  const registrar = new Registrar(options);
  const disk = new DiskWriter({ dataSetDigests: options.objects.shared });
  const freeSpace = watchFreeSpace(options.dataDir, options.limits.minFreeBytes);
  /** For each open association, the objects whose rows are not written yet. */
  const unrecorded = new Map<string, Set<Promise<void>>>();
  const ends = new Set<Promise<void>>();

  const recorded = async ({ id }: AssociationPeer): Promise<void> => {
    await Promise.all(unrecorded.get(id) ?? []);
  };

  return {
    registrar,

    open: (object, peer) =>
      openSink(object, peer, {
        ...options,
        disk,
        registrar,
        freeSpace,
        follow(row) {
          const waiting = unrecorded.get(peer.id) ?? new Set();
          unrecorded.set(peer.id, waiting.add(row));
          void row.then(() => waiting.delete(row));
        },
      }),

    async settled(peer) {
      if (!unrecorded.get(peer.id)?.size) return;
      registrar.hurry();
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ROWS_BEFORE_RELEASE_MS);
      });
      await Promise.race([recorded(peer), late]).finally(() => clearTimeout(timer));
    },

    async ended(peer, end) {
      const ending = (async () => {
        if (unrecorded.get(peer.id)?.size) registrar.hurry();
        await recorded(peer);
        unrecorded.delete(peer.id);
        await options.onAssociationEnd(peer, end);
      })();
      ends.add(ending);
      await ending.finally(() => ends.delete(ending));
    },

    async close() {
      await registrar.stop();
      await Promise.allSettled(ends);
      await disk.close();
    },
  };
}

interface SinkParts extends IntakeOptions {
  disk: DiskWriter;
  registrar: Registrar;
  freeSpace: () => Promise<void>;
  /** Tracks a row that is not written yet. The promise must never reject. */
  follow(row: Promise<void>): void;
}

async function openSink(
  object: IncomingObject,
  peer: AssociationPeer,
  parts: SinkParts,
): Promise<ObjectSink> {
  const { dataDir, sources, limits, sourceLimits, registrar, now } = parts;
  await parts.freeSpace();
  await registrar.room();
  const { source } = peer;
  if (source === undefined) throw new SonogateError('calling_ae_not_recognized');
  // The limits apply only to sources. A retrieved object may come from a node that is no source.
  const limited = sources.find(({ name }) => name === source);
  if (limited && !sourceLimits.admitObject(limited)) throw new SonogateError('source_over_limit');

  const meta: FileMeta = {
    ...object,
    sourceAeTitle: peer.callingAeTitle,
    receivingAeTitle: peer.calledAeTitle,
  };
  const prefix = encodeFileMeta(meta);
  const place = newPlace(source, now());
  const file = parts.disk.open(join(dataDir, place.partial), prefix);
  const header = headerInPassing(prefix);
  let dataSetBytes = 0;
  let recorded: Promise<unknown> = Promise.resolve();

  return {
    async write(bytes) {
      dataSetBytes += bytes.length;
      if (limited) sourceLimits.countBytes(limited, bytes.length);
      if (dataSetBytes > limits.maxObjectBytes) throw new SonogateError('object_too_large');
      header.take(bytes);
      await file.write(bytes);
    },
    async commit() {
      const { known, mayBeCutOff } = header.end();
      const written = await file.finish(join(dataDir, place.complete));
      const path = relative(dataDir, written.path);
      const stored = {
        path,
        meta,
        bytes: written.bytes,
        // The disk thread computes the digests. If the thread has ended, they are computed from the
        // file.
        digests: () => written.digests.catch(() => contentOf(written.path, prefix.length)),
        source,
        statedStudy: object.statedStudy,
        mayBeCutOff,
      };
      const judged = await keptOrForgotten(path, parts, () => judgeObject(stored, known, parts));
      ({ recorded } = await register(judged, peer, parts));
    },
    recorded: () => recorded,
    discard: () => file.discard(),
  };
}

/**
 * Copies a checked object to the bucket, if there is one, and passes it to the registrar.
 * @returns a promise of its row, which never rejects.
 */
async function register(
  object: JudgedObject,
  peer: AssociationPeer,
  parts: SinkParts,
): Promise<{ recorded: Promise<void> }> {
  const { answersBeforeRow, registrar, onArrival, logger, follow } = parts;
  const known = await keptOrForgotten(object.path, parts, () => keepShared(object, parts));
  const row = registrar.register(object, !answersBeforeRow).then(async (arrival) => {
    onArrival(peer, object.source, arrival);
    const { outcome } = arrival;
    await settleShared(object, { known, outcome }, parts).catch((cause) => {
      throw new RowMayExistError('an object with a row could not be stored', { cause });
    });
  });
  const settled = row.catch((error) => {
    // The error is only logged, because the sender already has its response. Unless the object was
    // quarantined, its file is registered at the next startup.
    if (answersBeforeRow) logger.event('object_unregistered', { error: String(error) });
  });
  follow(settled);
  if (!answersBeforeRow) await keptOrForgotten(object.path, parts, () => row);
  return { recorded: settled };
}

/**
 * Runs `work`. If it fails, the object is refused and its file deleted: the sender still has the
 * object, and its retries would fill the disk. The file of an object that has a row, or may have
 * one, is kept.
 */
async function keptOrForgotten<T>(
  path: string,
  { dataDir, logger }: IntakeOptions,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RowMayExistError) throw error.cause;
    await rm(join(dataDir, path), { force: true }).catch((failure) => {
      // The file is registered or removed at the next startup.
      logger.event('object_leftover', { error: String(failure) });
    });
    throw error;
  }
}

/**
 * Reusable buffers for the first bytes of objects. A few are enough, because few objects begin at
 * the same time.
 */
const spareStarts: Buffer[] = [];
const MOST_SPARE_STARTS = 64;

/** The delimiter of encapsulated pixel data (PS3.5 A.4). Usually nothing follows it. */
const PIXEL_DATA_END = elementHeader(SEQUENCE_END, '', 0);

/** Reads the header of an object from its first bytes, while the remaining bytes arrive. */
function headerInPassing(prefix: Buffer): {
  take(bytes: Buffer): void;
  /**
   * Returns the header, or the reason why it cannot be read; null if it must be read from the file.
   */
  end(): { known: InstanceHeader | SonogateError | null; mayBeCutOff: boolean };
} {
  const start = spareStarts.pop() ?? Buffer.allocUnsafeSlow(INLINE_HEADER_BYTES);
  let filled = prefix.copy(start);
  let rest = false;
  let total = filled;
  let tail: Buffer = Buffer.alloc(0);
  let read: ReturnType<typeof headerOfStart> | SonogateError | undefined;
  const attempt = (whole: boolean): ReturnType<typeof headerOfStart> | SonogateError => {
    try {
      return headerOfStart(start.subarray(0, filled), whole);
    } catch (error) {
      if (error instanceof SonogateError) return error;
      throw error;
    } finally {
      if (spareStarts.length < MOST_SPARE_STARTS) spareStarts.push(start);
    }
  };
  return {
    take(bytes) {
      total += bytes.length;
      const last = bytes.subarray(-PIXEL_DATA_END.length);
      tail = Buffer.concat([tail, last]).subarray(-PIXEL_DATA_END.length);
      if (read !== undefined) return;
      const copied = bytes.copy(start, filled);
      filled += copied;
      rest ||= copied < bytes.length;
      if (filled === start.length) read = attempt(!rest);
    },
    end() {
      if (read === undefined) read = attempt(!rest);
      if (read instanceof SonogateError) return { known: read, mayBeCutOff: false };
      if (read === null) return { known: null, mayBeCutOff: true };
      const { header, statedEnd } = read;
      if (statedEnd === 'unknown') return { known: header, mayBeCutOff: true };
      const isWhole =
        statedEnd === 'delimiter' ? tail.equals(PIXEL_DATA_END) : total >= statedEnd.offset;
      return { known: header, mayBeCutOff: !isWhole };
    },
  };
}

export interface Reception {
  outcome: 'stored' | 'refused' | 'broken-off';
  /** Bytes of the data set that arrived. */
  bytes: number;
  /** Seconds from the C-STORE request until the object is durable or has failed. */
  seconds: number;
}

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
      let isRefused = false;
      return {
        ...sink,
        async write(piece) {
          bytes += piece.length;
          try {
            await sink.write(piece);
          } catch (error) {
            isRefused = true;
            throw error;
          }
        },
        async commit() {
          await sink.commit().catch(refused);
          report('stored');
        },
        discard() {
          report(isRefused ? 'refused' : 'broken-off');
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
  onReception?: (peer: AssociationPeer, reception: Reception) => void;
  /**
   * Called when the end of an association makes a study complete sooner, with the time from which
   * the study counts as complete.
   */
  onDeadline?: (completeAfter: Date) => void;
  audit?: DicomAudit;
  /**
   * True if the next startup of this process writes the missing rows of stored files
   * (`recoverIntake`), so that an object may be acknowledged before its row is committed.
   */
  recovers: boolean;
  logger: Logger;
  now: () => Date;
}

/**
 * The storage services for objects that arrive by C-STORE, STOW-RS or our own retrievals. They
 * share one intake and one set of limits.
 */
export interface StorageScp {
  storage: StorageService;
  /** For objects that we retrieve ourselves, which are not counted as receptions. */
  unmeasured: StorageService;
  sourceLimits: SourceLimits;
  registrar: Registrar;
  close(): Promise<void>;
}

export function createStorageScp({
  config: { dataDir, dicom, sources },
  database,
  objects,
  onReception = () => {},
  onDeadline = () => {},
  audit = NO_AUDIT,
  recovers,
  logger,
  now,
}: StorageScpParts): StorageScp {
  const releases = watchReleases({ sources, database, logger, now, onDeadline });
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
    answersBeforeRow: recovers && !objects.shared,
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
  return {
    unmeasured,
    storage: measuredStorage(unmeasured, onReception),
    sourceLimits,
    registrar: intake.registrar,
    close: intake.close,
  };
}
