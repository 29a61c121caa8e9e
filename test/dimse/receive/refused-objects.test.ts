import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createSourceLimits } from '../../../dimse/receive/admission.ts';
import { createIntake } from '../../../dimse/receive/storage-scp.ts';
import { decodeFileMeta, encodeFileMeta } from '../../../pipelines/dicom/part10.ts';
import { objectsOnDisk, type ReceivedObjects } from '../../../src/core/files/received-objects.ts';
import { quarantinedObjects } from '../../../src/core/studies/quarantine.ts';
import {
  openRecoveryRecord,
  recoverIntake,
  registerQuarantined,
} from '../../../src/core/studies/recover-intake.ts';
import { findStudy, knownPaths } from '../../../src/core/studies/study-store.ts';
import type { PooledDatabase } from '../../../src/platform/database/pooled.ts';
import type { Database, Queryable } from '../../../src/platform/database/port.ts';
import { SonogateError } from '../../../src/platform/errors/catalogue.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { type OpenDatabase, openFreshDatabase } from '../../peers/database.ts';
import { dicomFile, type SmallObject } from '../dicom-file.ts';
import { source } from './source.ts';

/**
 * The search words of the worklist are limited to 2046 bytes. PostgreSQL compresses a value first, so
 * a letter that is repeated would not exceed them.
 */
const TOO_LONG_TO_SEARCH = randomBytes(3000).toString('hex');

let fresh: OpenDatabase;
let dataDir = '';
let database: PooledDatabase;
let study = '';
let count = 0;

beforeAll(async () => {
  fresh = await openFreshDatabase();
  ({ database, dataDir } = fresh);
});
afterAll(async () => {
  await fresh.close();
});
beforeEach(() => {
  count += 1;
  study = `1.2.840.77.${count}`;
});

const registration = (over: { database?: Database; objects?: ReceivedObjects } = {}) => ({
  dataDir,
  database,
  objects: objectsOnDisk(dataDir),
  sources: [source('cart', {})],
  logger: silentLogger,
  now: () => new Date(),
  ...over,
});

async function receive(
  over: Parameters<typeof registration>[0] & { callingAeTitle?: string },
  object: Partial<SmallObject> = {},
  missingBytes = 0,
): Promise<void> {
  const { callingAeTitle = 'CART', ...parts } = over;
  const intake = createIntake({
    ...registration(parts),
    limits: { maxObjectBytes: 10_000_000, minFreeBytes: 0 },
    sourceLimits: createSourceLimits(),
    answersBeforeRow: false,
    onArrival: () => {},
    onAssociationEnd: async () => {},
  });
  const file = dicomFile({ sopInstanceUid: `${study}.1`, studyInstanceUid: study, ...object });
  const { meta, dataSetOffset } = decodeFileMeta(file);
  const sink = await intake.open(meta, {
    id: 'association',
    callingAeTitle,
    calledAeTitle: 'SONOGATE',
    address: '127.0.0.1',
    source: 'cart',
  });
  await sink.write(file.subarray(dataSetOffset, file.length - missingBytes));
  await sink.commit();
}

async function filesBelow(folder: string): Promise<string[]> {
  const names = await readdir(join(dataDir, folder), { recursive: true }).catch(() => []);
  return names.filter((name) => /\.(dcm|part)$/.test(name)).sort();
}

const failing = (message: string) => async () => {
  throw new Error(message);
};

describe('an object that is refused', () => {
  const bucketAway: ReceivedObjects = {
    ...objectsOnDisk(''),
    shared: true,
    keep: async () => {
      throw new SonogateError('storage_unreachable');
    },
  };

  test.each([
    ['the bucket is away', () => ({ objects: bucketAway })],
    ['the database is away', () => ({ database: { ...database, transaction: failing('away') } })],
    [
      'the row cannot be written',
      () => ({
        database: {
          ...database,
          transaction: <T>(work: (tx: Queryable) => Promise<T>) =>
            database.transaction((tx) => work({ ...tx, query: failing('no space') })),
        },
      }),
    ],
  ])('because %s leaves no file, however often it arrives', async (_why, over) => {
    const before = await filesBelow('intake');
    for (let time = 0; time < 3; time += 1) await expect(receive(over())).rejects.toThrow();
    expect(await filesBelow('intake')).toEqual(before);
    await receive({});
    expect(await filesBelow('intake')).toHaveLength(before.length + 1);
  });

  test('keeps its file if the commit may have succeeded', async () => {
    const before = await filesBelow('intake');
    const unsure: Database = {
      ...database,
      transaction: async (work) => {
        await database.transaction(work);
        throw new Error('the connection was lost');
      },
    };
    await expect(receive({ database: unsure })).rejects.toThrow('the connection was lost');
    const left = (await filesBelow('intake')).filter((name) => !before.includes(name));
    expect(left).toHaveLength(1);
    expect(await knownPaths(database, [join('intake', left[0] ?? '')])).toHaveLength(1);
  });

  test('keeps its file if it has a row but cannot be put into the bucket', async () => {
    await receive({ objects: { ...bucketAway, keep: async () => {} } });
    const before = await filesBelow('intake');
    const forgetting: Database = {
      ...database,
      // The study is removed between the two checks.
      transaction: async (work) => {
        await database.query('DELETE FROM studies WHERE study_instance_uid = $1', [study]);
        return database.transaction(work);
      },
    };
    const refused = receive({ database: forgetting, objects: bucketAway });
    await expect(refused).rejects.toMatchObject({ code: 'storage_unreachable' });
    expect(await filesBelow('intake')).toHaveLength(before.length + 1);
    expect(await findStudy(database, study)).toMatchObject({ instance_count: 1 });
  });

  test('for a value that the database does not accept is not understood, and is quarantined', async () => {
    const [stored, kept] = [await filesBelow('intake'), await filesBelow('quarantine')];
    const refused = receive({}, { patientId: TOO_LONG_TO_SEARCH });
    await expect(refused).rejects.toMatchObject({ code: 'object_not_understood' });
    expect(await filesBelow('intake')).toEqual(stored);
    expect(await filesBelow('quarantine')).toHaveLength(kept.length + 1);
  });
});

test('an object whose pixel data are cut off is refused and quarantined, until a person registers it', async () => {
  const [stored, kept] = [await filesBelow('intake'), await quarantinedObjects(dataDir)];
  const refused = receive({}, { pixels: Buffer.alloc(100_000) }, 1);
  await expect(refused).rejects.toMatchObject({
    code: 'object_not_understood',
    detail: 'The data set ends within its pixel data.',
  });
  expect(await filesBelow('intake')).toEqual(stored);
  const known = new Set(kept.map(({ id }) => id));
  const [added] = (await quarantinedObjects(dataDir)).filter(({ id }) => !known.has(id));
  await registerQuarantined(added?.id ?? '', registration());
  expect(await findStudy(database, study)).toMatchObject({ instance_count: 1 });
});

test('a calling AE title with NUL is kept without it', async () => {
  await receive({ callingAeTitle: 'A\0B' });
  expect(await findStudy(database, study)).toMatchObject({ calling_ae_title: 'AB' });
});

describe('at startup', () => {
  beforeEach(() => rm(join(dataDir, 'intake'), { recursive: true, force: true }));

  const title = { sourceAeTitle: 'A\0B', receivingAeTitle: 'SONOGATE' };

  async function left(name: string, object: Partial<SmallObject> = {}): Promise<void> {
    const file = dicomFile({ sopInstanceUid: `${study}.1`, studyInstanceUid: study, ...object });
    const { meta, dataSetOffset } = decodeFileMeta(file);
    const day = join(dataDir, 'intake', 'cart', '2026-01-01');
    await mkdir(day, { recursive: true });
    const prefix = encodeFileMeta({ ...meta, ...title });
    await writeFile(join(day, name), Buffer.concat([prefix, file.subarray(dataSetOffset)]));
  }

  test('objects that cannot get a row are quarantined, and the others are registered', async () => {
    const kept = await filesBelow('quarantine');
    await left('a.dcm', { studyInstanceUid: '1.'.padEnd(6000, '2') });
    await left('b.dcm', { patientId: TOO_LONG_TO_SEARCH });
    await left('c.dcm');
    expect(await recoverIntake(registration())).toEqual({ registered: 1, removed: 0 });
    expect(await filesBelow('quarantine')).toHaveLength(kept.length + 2);
    expect(await findStudy(database, study)).toMatchObject({ calling_ae_title: 'AB' });
    expect(await recoverIntake(registration())).toEqual({ registered: 0, removed: 0 });
  });

  test('an object that two startups failed to finish is quarantined at the third', async () => {
    const kept = await filesBelow('quarantine');
    await left('killer.dcm');
    await left('other.dcm', { sopInstanceUid: `${study}.2` });
    // Creates what two startups leave behind if they are killed while they register the file.
    const killer = join('intake', 'cart', '2026-01-01', 'killer.dcm');
    for (const _start of [1, 2]) {
      const record = await openRecoveryRecord(dataDir);
      expect(await record.begins(killer)).toBe(true);
    }
    expect(await recoverIntake(registration())).toEqual({ registered: 1, removed: 0 });
    expect(await filesBelow('quarantine')).toHaveLength(kept.length + 1);
    expect(await findStudy(database, study)).toMatchObject({ instance_count: 1 });

    const [newest] = await quarantinedObjects(dataDir);
    expect(newest).toMatchObject({ source: 'cart', code: 'object_not_understood' });
    await registerQuarantined(newest?.id ?? '', registration());
    expect(await findStudy(database, study)).toMatchObject({ instance_count: 2 });
    expect(await filesBelow('quarantine')).toHaveLength(kept.length);
  });

  test('an object that is registered again but still cannot get a row is quarantined again', async () => {
    await left('e.dcm', { patientId: TOO_LONG_TO_SEARCH });
    await recoverIntake(registration());
    const kept = await filesBelow('quarantine');
    const [newest] = await quarantinedObjects(dataDir);
    expect(newest).toMatchObject({ callingAeTitle: 'AB', code: 'object_not_understood' });
    const again = registerQuarantined(newest?.id ?? '', registration());
    await expect(again).rejects.toMatchObject({ code: 'object_not_understood' });
    expect(await filesBelow('quarantine')).toHaveLength(kept.length);
  });

  test('registration stops while the database is unavailable, and nothing is quarantined', async () => {
    const kept = await filesBelow('quarantine');
    await left('d.dcm');
    const away = { ...database, transaction: failing('away') };
    for (const _start of [1, 2, 3]) {
      await expect(recoverIntake(registration({ database: away }))).rejects.toThrow('away');
    }
    expect(await filesBelow('quarantine')).toEqual(kept);
    expect(await recoverIntake(registration())).toEqual({ registered: 1, removed: 0 });
  });
});
