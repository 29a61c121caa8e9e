import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { Source } from '../../../config/schema.ts';
import { type FileMeta, readFileMeta } from '../../../pipelines/dicom/part10.ts';
import { DatabaseUnreachableError } from '../../platform/database/pooled.ts';
import type { Database } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { EVENTS } from '../../platform/logging/events.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { createAuditWriter } from '../audit/audit.ts';
import type { ReceivedObjects } from '../files/received-objects.ts';
import { quietDeadline, rerunPolicy } from './completion.ts';
import { readInstanceHeader } from './header-reader.ts';
import { attributeText, type InstanceHeader } from './instance-header.ts';
import {
  dayFolders,
  PARTIAL_SUFFIX,
  statedChecksum,
  unregisteredObjects,
} from './intake-folder.ts';
import { leaveQuarantine, quarantine } from './quarantine.ts';
import { DigestsMissingError, recordArrivals } from './record-arrival.ts';
import { openRecoveryRecord } from './recovery-record.ts';
import { type Arrival, type Digests, isKnown, type ReceivedInstance } from './study-store.ts';

/** An object whose file is complete and synced to the disk. */
interface StoredObject {
  /** Path relative to the data folder. */
  path: string;
  meta: FileMeta;
  bytes: number;
  /** Returns the digests, which may be computed after the sender got its response. */
  digests: () => Promise<Digests>;
  source: string;
  /** The Study Instance UID stated by the sender, if any. */
  statedStudy?: string | undefined;
}

export interface RegistrationOptions {
  dataDir: string;
  database: Database;
  objects: ReceivedObjects;
  sources: readonly Source[];
  logger: Logger;
  now: () => Date;
}

/** An object with a checked header, ready to get its row. */
export interface JudgedObject extends StoredObject {
  header: InstanceHeader;
  receivedAt: Date;
}

/**
 * Checks the header of a stored object against the values stated by the sender.
 * @param known the header, if it was read while the object arrived.
 * @throws SonogateError `object_not_understood` (C000H), `object_mismatch` (A900H); the object is
 * then in the quarantine folder.
 */
export async function judgeObject(
  object: StoredObject,
  known: InstanceHeader | SonogateError | null,
  options: RegistrationOptions,
): Promise<JudgedObject> {
  const { path, meta, statedStudy } = object;
  try {
    if (known instanceof SonogateError) throw known;
    const header = known ?? (await readInstanceHeader(join(options.dataDir, path)));
    const stated = { ...header, ...meta, ...(statedStudy && { studyInstanceUid: statedStudy }) };
    if (IDENTIFYING.every((uid) => header[uid] === stated[uid])) {
      return { ...object, header, receivedAt: options.now() };
    }
    throw new SonogateError('object_mismatch');
  } catch (error) {
    if (!(error instanceof SonogateError)) throw error;
    await moveToQuarantine(object, error, options);
    throw error;
  }
}

/**
 * Copies a checked object to the bucket, if there is one, so that the whole installation can read
 * it. An object that is sent again is skipped, because it was copied when it first arrived.
 * @returns true if exactly this object already had a row and was therefore not stored again.
 * @throws SonogateError `storage_unreachable`
 */
export async function keepShared(
  object: JudgedObject,
  { database, objects }: RegistrationOptions,
): Promise<boolean> {
  if (!objects.shared) return false;
  const { fileSha256, dataSetSha256 } = await object.digests();
  const known = dataSetSha256 !== null && (await isKnown(database, object.header, dataSetSha256));
  if (!known) await objects.keep({ ...object, fileSha256 });
  return known;
}

/**
 * Writes the rows of checked objects in one transaction; see record-arrival.ts.
 * @throws RowMayExistError if the commit itself failed; after any other error, no row exists.
 */
async function writeRows(
  objects: readonly JudgedObject[],
  options: RegistrationOptions,
): Promise<Arrival[]> {
  const { database, sources } = options;
  let received = await Promise.all(objects.map((object) => receivedInstance(object, sources)));
  for (;;) {
    let committing = false;
    try {
      return await database.transaction(async (tx) => {
        const arrivals = await recordArrivals(tx, received);
        committing = true;
        return arrivals;
      });
    } catch (error) {
      if (error instanceof DigestsMissingError) {
        received = await withDigests(received, error, options);
      } else if (committing) {
        throw new RowMayExistError('the commit of received objects failed', { cause: error });
      } else throw error;
    }
  }
}

/**
 * Computes the missing digests of data sets. Those of stored objects are added to their rows.
 * @returns the received objects with their digests.
 * @throws SonogateError `storage_unreachable`
 */
async function withDigests(
  received: readonly ReceivedInstance[],
  missing: DigestsMissingError,
  { dataDir, database, objects }: RegistrationOptions,
): Promise<ReceivedInstance[]> {
  for (const copy of missing.stored) {
    const path = await objects.locate(copy);
    // Content that cannot be read equals no other, so both objects are kept.
    const digest = path === null ? '' : await dataSetDigest(path).catch(() => '');
    await database.query('UPDATE instances SET data_set_sha256 = $2 WHERE id = $1', [
      copy.id,
      digest,
    ]);
  }
  const complete: ReceivedInstance[] = [];
  for (const object of received) {
    if (!missing.received.has(object)) complete.push(object);
    else {
      const dataSetSha256 = await dataSetDigest(join(dataDir, object.path));
      complete.push({ ...object, dataSetSha256 });
    }
  }
  return complete;
}

async function dataSetDigest(path: string): Promise<string> {
  const { dataSetOffset } = await readFileMeta(path);
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { start: dataSetOffset })) {
    hash.update(chunk as Buffer);
  }
  return hash.digest('hex');
}

async function receivedInstance(
  { path, bytes, digests, source, header, meta, receivedAt }: JudgedObject,
  sources: readonly Source[],
): Promise<ReceivedInstance> {
  return {
    path,
    bytes,
    ...(await digests()),
    transferSyntax: meta.transferSyntax,
    header,
    source,
    callingAeTitle: attributeText(meta.sourceAeTitle),
    calledAeTitle: attributeText(meta.receivingAeTitle),
    receivedAt,
    completeAfter: quietDeadline(sources, source, receivedAt),
    rerunAlways: rerunPolicy(sources, source) === 'always',
  };
}

/** Finishes an object once its row is committed: deletes a duplicate, logs a conflict. */
async function afterRow(
  { path }: Pick<JudgedObject, 'path'>,
  arrival: Arrival,
  { dataDir, logger }: RegistrationOptions,
): Promise<void> {
  if (arrival.outcome === 'duplicate') await rm(join(dataDir, path), { force: true });
  if (arrival.outcome === 'conflict') {
    logger.event(EVENTS.objectConflict, { study: arrival.studyId, path });
  }
}

/** SQLSTATE classes of errors caused by the values of a row: data exceptions and index limits. */
const OF_ITS_VALUES = /^(22|54)\w{3}$/;

/**
 * Quarantines an object whose own values make it impossible to store its row. This is recorded in
 * the audit trail, because the sender may have been told that the object is stored.
 * @returns the reason; null if the object did not cause the error.
 */
async function putAsideForItsValues(
  object: JudgedObject,
  error: unknown,
  options: RegistrationOptions,
): Promise<SonogateError | null> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!OF_ITS_VALUES.test(code)) return null;
  const why = new SonogateError('object_not_understood', undefined, { cause: error });
  const kept = await moveToQuarantine(object, why, options);
  await createAuditWriter(options.database)({
    at: options.now(),
    action: 'dicom.quarantined',
    actor: `ae:${attributeText(object.meta.sourceAeTitle)}`,
    outcome: 'failed',
    detail: { source: object.source, kept, sqlState: code },
  });
  return why;
}

/** Header attributes that must equal the values stated by the sender. */
const IDENTIFYING = ['sopClassUid', 'sopInstanceUid', 'studyInstanceUid'] as const;

/**
 * Moves an object to the quarantine.
 * @param object has no `meta` if its header could not be read.
 * @returns its new path.
 */
async function moveToQuarantine(
  { path, source, meta }: Pick<StoredObject, 'path' | 'source'> & { meta?: FileMeta },
  { code, detail }: Pick<SonogateError, 'code' | 'detail'>,
  { dataDir, logger, now }: RegistrationOptions,
): Promise<string> {
  const callingAeTitle = meta ? attributeText(meta.sourceAeTitle) : null;
  const kept = await quarantine(dataDir, path, { at: now(), source, callingAeTitle, code, detail });
  logger.event(EVENTS.objectQuarantined, { code, detail, kept });
  return kept;
}

/**
 * At startup, registers objects that reached the disk but have no row, and deletes partial files,
 * which were never acknowledged to their senders. A file whose content is incomplete is
 * quarantined. Runs before the listener opens.
 * @returns how many objects got a row, and how many partial files were deleted.
 */
export async function recoverIntake(
  options: RegistrationOptions,
): Promise<{ registered: number; removed: number }> {
  const { dataDir, logger } = options;
  const record = await openRecoveryRecord(dataDir);
  let registered = 0;
  let removed = 0;
  try {
    for (const { source, folder } of await dayFolders(dataDir)) {
      const names = await readdir(join(dataDir, folder));
      for (const name of names.filter((name) => name.endsWith(PARTIAL_SUFFIX))) {
        const path = join(folder, name);
        const isRemoved = await rm(join(dataDir, path)).then(
          () => true,
          (error) => logger.event(EVENTS.receivedFileUnreadable, { path, error: String(error) }),
        );
        if (isRemoved) removed += 1;
      }
      for await (const path of unregisteredObjects(options, folder)) {
        if (!(await record.begins(path))) {
          const detail = 'The gateway died twice while registering the object at startup.';
          const why = { code: 'object_not_understood', detail } as const;
          await moveToQuarantine({ path, source }, why, options);
        } else if (await registerAtStart(path, source, options)) registered += 1;
      }
    }
  } finally {
    // The record is removed even after an error. Only an object with which the process ended stays
    // recorded, because it may be the cause.
    await record.ends();
  }
  if (registered > 0 || removed > 0) logger.event(EVENTS.intakeRecovered, { registered, removed });
  return { registered, removed };
}

/**
 * Registers an object at startup. An error caused by the object or by the disk under it is caught,
 * because a single object must not keep the gateway from starting. A file that cannot be read or
 * moved stays where it is, and is tried again at the next startup.
 * @returns true if the object has a row now.
 */
async function registerAtStart(
  path: string,
  source: string,
  options: RegistrationOptions,
): Promise<boolean> {
  try {
    await registerFile(path, source, { ...options, onlyIntact: true });
    return true;
  } catch (error) {
    // The object is in the quarantine, or will be registered at the next startup.
    if (error instanceof SonogateError) return false;
    if (!(error instanceof UnreadableFileError)) throw error;
    options.logger.event(EVENTS.receivedFileUnreadable, { path, error: String(error.cause) });
    return false;
  }
}

/**
 * Registers a quarantined object as if it had just arrived, for example after an upgrade that can
 * read it or a change of the database encoding.
 * @throws SonogateError `not_found`, or the reason why it was moved back to the quarantine.
 */
export async function registerQuarantined(id: string, options: RegistrationOptions): Promise<void> {
  const { path, source } = await leaveQuarantine(options.dataDir, id, options.now());
  await registerFile(path, source, options);
}

/** Thrown if a file in the intake folder, or its way to the quarantine, fails with an I/O error. */
class UnreadableFileError extends Error {
  override name = 'UnreadableFileError';
}

interface FileOptions extends RegistrationOptions {
  /** Set if a file whose content differs from its checksum is to be quarantined. */
  onlyIntact?: boolean;
}

/**
 * Registers a file in the intake folder.
 * @throws SonogateError if the object was quarantined or could not be copied to the bucket;
 * UnreadableFileError.
 */
async function registerFile(path: string, source: string, options: FileOptions): Promise<void> {
  const judged = await judgedFile(path, source, options).catch((cause: unknown) => {
    if (cause instanceof SonogateError) throw cause;
    throw new UnreadableFileError('a received file could not be read', { cause });
  });
  try {
    const known = await keepShared(judged, options);
    const [arrival] = await writeRows([judged], options).catch(async (error) => {
      throw (await putAsideForItsValues(judged, error, options)) ?? error;
    });
    if (arrival) await afterRow(judged, arrival, options);
    // Retention removed the object between the two checks, so the object is stored again.
    if (known && arrival?.outcome !== 'duplicate') {
      await options.objects.keep({ ...judged, ...(await judged.digests()) });
    }
  } catch (error) {
    throw error instanceof RowMayExistError ? error.cause : error;
  }
}

/**
 * Reads and checks a file in the intake folder.
 * @throws SonogateError if it was quarantined; the error of the file system.
 */
async function judgedFile(
  path: string,
  source: string,
  options: FileOptions,
): Promise<JudgedObject> {
  let object: StoredObject;
  try {
    object = await describe(path, source, options);
  } catch (error) {
    if (error instanceof SonogateError) await moveToQuarantine({ path, source }, error, options);
    throw error;
  }
  return judgeObject(object, null, options);
}

async function describe(
  path: string,
  source: string,
  { dataDir, onlyIntact = false }: FileOptions,
): Promise<StoredObject> {
  const absolute = join(dataDir, path);
  const start = await readFileMeta(absolute).catch((error: unknown) => {
    if (error instanceof SonogateError) return error;
    throw error;
  });
  const offset = start instanceof SonogateError ? 0 : start.dataSetOffset;
  const { checksum, ...digests } = await contentOf(absolute, offset);
  if (onlyIntact && checksum !== (statedChecksum(path) ?? checksum)) {
    const detail =
      'The content differs from its checksum. The machine lost power before the object was acknowledged, or the disk has lost bytes.';
    throw new SonogateError('object_not_understood', detail);
  }
  if (start instanceof SonogateError) throw start;
  const { meta, bytes } = start;
  return { path, meta, bytes, digests: async () => digests, source };
}

/** Reads the file at an absolute path once, for its digests and the CRC-32 of its content. */
export async function contentOf(
  path: string,
  dataSetOffset: number,
): Promise<Digests & { checksum: number }> {
  const file = createHash('sha256');
  const dataSet = createHash('sha256');
  let checksum = 0;
  let read = 0;
  for await (const piece of createReadStream(path)) {
    const chunk = piece as Buffer;
    file.update(chunk);
    dataSet.update(chunk.subarray(Math.max(0, dataSetOffset - read)));
    checksum = crc32(chunk, checksum);
    read += chunk.length;
  }
  return { fileSha256: file.digest('hex'), dataSetSha256: dataSet.digest('hex'), checksum };
}

/** Thrown if the row of an object was committed, or may have been: its file must be kept. */
export class RowMayExistError extends Error {
  override name = 'RowMayExistError';
}

/**
 * Maximum number of objects per transaction. More would lock the rows of their studies for too
 * long.
 */
const MOST_TOGETHER = 200;
/**
 * Maximum number of acknowledged objects waiting for their rows. Further objects have to wait;
 * while the database is unreachable, they are refused.
 */
export const MOST_OUTSTANDING = 1000;
/**
 * Milliseconds for which objects are collected before a transaction begins, unless someone is
 * waiting for their rows. A transaction for 200 objects costs less than twice as much as one for 25.
 */
const COLLECT_MS = 500;
/**
 * Milliseconds without another object after which a transaction begins earlier, because the
 * senders have paused.
 */
const PAUSE_MS = 50;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 1000;

/**
 * Thrown if the gateway stops before the object has its row. The row is written at the next
 * startup.
 */
class LeftForNextStartError extends Error {
  override name = 'LeftForNextStartError';
}

/**
 * Writes the rows of received objects. While one transaction runs, the objects of all associations
 * are collected for the next one. A busy gateway therefore writes a few large transactions, and on
 * an idle gateway no object has to wait.
 */
export interface Registrar {
  /**
   * Registers an object whose file is durable. While the database is unreachable, the object keeps
   * waiting. An `impatient` object fails at once with the database error.
   * @returns its row, once committed.
   * @throws SonogateError if the object was quarantined; LeftForNextStartError; for an `impatient`
   * object also the database error.
   */
  register(object: JudgedObject, impatient?: boolean): Promise<Arrival>;
  /** Writes the waiting rows at once, because someone needs them. */
  hurry(): void;
  /**
   * Called when an object begins to arrive. Resolves when one more object may be acknowledged.
   * @throws SonogateError `overloaded`
   */
  room(): Promise<void>;
  /** Returns the Study Instance UIDs of the objects still waiting for their rows. */
  outstanding(): string[];
  /**
   * Writes the waiting rows. If the database is unreachable, those that remain are written at the
   * next startup.
   */
  stop(): Promise<void>;
}

interface Waiting {
  object: JudgedObject;
  impatient: boolean;
  resolve(arrival: Arrival): void;
  reject(error: unknown): void;
}

export function startRegistrar(options: RegistrationOptions): Registrar {
  let waiting: Waiting[] = [];
  let writing: readonly Waiting[] = [];
  let running: Promise<void> | null = null;
  let databaseAway = false;
  let stopping = false;
  let roomMade: (() => void)[] = [];
  const stopped = new AbortController();
  let begin = () => {};
  let senderPause: NodeJS.Timeout | undefined;
  let hurried = false;

  /**
   * Resolves when a transaction is due: objects have been collected for long enough, the senders
   * have paused, or someone is waiting for their rows.
   */
  const due = async (): Promise<void> => {
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const enough = waiting.length >= MOST_TOGETHER || waiting.some(({ impatient }) => impatient);
    if (stopping || hurried || enough) return;
    const collected = setTimeout(begin, COLLECT_MS);
    senderPause = setTimeout(begin, PAUSE_MS);
    await begun;
    clearTimeout(collected);
    clearTimeout(senderPause);
    senderPause = undefined;
  };

  /**
   * Records a batch.
   * @returns the objects that have to be tried again.
   */
  const write = async (batch: readonly Waiting[]): Promise<Waiting[]> => {
    try {
      const arrivals = await writeRows(
        batch.map(({ object }) => object),
        options,
      );
      databaseAway = false;
      for (const [index, { object, resolve }] of batch.entries()) {
        const arrival = arrivals[index];
        if (!arrival) continue;
        await afterRow(object, arrival, options).catch((error) => {
          // The duplicate's file is removed at the next startup.
          options.logger.event(EVENTS.objectLeftover, { error: String(error) });
        });
        resolve(arrival);
      }
      return [];
    } catch (error) {
      return await onFailure(batch, error);
    }
  };

  const onFailure = async (batch: readonly Waiting[], error: unknown): Promise<Waiting[]> => {
    const [first] = batch;
    databaseAway = error instanceof DatabaseUnreachableError;
    if (!databaseAway && batch.length > 1) {
      // Each object is tried alone, so that one bad object does not keep the others from getting
      // their rows.
      const again: Waiting[] = [];
      for (const alone of batch) again.push(...(await write([alone])));
      return again;
    }
    if (batch.length === 1 && first) {
      const why = await putAsideForItsValues(first.object, error, options).catch(() => null);
      if (why) {
        first.reject(why);
        return [];
      }
    }
    for (const { impatient, reject } of batch) if (impatient) reject(error);
    options.logger.event(EVENTS.rowsDelayed, { objects: batch.length, error: String(error) });
    return batch.filter(({ impatient }) => !impatient);
  };

  const run = async (): Promise<void> => {
    let wait = FIRST_PAUSE_MS;
    while (waiting.length > 0) {
      await due();
      writing = waiting.slice(0, MOST_TOGETHER);
      waiting = waiting.slice(MOST_TOGETHER);
      hurried &&= waiting.length > 0;
      const again = await write(writing);
      writing = [];
      for (const proceed of roomMade.splice(0)) proceed();
      if (again.length === 0) {
        wait = FIRST_PAUSE_MS;
        continue;
      }
      // These objects go to the end of the queue, so that an object that fails even alone does not
      // delay the others.
      waiting.push(...again);
      if (stopping) break;
      await pause(wait, undefined, { signal: stopped.signal }).catch(() => {});
      wait = Math.min(2 * wait, LONGEST_PAUSE_MS);
    }
    running = null;
  };

  return {
    register(object, impatient = false) {
      const recorded = new Promise<Arrival>((resolve, reject) => {
        waiting.push({ object, impatient, resolve, reject });
      });
      senderPause?.refresh();
      if (impatient || waiting.length >= MOST_TOGETHER) begin();
      running ??= run();
      return recorded;
    },
    hurry() {
      hurried = waiting.length > 0;
      begin();
    },
    async room() {
      senderPause?.refresh();
      while (waiting.length + writing.length >= MOST_OUTSTANDING) {
        if (databaseAway) throw new SonogateError('overloaded');
        await new Promise<void>((resolve) => roomMade.push(resolve));
      }
    },
    outstanding: () => [
      ...new Set([...waiting, ...writing].map(({ object }) => object.header.studyInstanceUid)),
    ],
    async stop() {
      stopping = true;
      stopped.abort();
      begin();
      await running;
      for (const { reject } of waiting.splice(0)) reject(new LeftForNextStartError());
      roomMade = [];
    },
  };
}
