import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Source } from '../config/schema.ts';
import type { Database } from '../src/database/port.ts';
import { SonogateError } from '../src/errors/catalogue.ts';
import type { ReceivedObjects } from '../src/files/port.ts';
import type { Logger } from '../src/logging/logger.ts';
import { quietDeadline, rerunPolicy } from './completion.ts';
import { attributeText, type InstanceHeader, readInstanceHeader } from './header.ts';
import { quarantine } from './intake-folder.ts';
import type { FileMeta } from './part10.ts';
import { addInstance, RowMayStandError } from './study-arrival.ts';
import { isKnown } from './study-queries.ts';
import type { Arrival, ReceivedInstance } from './study-store.ts';

/** An object that lies complete and synced on the disk. */
export interface StoredObject {
  /** Below the data folder. */
  path: string;
  meta: FileMeta;
  bytes: number;
  fileSha256: string;
  dataSetSha256: string;
  source: string;
  /** The study that the sender says it is of, where it says so. */
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

/** SQLSTATE of what a value breaks: data exceptions, and limits of an index or of a word. */
const OF_ITS_VALUES = /^(22|54)\w{3}$/;

/**
 * Gives a stored object its row, once it is safe for the whole site; after this it may be
 * acknowledged. What cannot be used is moved to the quarantine folder, a duplicate is removed.
 * @throws SonogateError `object_not_understood` (C000H), `object_mismatch` (A900H),
 * `storage_unreachable` (A700H); RowMayStandError where the row stands or may stand.
 */
export async function registerObject(
  object: StoredObject,
  options: RegistrationOptions,
): Promise<Arrival> {
  const { dataDir, database, objects, sources, logger, now } = options;
  const { path, meta } = object;
  const header = await usableHeader(object, options);
  // What comes again was made safe when it came first.
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
    // Removed by the end of its retention between the two looks.
    else if (known) await objects.keep(object);
  } catch (error) {
    throw new RowMayStandError('an object that has its row is not settled', { cause: error });
  }
  if (arrival.outcome === 'conflict') {
    logger.warn(
      { study: arrival.studyId, path },
      'an object with a known SOP Instance UID and other content; both are kept',
    );
  }
  return arrival;
}

/** The row of an object, or the quarantine where its own values are such that it can have none. */
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

/** What the header must have as the sender says. */
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

/** Moves an object into the quarantine. @throws the error that says why. */
async function putAside(
  path: string,
  why: SonogateError,
  { dataDir, logger }: RegistrationOptions,
): Promise<never> {
  const kept = await quarantine(dataDir, path);
  logger.warn({ code: why.code, detail: why.detail, kept }, 'object put in quarantine');
  throw why;
}
