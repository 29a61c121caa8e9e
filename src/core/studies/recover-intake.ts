import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readFileMeta } from '../../../pipelines/dicom/part10.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { ifMissing } from '../../platform/errors/file-system.ts';
import type { RecordAction } from '../audit/audit.ts';
import {
  contentOf,
  type JudgedObject,
  judgeObject,
  moveToQuarantine,
  type RegistrationOptions,
  registerAtOnce,
  type StoredObject,
} from './arrival.ts';
import {
  dayFolders,
  removePartialFiles,
  statedChecksum,
  unregisteredObjects,
} from './intake-folder.ts';
import { leaveQuarantine } from './quarantine.ts';

/**
 * At startup, registers objects that reached the disk but have no row, and deletes partial files,
 * which were never acknowledged to their senders. A file whose content is incomplete is
 * quarantined. Runs before the listener opens.
 * `isAlone` is as in `removePartialFiles`.
 * @returns how many objects got a row, and how many partial files were deleted.
 */
export async function recoverIntake(
  options: RegistrationOptions & { isAlone?: boolean },
): Promise<{ registered: number; removed: number }> {
  const { dataDir, logger, isAlone = false } = options;
  const record = await openRecoveryRecord(dataDir);
  let registered = 0;
  const removed = await removePartialFiles(dataDir, isAlone, (path, error) =>
    logger.event('received_file_unreadable', { path, error: String(error) }),
  );
  try {
    for (const { source, folder } of await dayFolders(dataDir)) {
      for await (const path of unregisteredObjects(options, folder)) {
        if (!(await record.begins(path))) {
          const detail = 'The gateway died twice while registering the object at startup.';
          const why = { code: 'object_not_understood', detail } as const;
          await moveToQuarantine({ path, source }, why, options);
        } else if (await registerAtStart(path, source, options)) registered += 1;
      }
    }
  } finally {
    // The record is removed even after an error. It remains only if the process itself ends while
    // an object is being registered, because that object may be the cause.
    await record.ends();
  }
  if (registered > 0 || removed > 0) logger.event('intake_recovered', { registered, removed });
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
    options.logger.event('received_file_unreadable', { path, error: String(error.cause) });
    return false;
  }
}

/**
 * Registers a quarantined object as if it had just arrived, for example after an upgrade that can
 * read it or a change of the database encoding.
 * @param record records this in the audit trail. It is called before the object is moved.
 * @throws SonogateError `not_found`, or the reason why it was moved back to the quarantine.
 */
export async function registerQuarantined(
  id: string,
  options: RegistrationOptions,
  record: RecordAction = async () => {},
): Promise<void> {
  const { path, source } = await leaveQuarantine(options.dataDir, id, options.now(), record);
  await registerFile(path, source, options);
}

/** Thrown if an I/O error prevents a file from being read or from being moved to the quarantine. */
class UnreadableFileError extends Error {
  override name = 'UnreadableFileError';
}

interface FileOptions extends RegistrationOptions {
  /** True to quarantine a file whose content differs from the checksum in its name. */
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
  await registerAtOnce(judged, options);
}

/**
 * Reads and checks a file in the intake folder.
 * @throws SonogateError if the file was quarantined; otherwise the error of the file system.
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
      'The content differs from its checksum. The host lost power before the object was acknowledged, or the disk has lost bytes.';
    throw new SonogateError('object_not_understood', detail);
  }
  if (start instanceof SonogateError) throw start;
  const { meta, bytes } = start;
  return { path, meta, bytes, digests: async () => digests, source };
}

/**
 * Maximum number of startups that may end while registering the same object. The next startup
 * quarantines the object. A limit of one would be too low: a startup may be killed for another
 * reason, and the object was acknowledged.
 */
const MOST_ENDED_STARTS = 2;

const recordSchema = z.object({ path: z.string(), starts: z.number() });

/**
 * Records which unregistered object is about to be registered at startup. Otherwise an object that
 * ends the process, for instance by exhausting the memory, would do so at every startup.
 */
interface RecoveryRecord {
  /**
   * Called before each object is registered.
   * @returns false if the object has ended too many startups.
   */
  begins(path: string): Promise<boolean>;
  /** Called once all objects have been registered. */
  ends(): Promise<void>;
}

export async function openRecoveryRecord(dataDir: string): Promise<RecoveryRecord> {
  const file = join(dataDir, 'recovering.json');
  const before = parsed(await ifMissing(readFile(file, 'utf8'), ''));
  return {
    async begins(path) {
      const starts = before?.path === path ? before.starts + 1 : 1;
      if (starts > MOST_ENDED_STARTS) return false;
      await writeFile(file, JSON.stringify({ path, starts }), { mode: 0o600 });
      return true;
    },
    ends: () => rm(file, { force: true }),
  };
}

/** Parses a record; null if the record is incomplete. */
function parsed(text: string): z.infer<typeof recordSchema> | null {
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
