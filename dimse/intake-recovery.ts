import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SonogateError } from '../src/errors/catalogue.ts';
import { dayFolders, PARTIAL_SUFFIX, quarantine } from './intake-folder.ts';
import { readFileMeta } from './part10.ts';
import { type RegistrationOptions, registerObject, type StoredObject } from './registration.ts';
import { RowMayStandError } from './study-arrival.ts';
import { unregisteredObjects } from './unregistered-objects.ts';

/**
 * Takes up, at the start, objects that reached the disk without a row, and removes partial ones:
 * no sender was told that they are safe. Run before the listener opens.
 * @returns how many objects got a row, and how many partial files were removed.
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
      if (await takeUp(path, source, options)) registered += 1;
    }
  }
  if (registered > 0 || removed > 0) logger.info({ registered, removed }, 'intake recovered');
  return { registered, removed };
}

async function takeUp(
  path: string,
  source: string,
  options: RegistrationOptions,
): Promise<boolean> {
  let object: StoredObject;
  try {
    object = await describe(options.dataDir, path, source);
  } catch (error) {
    if (!(error instanceof SonogateError)) throw error;
    // Only a disk that lost synced bytes gives this.
    const kept = await quarantine(options.dataDir, path);
    options.logger.error({ code: error.code, kept }, 'a stored object cannot be read');
    return false;
  }
  try {
    await registerObject(object, options);
    return true;
  } catch (error) {
    const cause = error instanceof RowMayStandError ? error.cause : error;
    // Put into quarantine for its own data, or left for the next start; one object stops no start.
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
