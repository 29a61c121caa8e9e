import { access, mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseS3Url, type S3Location } from '../../config/schema.ts';
import { openS3BlobStore, type S3BlobStore } from '../../src/core/files/blob-s3.ts';
import { createReceivedObjects } from '../../src/core/files/received-objects.ts';
import { removeOrphanedFiles } from '../../src/core/studies/intake-folder.ts';
import { removeOldStudies, retentionCutoff } from '../../src/core/studies/retention.ts';
import type { PooledDatabase } from '../../src/platform/database/pooled.ts';
import { type OpenDatabase, openFreshDatabase } from './database.ts';
import { startS3rver } from './s3rver.ts';

const DAY = 86_400_000;
const STUDY = '00000000-0000-4000-8000-000000000001';
const OTHER = '00000000-0000-4000-8000-000000000002';
const PATH = 'intake/cart/2026-01-01/one.dcm';
/** SHA-256 of `abc` (FIPS 180-2 B.1). */
const DIGEST = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

let server: Awaited<ReturnType<typeof startS3rver>>;
let blobs: S3BlobStore;
let database: PooledDatabase;
let fresh: OpenDatabase;
let listener = '';
let other = '';

beforeAll(async () => {
  [server, fresh, other] = await Promise.all([
    startS3rver(),
    openFreshDatabase(),
    mkdtemp(join(tmpdir(), 'sonogate-data-')),
  ]);
  ({ database, dataDir: listener } = fresh);
  blobs = await openS3BlobStore(parseS3Url(server.url) as S3Location, join(listener, 'spool'));
});
afterAll(async () => {
  blobs?.close();
  await server?.stop();
  await Promise.all([fresh?.close(), rm(other, { recursive: true, force: true })]);
});

const there = (dataDir: string) =>
  access(join(dataDir, PATH)).then(
    () => true,
    () => false,
  );

async function writeOld(dataDir: string): Promise<void> {
  const path = join(dataDir, PATH);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, 'abc');
  const written = new Date(Date.now() - 10 * DAY);
  await utimes(path, written, written);
}

/**
 * A study with one object that arrived ten days ago, was moved to the bucket, and is no longer
 * needed.
 */
beforeEach(async () => {
  await database.query('DELETE FROM studies');
  await database.query('DELETE FROM unneeded_blobs');
  await writeOld(listener);
  const objects = createReceivedObjects(listener, blobs);
  await objects.keep({ path: PATH, fileSha256: DIGEST, bytes: 3 });
  await insertStudy(STUDY, PATH, new Date(Date.now() - 10 * DAY));
});

async function insertStudy(id: string, path: string, last: Date): Promise<void> {
  await database.query(
    `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
       identity, first_received_at, last_received_at, complete_after)
     VALUES ($1::uuid, '1.2.' || right($1::uuid::text, 1), 'cart', 'CART', 'SONOGATE', 'ignored', '{}', $2, $2, $2)`,
    [id, last],
  );
  await database.query(
    `INSERT INTO instances (id, study_id, sop_instance_uid, ordinal, revision, path, bytes,
       file_sha256, data_set_sha256, conflict, transfer_syntax, header, received_at)
     VALUES (gen_random_uuid(), $1, '1.2.3.1', 1, 1, $2, 3, $3, 'b', false, '1.2', '{}', $4)`,
    [id, path, DIGEST, last],
  );
}

const clean = (dataDir: string, hoursFromNow: number) =>
  removeOldStudies(
    {
      database,
      dataDir,
      objects: createReceivedObjects(dataDir, blobs),
      intakeDays: 5,
      quarantineDays: null,
      now: () => new Date(Date.now() + hoursFromNow * 3_600_000),
    },
    false,
  );

describe('a removed study at a site with a bucket', () => {
  test('leaves the disk at once and the bucket an hour later', async () => {
    expect(await clean(listener, 0)).toMatchObject({ studies: 1, objects: 1 });
    expect(await there(listener)).toBe(false);
    expect(await blobs.direct.has(DIGEST)).toBe(true);
    await clean(listener, 1.1);
    expect(await blobs.direct.has(DIGEST)).toBe(false);
    expect((await database.query('SELECT 1 FROM unneeded_blobs')).rows).toEqual([]);
  });

  test('leaves in the bucket what another study also uses', async () => {
    await insertStudy(OTHER, 'intake/cart/2026-06-01/again.dcm', new Date());
    expect(await clean(listener, 0)).toMatchObject({ studies: 1 });
    await clean(listener, 1.1);
    expect(await blobs.direct.has(DIGEST)).toBe(true);
  });

  test('that another machine removed leaves the disk of the receiving machine', async () => {
    expect(await clean(other, 0)).toMatchObject({ studies: 1 });
    expect(await there(listener)).toBe(true);
    await clean(listener, 0);
    expect(await there(listener)).toBe(false);
  });
});

describe("a machine's local copies", () => {
  const sweep = (days: number) => {
    const parts = { database, dataDir: listener };
    return removeOrphanedFiles(parts, retentionCutoff(days, new Date()), new Date());
  };

  test('are kept while their study has a row, however old they are', async () => {
    await sweep(5);
    expect(await there(listener)).toBe(true);
  });

  test.each([
    [9.9, false],
    [10.1, true],
  ])(
    'without a row, written ten days ago, with a retention of %d days: kept %s',
    async (days, kept) => {
      await database.query('DELETE FROM studies');
      await sweep(days);
      expect(await there(listener)).toBe(kept);
    },
  );

  test('that have just arrived and have no row yet are kept, whatever the retention', async () => {
    await database.query('DELETE FROM studies');
    await utimes(join(listener, PATH), new Date(), new Date());
    await sweep(0);
    expect(await there(listener)).toBe(true);
  });
});
