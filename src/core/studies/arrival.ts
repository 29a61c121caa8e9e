import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
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
import { quarantine } from './quarantine.ts';
import { DigestsMissingError, recordArrivals } from './record-arrival.ts';
import { type Arrival, type Digests, isKnown, type ReceivedInstance } from './study-store.ts';

/** An object whose file is complete and synced to the disk. */
export interface StoredObject {
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

/** Header attributes that must equal the values stated by the sender. */
const IDENTIFYING = ['sopClassUid', 'sopInstanceUid', 'studyInstanceUid'] as const;

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
 * Copies an object to the bucket once it has its row, if `keepShared` skipped it as known but it is
 * no duplicate: retention has removed the earlier copy and its row in the meantime.
 */
export async function keepUnlessDuplicate(
  object: JudgedObject,
  { known, outcome }: { known: boolean; outcome: Arrival['outcome'] | undefined },
  { objects }: Pick<RegistrationOptions, 'objects'>,
): Promise<void> {
  if (!known || outcome === 'duplicate') return;
  await objects.keep({ ...object, ...(await object.digests()) });
}

/** Thrown if the row of an object was committed, or may have been: its file must be kept. */
export class RowMayExistError extends Error {
  override name = 'RowMayExistError';
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
    // A digest of '' equals no other: a stored object that cannot be read does not count as a copy
    // of the received one, and both are kept.
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
 * the audit trail, because the sender may already have a response of success.
 * @returns the reason; null if the object did not cause the error.
 */
async function quarantineForItsValues(
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

/**
 * Moves an object to the quarantine.
 * @param object has no `meta` if its header could not be read.
 * @returns its new path.
 */
export async function moveToQuarantine(
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
 * Writes the row of a checked object at once. `Registrar` instead collects the rows of many
 * objects.
 * @throws SonogateError if the object was quarantined or could not be copied to the bucket.
 * @throws the database error if the row cannot be written.
 */
export async function registerAtOnce(
  object: JudgedObject,
  options: RegistrationOptions,
): Promise<void> {
  try {
    const known = await keepShared(object, options);
    const [arrival] = await writeRows([object], options).catch(async (error) => {
      throw (await quarantineForItsValues(object, error, options)) ?? error;
    });
    if (arrival) await afterRow(object, arrival, options);
    await keepUnlessDuplicate(object, { known, outcome: arrival?.outcome }, options);
  } catch (error) {
    throw error instanceof RowMayExistError ? error.cause : error;
  }
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
 * If no further object arrives within this many milliseconds, the senders have paused. A
 * transaction then begins before `COLLECT_MS` is over.
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

interface Waiting {
  object: JudgedObject;
  impatient: boolean;
  resolve(arrival: Arrival): void;
  reject(error: unknown): void;
}

/**
 * Writes the rows of received objects. While one transaction runs, the objects of all associations
 * are collected for the next one. A busy gateway therefore writes a few large transactions, and on
 * an idle gateway no object has to wait.
 */
export class Registrar {
  readonly #options: RegistrationOptions;
  readonly #stopped = new AbortController();
  #waiting: Waiting[] = [];
  #writing: readonly Waiting[] = [];
  #running: Promise<void> | null = null;
  #databaseAway = false;
  #hurried = false;
  #senderPause: NodeJS.Timeout | undefined;
  /** Begins the transaction for which objects are being collected. */
  #begin = () => {};
  /** Calls of `room` that are waiting. */
  #forRoom: PromiseWithResolvers<void>[] = [];

  constructor(options: RegistrationOptions) {
    this.#options = options;
  }

  /**
   * Registers an object whose file is durable. While the database is unreachable, the object keeps
   * waiting, unless it is `impatient`: then it fails at once with the database error.
   * @returns its row, once committed.
   * @throws SonogateError if the object was quarantined; LeftForNextStartError; for an `impatient`
   * object also the database error.
   */
  register(object: JudgedObject, impatient = false): Promise<Arrival> {
    const recorded = new Promise<Arrival>((resolve, reject) => {
      this.#waiting.push({ object, impatient, resolve, reject });
    });
    this.#senderPause?.refresh();
    if (impatient || this.#waiting.length >= MOST_TOGETHER) this.#begin();
    this.#running ??= this.#run();
    return recorded;
  }

  /** Writes the waiting rows at once, because someone needs them. */
  hurry(): void {
    this.#hurried = this.#waiting.length > 0;
    this.#begin();
  }

  /**
   * Called when an object begins to arrive. Resolves when one more object may be acknowledged.
   * @throws SonogateError `overloaded` if the database is unreachable, or the gateway stops.
   */
  async room(): Promise<void> {
    this.#senderPause?.refresh();
    while (this.#waiting.length + this.#writing.length >= MOST_OUTSTANDING) {
      if (this.#databaseAway) throw new SonogateError('overloaded');
      const room = Promise.withResolvers<void>();
      this.#forRoom.push(room);
      await room.promise;
    }
  }

  /** Returns the Study Instance UIDs of the objects still waiting for their rows. */
  outstanding(): string[] {
    const objects = [...this.#waiting, ...this.#writing].map(({ object }) => object);
    return [...new Set(objects.map(({ header }) => header.studyInstanceUid))];
  }

  /**
   * Writes the waiting rows. If the database is unreachable, those that remain are written at the
   * next startup.
   */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#begin();
    await this.#running;
    for (const { reject } of this.#waiting.splice(0)) reject(new LeftForNextStartError());
    for (const { reject } of this.#forRoom.splice(0)) reject(new SonogateError('overloaded'));
  }

  async #run(): Promise<void> {
    let wait = FIRST_PAUSE_MS;
    while (this.#waiting.length > 0) {
      await this.#due();
      this.#writing = this.#waiting.slice(0, MOST_TOGETHER);
      this.#waiting = this.#waiting.slice(MOST_TOGETHER);
      this.#hurried &&= this.#waiting.length > 0;
      const again = await this.#write(this.#writing);
      this.#writing = [];
      for (const { resolve } of this.#forRoom.splice(0)) resolve();
      if (again.length === 0) {
        wait = FIRST_PAUSE_MS;
        continue;
      }
      // These objects go to the end of the queue, so that an object that fails even alone does not
      // delay the others.
      this.#waiting.push(...again);
      const { signal } = this.#stopped;
      if (signal.aborted) break;
      await pause(wait, undefined, { signal }).catch(() => {});
      wait = Math.min(2 * wait, LONGEST_PAUSE_MS);
    }
    this.#running = null;
  }

  /**
   * Resolves when a transaction is due: objects have been collected for long enough, the senders
   * have paused, or someone is waiting for their rows.
   */
  async #due(): Promise<void> {
    const begun = new Promise<void>((resolve) => {
      this.#begin = resolve;
    });
    const enough =
      this.#waiting.length >= MOST_TOGETHER || this.#waiting.some(({ impatient }) => impatient);
    if (this.#stopped.signal.aborted || this.#hurried || enough) return;
    const collected = setTimeout(this.#begin, COLLECT_MS);
    this.#senderPause = setTimeout(this.#begin, PAUSE_MS);
    await begun;
    clearTimeout(collected);
    clearTimeout(this.#senderPause);
    this.#senderPause = undefined;
  }

  /**
   * Records a batch.
   * @returns the objects that have to be tried again.
   */
  async #write(batch: readonly Waiting[]): Promise<Waiting[]> {
    try {
      const arrivals = await writeRows(
        batch.map(({ object }) => object),
        this.#options,
      );
      this.#databaseAway = false;
      for (const [index, { object, resolve }] of batch.entries()) {
        const arrival = arrivals[index];
        if (!arrival) continue;
        await afterRow(object, arrival, this.#options).catch((error) => {
          // The duplicate's file is removed at the next startup.
          this.#options.logger.event(EVENTS.objectLeftover, { error: String(error) });
        });
        resolve(arrival);
      }
      return [];
    } catch (error) {
      return await this.#afterFailure(batch, error);
    }
  }

  /** @returns the objects of the batch that have to be tried again. */
  async #afterFailure(batch: readonly Waiting[], error: unknown): Promise<Waiting[]> {
    const [first] = batch;
    const cause = error instanceof RowMayExistError ? error.cause : error;
    this.#databaseAway = cause instanceof DatabaseUnreachableError;
    if (!this.#databaseAway && batch.length > 1) {
      // Each object is tried alone, so that one bad object does not keep the others from getting
      // their rows.
      const again: Waiting[] = [];
      for (const alone of batch) again.push(...(await this.#write([alone])));
      return again;
    }
    if (batch.length === 1 && first) {
      const why = await quarantineForItsValues(first.object, error, this.#options).catch(
        () => null,
      );
      if (why) {
        first.reject(why);
        return [];
      }
    }
    for (const { impatient, reject } of batch) if (impatient) reject(error);
    const delayed = { objects: batch.length, error: String(cause) };
    this.#options.logger.event(EVENTS.rowsDelayed, delayed);
    return batch.filter(({ impatient }) => !impatient);
  }
}
