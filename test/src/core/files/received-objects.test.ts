import { mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseS3Url, type S3Location } from '../../../../config/schema.ts';
import { openS3BlobStore, type S3BlobStore } from '../../../../src/core/files/blob-s3.ts';
import type { ReceivedObjects } from '../../../../src/core/files/received-objects.ts';
import {
  createReceivedObjects,
  objectsOnDisk,
  removeFetched,
} from '../../../../src/core/files/received-objects.ts';
import { startS3rver } from '../../../peers/s3rver.ts';

/** FIPS 180-2 B.1. */
const SHA256_OF_ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
const OBJECT = { path: 'intake/cart/2026-01-01/a.dcm', fileSha256: SHA256_OF_ABC };
const NOWHERE = { path: 'intake/cart/2026-01-01/b.dcm', fileSha256: '0'.repeat(64) };

let server: Awaited<ReturnType<typeof startS3rver>>;
let blobs: S3BlobStore;
let listener: string;
let other: string;
let elsewhere: ReceivedObjects;

beforeAll(async () => {
  server = await startS3rver();
  listener = await mkdtemp(join(tmpdir(), 'sonogate-listener-'));
  other = await mkdtemp(join(tmpdir(), 'sonogate-other-'));
  blobs = await openS3BlobStore(parseS3Url(server.url) as S3Location, join(listener, 'spool'));
  await mkdir(join(listener, 'intake/cart/2026-01-01'), { recursive: true });
  await writeFile(join(listener, OBJECT.path), 'abc');
  elsewhere = createReceivedObjects(other, blobs);
});
afterAll(async () => {
  blobs.close();
  await server.stop();
  for (const folder of [listener, other]) await rm(folder, { recursive: true });
});

describe('an object that one machine received', () => {
  it('is found by another once it is kept, but not before', async () => {
    expect(await elsewhere.has(OBJECT)).toBe(false);
    expect(await elsewhere.locate(OBJECT)).toBeNull();
    await createReceivedObjects(listener, blobs).keep({ ...OBJECT, bytes: 3 });
    expect(await elsewhere.has(OBJECT)).toBe(true);
    expect(await readFile((await elsewhere.locate(OBJECT)) ?? '', 'utf8')).toBe('abc');
    expect(await elsewhere.locate(NOWHERE)).toBeNull();
  });

  it('is kept separate for a day from objects that the other machine received itself', async () => {
    const path = (await elsewhere.locate(OBJECT)) ?? '';
    expect(path).toBe(join(other, 'fetched', OBJECT.path));
    const day = 24 * 3_600_000;
    const fetched = new Date('2026-01-02T00:00:00Z');
    await utimes(path, fetched, fetched);
    await removeFetched(other, new Date(fetched.getTime() + day));
    expect(await readFile(path, 'utf8')).toBe('abc');
    await removeFetched(other, new Date(fetched.getTime() + day + 1));
    await expect(readFile(path)).rejects.toThrow('ENOENT');
    expect(await elsewhere.locate(OBJECT)).toBe(path);
  });

  it('cannot be kept while the bucket cannot be reached: a transient refusal, A700H', async () => {
    const away = await startS3rver();
    const location = parseS3Url(away.url) as S3Location;
    const store = await openS3BlobStore(location, join(listener, 'spool'));
    await away.stop();
    const objects = createReceivedObjects(listener, store);
    await expect(objects.keep({ ...OBJECT, bytes: 3 })).rejects.toMatchObject({
      code: 'storage_unreachable',
    });
    store.close();
  });
});

it('without a bucket, an object is where it was received, or nowhere', async () => {
  const { sha256 } = await blobs.write(Readable.from([Buffer.from('abc')]), 3);
  const here = objectsOnDisk(listener);
  expect(await here.locate(OBJECT)).toBe(join(listener, OBJECT.path));
  expect(await objectsOnDisk(other).has({ ...OBJECT, fileSha256: sha256 })).toBe(false);
});

it('an object that cannot be reached is not mistaken for one that no longer exists', async () => {
  // A link to itself makes the disk return an error other than ENOENT.
  const path = 'intake/cart/2026-01-01/loop.dcm';
  await symlink('loop.dcm', join(listener, path));
  const here = objectsOnDisk(listener);
  await expect(here.has({ path, fileSha256: SHA256_OF_ABC })).rejects.toThrow('ELOOP');
  await expect(here.locate({ path, fileSha256: SHA256_OF_ABC })).rejects.toThrow('ELOOP');
});
