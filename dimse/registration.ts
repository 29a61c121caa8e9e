import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Source } from '../config/schema.ts';
import type { Database } from '../src/database/port.ts';
import { SonogateError } from '../src/errors/catalogue.ts';
import type { ReceivedObjects } from '../src/files/port.ts';
import type { Logger } from '../src/logging/logger.ts';
import { quietDeadline, rerunPolicy } from './completion.ts';
import { type InstanceHeader, readInstanceHeader } from './header.ts';
import { quarantine } from './intake-folder.ts';
import type { FileMeta } from './part10.ts';
import { addInstance } from './study-arrival.ts';
import { isKnown } from './study-queries.ts';
import type { Arrival } from './study-store.ts';

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

/**
 * Gives a stored object its row, once it is safe for the whole site; after this it may be
 * acknowledged. What cannot be used is moved to the quarantine folder, a duplicate is removed.
 * @throws SonogateError `object_not_understood` (C000H), `object_mismatch` (A900H),
 * `storage_unreachable` (A700H).
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
  const arrival = await addInstance(database, {
    path,
    bytes: object.bytes,
    fileSha256: object.fileSha256,
    dataSetSha256: object.dataSetSha256,
    transferSyntax: meta.transferSyntax,
    header,
    source: object.source,
    callingAeTitle: meta.sourceAeTitle,
    calledAeTitle: meta.receivingAeTitle,
    receivedAt,
    completeAfter: quietDeadline(sources, object.source, receivedAt),
    rerunAlways: rerunPolicy(sources, object.source) === 'always',
  });
  if (arrival.outcome === 'duplicate') await rm(join(dataDir, path));
  // Removed by the end of its retention between the two looks.
  else if (known) await objects.keep(object);
  if (arrival.outcome === 'conflict') {
    logger.warn(
      { study: arrival.studyId, path },
      'an object with a known SOP Instance UID and other content; both are kept',
    );
  }
  return arrival;
}

/** What the header must have as the sender says. */
const IDENTIFYING = ['sopClassUid', 'sopInstanceUid', 'studyInstanceUid'] as const;

async function usableHeader(
  { path, meta, statedStudy }: StoredObject,
  { dataDir, logger }: RegistrationOptions,
): Promise<InstanceHeader> {
  try {
    const header = await readInstanceHeader(join(dataDir, path));
    const stated = { ...header, ...meta, ...(statedStudy && { studyInstanceUid: statedStudy }) };
    if (IDENTIFYING.every((uid) => header[uid] === stated[uid])) return header;
    throw new SonogateError('object_mismatch');
  } catch (error) {
    if (!(error instanceof SonogateError)) throw error;
    const kept = await quarantine(dataDir, path);
    logger.warn({ code: error.code, detail: error.detail, kept }, 'object put in quarantine');
    throw error;
  }
}
