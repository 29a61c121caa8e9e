import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseS3Url, type S3Location } from '../../../../config/schema.ts';
import { openS3BlobStore } from '../../../../src/core/files/blob-s3.ts';
import {
  createReceivedObjects,
  objectsOnDisk,
  type ReceivedObjects,
} from '../../../../src/core/files/received-objects.ts';
import { startS3rver } from '../../../peers/s3rver.ts';

interface Opened {
  objects: ReceivedObjects;
  close(): Promise<void>;
}

const openFolder = async (dataDir: string): Promise<Opened> => ({
  objects: objectsOnDisk(dataDir),
  close: async () => {},
});

async function openBucket(dataDir: string): Promise<Opened> {
  const server = await startS3rver();
  const location = parseS3Url(server.url) as S3Location;
  const blobs = await openS3BlobStore(location, join(dataDir, 'spool'));
  return {
    objects: createReceivedObjects(dataDir, blobs),
    async close() {
      blobs.close();
      await server.stop();
    },
  };
}

describe.each([
  ['folder', openFolder],
  ['bucket', openBucket],
] as const)('received objects in a %s', (_name, open) => {
  let dataDir = '';
  let opened: Opened;
  let count = 0;
  let object = { path: '', fileSha256: '', bytes: 0 };

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'sonogate-received-'));
    opened = await open(dataDir);
  });
  afterAll(async () => {
    await opened.close();
    await rm(dataDir, { recursive: true });
  });
  /** A new object that has been synced to the data folder, as after intake. */
  beforeEach(async () => {
    count += 1;
    const content = Buffer.from(`object ${count}`);
    const fileSha256 = createHash('sha256').update(content).digest('hex');
    object = { path: `intake/cart/2026-01-01/${count}.dcm`, fileSha256, bytes: content.length };
    await mkdir(dirname(join(dataDir, object.path)), { recursive: true });
    await writeFile(join(dataDir, object.path), content);
  });

  test('has an object that was kept, and finds its bytes', async () => {
    await opened.objects.keep(object);
    expect(await opened.objects.has(object)).toBe(true);
    const path = await opened.objects.locate(object);
    expect(await readFile(path ?? '', 'utf8')).toBe(`object ${count}`);
  });

  test('can be kept again without harm', async () => {
    await opened.objects.keep(object);
    await expect(opened.objects.keep(object)).resolves.toBeUndefined();
    expect(await opened.objects.has(object)).toBe(true);
  });

  test('does not have an object that never arrived', async () => {
    const missing = { path: 'intake/cart/2026-01-01/missing.dcm', fileSha256: '0'.repeat(64) };
    expect(await opened.objects.has(missing)).toBe(false);
    expect(await opened.objects.locate(missing)).toBeNull();
  });

  test("still has its object if only this machine's copy is lost, provided that machines share it", async () => {
    await opened.objects.keep(object);
    await rm(join(dataDir, object.path));
    expect(await opened.objects.has(object)).toBe(opened.objects.shared);
    expect((await opened.objects.locate(object)) !== null).toBe(opened.objects.shared);
  });

  test('removes bytes that were never written without an error', async () => {
    await expect(opened.objects.remove('1'.repeat(64), new Date())).resolves.toBeUndefined();
  });

  test('does not remove bytes within the hour after they were written', async () => {
    await opened.objects.keep(object);
    await opened.objects.remove(object.fileSha256, new Date());
    expect(await opened.objects.has(object)).toBe(true);
  });
});
