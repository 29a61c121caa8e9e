import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Source } from '../../../config/schema.ts';
import type { FileMeta } from '../../../pipelines/dicom/part10.ts';
import type { Database } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { createAuditWriter } from '../audit/audit.ts';
import type { ReceivedObjects } from '../files/received-objects.ts';
import { quietDeadline, rerunPolicy } from './completion.ts';
import { attributeText, type InstanceHeader } from './instance-header.ts';
import { recordUnneededBlobs } from './intake-folder.ts';
import { quarantine } from './quarantine.ts';
import { contentSha256, endsTooEarly, readInstanceHeader } from './read-header.ts';
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
  /** True if the sender may not have sent the whole data set, which only the file shows. */
  mayBeCutOff?: boolean;
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
    if (IDENTIFYING.some((uid) => header[uid] !== stated[uid])) {
      throw new SonogateError('object_mismatch');
    }
    if (object.mayBeCutOff) await requireWhole(join(options.dataDir, path), header);
    return { ...object, header, receivedAt: options.now() };
  } catch (error) {
    if (!(error instanceof SonogateError)) throw error;
    await moveToQuarantine(object, error, options);
    throw error;
  }
}

async function requireWhole(path: string, { numberOfFrames }: InstanceHeader): Promise<void> {
  if (!(await endsTooEarly(path, numberOfFrames))) return;
  throw new SonogateError('object_not_understood', 'The data set ends within its pixel data.');
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
 * Corrects what `keepShared` did, once the outcome is known. It skipped an object as known, but
 * retention has removed the earlier copy and its row in the meantime; or it copied an object that is
 * a duplicate in another encoding.
 */
export async function settleShared(
  object: JudgedObject,
  { known, outcome }: { known: boolean; outcome: Arrival['outcome'] | undefined },
  { database, objects, now }: Pick<RegistrationOptions, 'database' | 'objects' | 'now'>,
): Promise<void> {
  if (!objects.shared || known === (outcome === 'duplicate')) return;
  const { fileSha256 } = await object.digests();
  if (known) await objects.keep({ ...object, fileSha256 });
  else await recordUnneededBlobs(database, [fileSha256], now());
}

/** Thrown if the row of an object was committed, or may have been: its file must be kept. */
export class RowMayExistError extends Error {
  override name = 'RowMayExistError';
}

/**
 * Writes the rows of checked objects in one transaction; see record-arrival.ts.
 * @throws RowMayExistError if the commit itself failed; after any other error, no row exists.
 */
export async function writeRows(
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
 * Computes the missing digests of contents. Those of stored objects are added to their rows.
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
    const digest = path === null ? '' : await contentSha256(path).catch(() => '');
    await database.query('UPDATE instances SET content_sha256 = $2 WHERE id = $1', [
      copy.id,
      digest,
    ]);
  }
  const complete: ReceivedInstance[] = [];
  for (const object of received) {
    if (!missing.received.has(object)) complete.push(object);
    else {
      // The digest of the file equals no digest of a content, so that both objects are kept.
      const digest = await contentSha256(join(dataDir, object.path)).catch(() => object.fileSha256);
      complete.push({ ...object, contentSha256: digest });
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

async function receivedInstance(
  { path, bytes, digests, source, header, meta, receivedAt }: JudgedObject,
  sources: readonly Source[],
): Promise<ReceivedInstance> {
  return {
    path,
    bytes,
    ...(await digests()),
    contentSha256: null,
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
export async function afterRow(
  { path }: Pick<JudgedObject, 'path'>,
  arrival: Arrival,
  { dataDir, logger }: RegistrationOptions,
): Promise<void> {
  if (arrival.outcome === 'duplicate') await rm(join(dataDir, path), { force: true });
  if (arrival.outcome === 'conflict') {
    logger.event('object_conflict', { study: arrival.studyId, path });
  }
}

/** SQLSTATE classes of errors caused by the values of a row: data exceptions and index limits. */
const OF_ITS_VALUES = /^(22|54)\w{3}$/;

/**
 * Quarantines an object whose own values make it impossible to store its row. This is recorded in
 * the audit trail, because the sender may already have a response of success.
 * @returns the reason; null if the object did not cause the error.
 */
export async function quarantineForItsValues(
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
  logger.event('object_quarantined', { code, detail, kept });
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
    await settleShared(object, { known, outcome: arrival?.outcome }, options);
  } catch (error) {
    throw error instanceof RowMayExistError ? error.cause : error;
  }
}
