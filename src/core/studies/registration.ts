import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Source } from '../../../config/schema.ts';
import { type FileMeta, readFileMeta } from '../../../pipelines/dicom/part10.ts';
import type { Database } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { EVENTS } from '../../platform/logging/events.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import type { ReceivedObjects } from '../files/received-objects.ts';
import { addInstance, RowMayExistError } from './arrival.ts';
import { quietDeadline, rerunPolicy } from './completion.ts';
import { attributeText, type InstanceHeader, readInstanceHeader } from './instance-header.ts';
import { dayFolders, PARTIAL_SUFFIX, quarantine, unregisteredObjects } from './intake-folder.ts';
import { isKnown } from './study-queries.ts';
import type { Arrival, ReceivedInstance } from './study-store.ts';

/** An object that is complete and synced on the disk. */
export interface StoredObject {
  /** Relative to the data folder. */
  path: string;
  meta: FileMeta;
  bytes: number;
  fileSha256: string;
  dataSetSha256: string;
  source: string;
  /** The study that the sender stated for the object, if it did. */
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

/** SQLSTATE classes for values that a row cannot have: data exceptions, and limits of an index. */
const OF_ITS_VALUES = /^(22|54)\w{3}$/;

/**
 * Writes the row of a stored object, once the object is safe for the whole site; afterwards it may
 * be acknowledged. An unusable object is moved to the quarantine folder, a duplicate is deleted.
 * @throws SonogateError `object_not_understood` (C000H), `object_mismatch` (A900H),
 * `storage_unreachable` (A700H); RowMayExistError when the row is or may be committed.
 */
export async function registerObject(
  object: StoredObject,
  options: RegistrationOptions,
): Promise<Arrival> {
  const { dataDir, database, objects, sources, logger, now } = options;
  const { path, meta } = object;
  const header = await usableHeader(object, options);
  // An object that is sent again was made safe when it first arrived.
  const known = objects.shared && (await isKnown(database, header, object.dataSetSha256));
  if (!known) await objects.keep(object);
  const receivedAt = now();
  const arrival = await added(object, options, {
    path,
    bytes: object.bytes,
    fileSha256: object.fileSha256,
    dataSetSha256: object.dataSetSha256,
    transferSyntax: meta.transferSyntax,
    header,
    source: object.source,
    callingAeTitle: attributeText(meta.sourceAeTitle),
    calledAeTitle: attributeText(meta.receivingAeTitle),
    receivedAt,
    completeAfter: quietDeadline(sources, object.source, receivedAt),
    rerunAlways: rerunPolicy(sources, object.source) === 'always',
  });
  try {
    if (arrival.outcome === 'duplicate') await rm(join(dataDir, path));
    // The retention removed it between the two checks.
    else if (known) await objects.keep(object);
  } catch (error) {
    throw new RowMayExistError('the file of an object with a committed row could not be handled', {
      cause: error,
    });
  }
  if (arrival.outcome === 'conflict') {
    logger.event(EVENTS.objectConflict, { study: arrival.studyId, path });
  }
  return arrival;
}

/**
 * Writes the row of an object; if its own values make that impossible, it goes to the quarantine.
 */
async function added(
  { path }: StoredObject,
  options: RegistrationOptions,
  received: ReceivedInstance,
): Promise<Arrival> {
  try {
    return await addInstance(options.database, received);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!OF_ITS_VALUES.test(code)) throw error;
    const cause = new SonogateError('object_not_understood', undefined, { cause: error });
    return await putAside(path, cause, options);
  }
}

/** Attributes of the header that must equal those that the sender stated. */
const IDENTIFYING = ['sopClassUid', 'sopInstanceUid', 'studyInstanceUid'] as const;

async function usableHeader(
  { path, meta, statedStudy }: StoredObject,
  options: RegistrationOptions,
): Promise<InstanceHeader> {
  try {
    const header = await readInstanceHeader(join(options.dataDir, path));
    const stated = { ...header, ...meta, ...(statedStudy && { studyInstanceUid: statedStudy }) };
    if (IDENTIFYING.every((uid) => header[uid] === stated[uid])) return header;
    throw new SonogateError('object_mismatch');
  } catch (error) {
    if (!(error instanceof SonogateError)) throw error;
    return await putAside(path, error, options);
  }
}

/** Moves an object to the quarantine folder. @throws the error that says why. */
async function putAside(
  path: string,
  why: SonogateError,
  { dataDir, logger }: RegistrationOptions,
): Promise<never> {
  const kept = await quarantine(dataDir, path);
  logger.event(EVENTS.objectQuarantined, { code: why.code, detail: why.detail, kept });
  throw why;
}

/**
 * At the start, registers objects that reached the disk without a row, and deletes partial files,
 * which no sender was told are safe. Runs before the listener opens.
 * @returns how many objects got a row, and how many partial files were deleted.
 */
export async function recoverIntake(
  options: RegistrationOptions,
): Promise<{ registered: number; removed: number }> {
  const { dataDir, logger } = options;
  let registered = 0;
  let removed = 0;
  for (const { source, folder } of await dayFolders(dataDir)) {
    const names = await readdir(join(dataDir, folder));
    for (const name of names.filter((name) => name.endsWith(PARTIAL_SUFFIX))) {
      await rm(join(dataDir, folder, name));
      removed += 1;
    }
    for await (const path of unregisteredObjects(options, folder)) {
      if (await registerLeftFile(path, source, options)) registered += 1;
    }
  }
  if (registered > 0 || removed > 0) logger.event(EVENTS.intakeRecovered, { registered, removed });
  return { registered, removed };
}

async function registerLeftFile(
  path: string,
  source: string,
  options: RegistrationOptions,
): Promise<boolean> {
  let object: StoredObject;
  try {
    object = await describe(options.dataDir, path, source);
  } catch (error) {
    if (!(error instanceof SonogateError)) throw error;
    // This only happens when the disk has lost synced bytes.
    const kept = await quarantine(options.dataDir, path);
    options.logger.event(EVENTS.objectUnreadable, { code: error.code, kept });
    return false;
  }
  try {
    await registerObject(object, options);
    return true;
  } catch (error) {
    const cause = error instanceof RowMayExistError ? error.cause : error;
    // The object went to the quarantine, or is left for the next start; one object stops no start.
    if (cause instanceof SonogateError) return false;
    throw cause;
  }
}

async function describe(dataDir: string, path: string, source: string): Promise<StoredObject> {
  const absolute = join(dataDir, path);
  const { meta, dataSetOffset, bytes } = await readFileMeta(absolute);
  return {
    path,
    meta,
    bytes,
    fileSha256: await digest(absolute, 0),
    dataSetSha256: await digest(absolute, dataSetOffset),
    source,
  };
}

async function digest(path: string, start: number): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { start })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
