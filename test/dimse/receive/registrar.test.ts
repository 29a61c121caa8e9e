import { randomBytes } from 'node:crypto';
import {
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createSourceLimits } from '../../../dimse/receive/admission.ts';
import { createIntake, type Intake } from '../../../dimse/receive/storage-scp.ts';
import { convertedFile } from '../../../pipelines/dicom/explicit-implicit.ts';
import { decodeFileMeta } from '../../../pipelines/dicom/part10.ts';
import { objectsOnDisk } from '../../../src/core/files/received-objects.ts';
import { completeDueStudies } from '../../../src/core/studies/completion.ts';
import { quarantinedObjects } from '../../../src/core/studies/quarantine.ts';
import { recoverIntake, registerQuarantined } from '../../../src/core/studies/recover-intake.ts';
import { MOST_OUTSTANDING } from '../../../src/core/studies/registrar.ts';
import { type Arrival, findStudy } from '../../../src/core/studies/study-store.ts';
import type { PooledDatabase } from '../../../src/platform/database/pooled.ts';
import { DatabaseUnreachableError } from '../../../src/platform/database/pooled.ts';
import type { Database } from '../../../src/platform/database/port.ts';
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
let away = false;
/** True if the connection to the database is lost during each commit. */
let lostAtCommit = false;
/** What transactions wait for. */
let held: Promise<void> = Promise.resolve();
let delays: unknown[] = [];
let intake: Intake;
let arrivals: Arrival[] = [];

beforeAll(async () => {
  fresh = await openFreshDatabase();
  ({ database, dataDir } = fresh);
});
afterAll(async () => {
  await fresh.close();
});
beforeEach(async () => {
  count += 1;
  study = `1.2.840.78.${count}`;
  away = false;
  lostAtCommit = false;
  held = Promise.resolve();
  delays = [];
  arrivals = [];
  await rm(join(dataDir, 'intake'), { recursive: true, force: true });
  await rm(join(dataDir, 'quarantine'), { recursive: true, force: true });
  intake = openIntake();
});
afterEach(() => intake.close());

const flaky = (): Database => ({
  ...database,
  transaction: async (work) => {
    await held;
    if (away) throw new DatabaseUnreachableError('away');
    return database.transaction(async (tx) => {
      const answer = await work(tx);
      if (lostAtCommit) throw new DatabaseUnreachableError('lost');
      return answer;
    });
  },
});

const registration = () => ({
  dataDir,
  database: flaky(),
  objects: objectsOnDisk(dataDir),
  sources: [source('cart', {})],
  logger: {
    ...silentLogger,
    event: (id: string, fields?: object) => {
      if (id === 'rows_delayed') delays.push(fields);
    },
  },
  now: () => new Date(),
});

function openIntake(other: Partial<ReturnType<typeof registration>> = {}): Intake {
  return createIntake({
    ...registration(),
    ...other,
    limits: { maxObjectBytes: 10_000_000, minFreeBytes: 0 },
    sourceLimits: createSourceLimits(),
    answersBeforeRow: true,
    onArrival: (_peer, _source, arrival) => arrivals.push(arrival),
    onAssociationEnd: async () => {},
  });
}

const peer = (id: string) => ({
  id,
  callingAeTitle: 'CART',
  calledAeTitle: 'SONOGATE',
  address: '127.0.0.1',
  source: 'cart',
});

/** Stores an object as the listener does. Resolves when the listener would answer with 0000H. */
async function receive(object: Partial<SmallObject> = {}, association = 'a'): Promise<void> {
  const file = dicomFile({ sopInstanceUid: `${study}.1`, studyInstanceUid: study, ...object });
  const { meta, dataSetOffset } = decodeFileMeta(file);
  const sink = await intake.open(meta, peer(association));
  await sink.write(file.subarray(dataSetOffset));
  await sink.commit();
}

async function filesBelow(folder: string): Promise<string[]> {
  const names = await readdir(join(dataDir, folder), { recursive: true }).catch(() => []);
  return names.filter((name) => /\.(dcm|part)$/.test(name)).sort();
}

const rows = async () =>
  (
    await database.query<{ uid: string; path: string; conflict: boolean; ordinal: number }>(
      `SELECT i.sop_instance_uid AS uid, i.path, i.conflict, i.ordinal FROM instances i
       JOIN studies s ON s.id = i.study_id WHERE s.study_instance_uid = $1 ORDER BY ordinal`,
      [study],
    )
  ).rows;

const release = (association = 'a') => intake.ended(peer(association), 'released');

test('an object is answered while the database is unavailable, and gets its row later', async () => {
  away = true;
  await receive();
  expect(await filesBelow('intake')).toHaveLength(1);
  expect(await rows()).toEqual([]);
  expect(intake.registrar.outstanding()).toEqual([study]);
  away = false;
  await release();
  expect(await rows()).toHaveLength(1);
  expect(intake.registrar.outstanding()).toEqual([]);
});

test('a batch whose commit fails because the database is away is not divided', async () => {
  lostAtCommit = true;
  const { promise, resolve } = Promise.withResolvers<void>();
  held = promise;
  for (let n = 1; n <= 5; n += 1) await receive({ sopInstanceUid: `${study}.${n}` });
  intake.registrar.hurry();
  resolve();
  await expect
    .poll(() => delays.at(-1))
    .toEqual({ objects: 5, error: expect.stringContaining('lost') });
  lostAtCommit = false;
  await release();
  expect(await rows()).toHaveLength(5);
});

/** Fills the registrar. Only the number of the objects matters: they are never written. */
function fill(): void {
  const { registrar } = intake;
  const receivedAt = new Date();
  const digests = async () => ({ fileSha256: '', dataSetSha256: '' });
  const object = { path: '', meta: {}, digests, header: { studyInstanceUid: study }, receivedAt };
  for (let n = 0; n < MOST_OUTSTANDING; n += 1) {
    registrar.register(object as Parameters<typeof registrar.register>[0]).catch(() => {});
  }
  registrar.hurry();
}

test('an object that waits to be received when the gateway stops is refused', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  held = promise;
  fill();
  const waiting = intake.registrar.room().catch((error) => error.code);
  const closed = intake.close();
  resolve();
  expect(await waiting).toBe('overloaded');
  await closed;
});

test('objects beyond the number that may wait are refused while the database is unavailable', async () => {
  away = true;
  fill();
  await expect.poll(() => receive().catch((error) => error.code)).toBe('overloaded');
});

test('a process that ends between the response and the row neither loses nor duplicates an object', async () => {
  away = true;
  await receive({ sopInstanceUid: `${study}.1` });
  await receive({ sopInstanceUid: `${study}.2` });
  await intake.close();
  expect(await rows()).toEqual([]);
  away = false;
  expect(await recoverIntake(registration())).toEqual({ registered: 2, removed: 0 });
  expect((await rows()).map(({ uid }) => uid).sort()).toEqual([`${study}.1`, `${study}.2`]);
  expect(await recoverIntake(registration())).toEqual({ registered: 0, removed: 0 });
  expect(await findStudy(database, study)).toMatchObject({ instance_count: 2, revision: 1 });
});

test('a file that was renamed but not synced when the machine lost power is quarantined, not registered', async () => {
  away = true;
  await receive({ sopInstanceUid: `${study}.1` });
  await receive({ sopInstanceUid: `${study}.2` });
  await intake.close();
  away = false;
  const [cutShort = '', changed = ''] = await filesBelow('intake');
  const bytes = await readFile(join(dataDir, 'intake', changed));
  await truncate(join(dataDir, 'intake', cutShort), bytes.length - 1);
  bytes[bytes.length - 1] = 0xff;
  await writeFile(join(dataDir, 'intake', changed), bytes);
  expect(await recoverIntake(registration())).toEqual({ registered: 0, removed: 0 });
  expect(await rows()).toEqual([]);
  expect(await filesBelow('intake')).toEqual([]);
  const aside = await quarantinedObjects(dataDir);
  expect(aside.map(({ code, source }) => [code, source])).toEqual([
    ['object_not_understood', 'cart'],
    ['object_not_understood', 'cart'],
  ]);
  // A person may still decide to use what arrived.
  await registerQuarantined(aside[0]?.id ?? '', registration());
  expect(await rows()).toHaveLength(1);
});

test('a file stored by version 1.0, whose name has no checksum, is registered', async () => {
  away = true;
  await receive();
  await intake.close();
  away = false;
  const [name = ''] = await filesBelow('intake');
  const former = name.replace(/\.[0-9a-f]{8}\.dcm$/, '.dcm');
  expect(former).not.toBe(name);
  await rename(join(dataDir, 'intake', name), join(dataDir, 'intake', former));
  expect(await recoverIntake(registration())).toEqual({ registered: 1, removed: 0 });
});

test('an object that another startup has registered meanwhile keeps its file and its only row', async () => {
  away = true;
  await receive();
  away = false;
  expect(await recoverIntake(registration())).toEqual({ registered: 1, removed: 0 });
  await release();
  expect(arrivals).toMatchObject([{ outcome: 'new' }]);
  expect(await rows()).toHaveLength(1);
  expect(await filesBelow('intake')).toHaveLength(1);
});

test('duplicates within one batch leave one row and one file', async () => {
  await Promise.all([receive({}, 'a'), receive({}, 'b'), receive({}, 'c')]);
  await Promise.all(['a', 'b', 'c'].map(release));
  expect(arrivals.map(({ outcome }) => outcome).sort()).toEqual(['duplicate', 'duplicate', 'new']);
  expect(await rows()).toHaveLength(1);
  expect(await filesBelow('intake')).toHaveLength(1);
});

test('two objects with the same SOP Instance UID but different content are both kept, one as a conflict', async () => {
  const other = Buffer.alloc(16, 7);
  await Promise.all([receive({}, 'a'), receive({ pixels: other }, 'b')]);
  await Promise.all(['a', 'b'].map(release));
  expect((await rows()).map(({ conflict }) => conflict)).toEqual([false, true]);
  expect(await filesBelow('intake')).toHaveLength(2);
});

test('an object that is sent again after its row was written leaves one row and one file', async () => {
  await receive();
  await release();
  await receive();
  await release();
  expect(arrivals.map(({ outcome }) => outcome)).toEqual(['new', 'duplicate']);
  expect(await rows()).toHaveLength(1);
  expect(await filesBelow('intake')).toHaveLength(1);
});

/** Stores an object of the intake again, in the other of Explicit and Implicit VR. */
async function receiveConverted(name: string): Promise<void> {
  const { bytes, read, ...object } = await convertedFile(join(dataDir, 'intake', name));
  const sink = await intake.open(object, peer('pacs'));
  for await (const piece of read(bytes)) await sink.write(piece);
  await sink.commit();
  await release('pacs');
}

test('an object that an archive returns in another encoding leaves one row and one file', async () => {
  await receive({ patientId: 'P1' });
  await release();
  const [name = ''] = await filesBelow('intake');
  await receiveConverted(name);
  expect(arrivals.map(({ outcome }) => outcome)).toEqual(['new', 'duplicate']);
  expect(await rows()).toHaveLength(1);
  expect(await filesBelow('intake')).toEqual([name]);
  await receive({ patientId: 'P2' });
  await release();
  expect(arrivals.map(({ outcome }) => outcome)).toEqual(['new', 'duplicate', 'conflict']);
});

test('the bucket does not keep an object that is returned in another encoding', async () => {
  await intake.close();
  const copied: string[] = [];
  const bucket = {
    shared: true,
    keep: async ({ path }: { path: string }) => void copied.push(path),
  };
  intake = openIntake({ objects: { ...objectsOnDisk(dataDir), ...bucket } });
  const unneeded = async () => (await database.query('SELECT 1 FROM unneeded_blobs')).rows.length;
  const before = await unneeded();
  await receive();
  await release();
  expect([copied.length, (await unneeded()) - before]).toEqual([1, 0]);
  await receiveConverted((await filesBelow('intake'))[0] ?? '');
  expect([copied.length, (await unneeded()) - before]).toEqual([2, 1]);
  await receive();
  await release();
  expect([copied.length, (await unneeded()) - before]).toEqual([2, 1]);
});

test('an object whose earlier copy can no longer be read is kept beside it', async () => {
  await receive();
  await release();
  const [name = ''] = await filesBelow('intake');
  await rm(join(dataDir, 'intake', name));
  await receive();
  await release();
  expect(arrivals.map(({ outcome }) => outcome)).toEqual(['new', 'conflict']);
  expect(await filesBelow('intake')).toHaveLength(1);
  await receive();
  await release();
  expect(arrivals.map(({ outcome }) => outcome)).toEqual(['new', 'conflict', 'duplicate']);
});

test('a file that cannot be read does not keep the gateway from starting, nor other files from their rows', async () => {
  away = true;
  await receive({ sopInstanceUid: `${study}.1` });
  await receive({ sopInstanceUid: `${study}.2` });
  await intake.close();
  away = false;
  const [name = ''] = await filesBelow('intake');
  // Reading a folder fails with EISDIR, as reading a damaged sector fails with EIO.
  await rm(join(dataDir, 'intake', name));
  await mkdir(join(dataDir, 'intake', name));
  await mkdir(join(dataDir, 'intake', `${name}.part`));
  const events: string[] = [];
  const logger = { ...silentLogger, event: (id: string) => void events.push(id) };
  const recovering = { ...registration(), logger, isAlone: true };
  expect(await recoverIntake(recovering)).toEqual({ registered: 1, removed: 0 });
  expect(events.filter((id) => id === 'received_file_unreadable')).toHaveLength(2);
  expect(await rows()).toHaveLength(1);
  expect(await filesBelow('intake')).toHaveLength(3);
});

test('objects of one batch keep the order of their arrival', async () => {
  const uids = Array.from({ length: 20 }, (_, n) => `${study}.${n + 1}`);
  for (const sopInstanceUid of uids) await receive({ sopInstanceUid });
  await release();
  expect((await rows()).map(({ uid, ordinal }) => [uid, ordinal])).toEqual(
    uids.map((uid, index) => [uid, index + 1]),
  );
});

describe('a value that the database does not accept', () => {
  test('quarantines its object, and no other, with an audit entry', async () => {
    const refused = `${study}.9`;
    await Promise.all([
      receive({ sopInstanceUid: `${study}.1` }),
      receive({
        studyInstanceUid: refused,
        sopInstanceUid: refused,
        patientId: TOO_LONG_TO_SEARCH,
      }),
      receive({ sopInstanceUid: `${study}.2` }),
    ]);
    await release();
    expect((await rows()).map(({ uid }) => uid).sort()).toEqual([`${study}.1`, `${study}.2`]);
    expect(await findStudy(database, refused)).toBeNull();
    expect(await filesBelow('intake')).toHaveLength(2);
    expect(await filesBelow('quarantine')).toHaveLength(1);
    const { rows: audited } = await database.query(
      `SELECT actor, detail ->> 'source' AS source FROM audit
       WHERE action = 'dicom.quarantined'`,
    );
    expect(audited).toEqual([{ actor: 'ae:CART', source: 'cart' }]);
  });
});

test('a study is not complete while one of its rows is outstanding', async () => {
  await receive({ sopInstanceUid: `${study}.1` });
  await release();
  away = true;
  await receive({ sopInstanceUid: `${study}.2` });
  const later = new Date(Date.now() + 3_600_000);
  await completeDueStudies(database, later, () => intake.registrar.outstanding());
  expect(await findStudy(database, study)).toMatchObject({ state: 'receiving' });
  away = false;
  await release();
  await completeDueStudies(database, later, () => intake.registrar.outstanding());
  expect(await findStudy(database, study)).toMatchObject({ state: 'complete', instance_count: 2 });
});

test('an association that ends waits only for the rows of its objects', async () => {
  await receive({}, 'a');
  await intake.settled?.(peer('a'));
  expect(await rows()).toHaveLength(1);
  away = true;
  await receive({ sopInstanceUid: `${study}.2` }, 'a');
  const other = await Promise.race([intake.settled?.(peer('b')), pause(1000, 'waits')]);
  expect(other).toBeUndefined();
});

describe('a partial file in the data folder', () => {
  const folder = () => join(dataDir, 'intake/cart/2026-01-01');
  beforeEach(async () => {
    await mkdir(folder(), { recursive: true });
    for (const name of ['arriving.part', 'left.part']) await writeFile(join(folder(), name), 'x');
    const hoursAgo = new Date(Date.now() - 2 * 3_600_000);
    await utimes(join(folder(), 'left.part'), hoursAgo, hoursAgo);
  });
  afterEach(() => rm(folder(), { recursive: true }));

  test('is kept by the start of another process while its object may still be arriving', async () => {
    expect(await recoverIntake(registration())).toEqual({ registered: 0, removed: 1 });
    expect(await readdir(folder())).toEqual(['arriving.part']);
  });

  test('is removed at a start with the embedded database, which serves one process', async () => {
    const alone = { ...registration(), isAlone: true };
    expect(await recoverIntake(alone)).toEqual({ registered: 0, removed: 2 });
    expect(await readdir(folder())).toEqual([]);
  });
});
