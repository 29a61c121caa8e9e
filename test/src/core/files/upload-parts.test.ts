import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseS3Url, type S3Location } from '../../../../config/schema.ts';
import { openBlobFolder } from '../../../../src/core/files/blob-folder.ts';
import { openS3BlobStore } from '../../../../src/core/files/blob-s3.ts';
import type { NamedPart, PartState, UploadParts } from '../../../../src/core/files/upload-parts.ts';
import {
  createPartsInBucket,
  createPartsThroughGateway,
} from '../../../../src/core/files/upload-parts.ts';
import type { PooledDatabase } from '../../../../src/platform/database/pooled.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { type OpenDatabase, openFreshDatabase } from '../../../peers/database.ts';
import { startMoto } from '../../../peers/moto.ts';
import { startS3rver } from '../../../peers/s3rver.ts';

/** S3 accepts no shorter part except the last one. */
const PART_BYTES = 5 * 2 ** 20;
const FILE = Buffer.alloc(PART_BYTES + 1000, 'sonogate');
const OTHER = Buffer.alloc(PART_BYTES + 1000, 'elsewhere');
const DAY_MS = 24 * 3_600_000;

let ahead = 0;
const now = () => new Date(Date.now() + ahead);

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

type Open = (database: PooledDatabase, folder: string) => Promise<Opened | null>;
interface Opened {
  parts: UploadParts;
  close(): Promise<void>;
}

const inFolder: Open = async (database, folder) => {
  const blobs = openBlobFolder(folder);
  return {
    parts: createPartsThroughGateway(database, blobs, PART_BYTES, now),
    close: async () => {},
  };
};

const inBucket =
  (start: () => Promise<{ url: string; stop(): Promise<void> } | null>): Open =>
  async (database, folder) => {
    const server = await start();
    if (!server) return null;
    const store = await openS3BlobStore(parseS3Url(server.url) as S3Location, folder);
    return {
      parts: createPartsInBucket(database, store.direct, PART_BYTES),
      async close() {
        store.close();
        await server.stop();
      },
    };
  };

describe.each([
  ['a folder', inFolder, { lists: true, direct: false }],
  ['a bucket of s3rver', inBucket(startS3rver), { lists: false, direct: true }],
  ['a bucket of moto', inBucket(startMoto), { lists: true, direct: true }],
])('parts of uploads to %s', (name, open, { lists, direct }) => {
  let fresh: OpenDatabase;
  let folder: string;
  let database: PooledDatabase;
  let opened: Opened | null;

  beforeAll(async () => {
    fresh = await openFreshDatabase();
    ({ database, dataDir: folder } = fresh);
    await database.query(`INSERT INTO accounts (id, name) VALUES ('a', 'An account')`);
    opened = await open(database, join(folder, 'blobs'));
  }, 90_000);
  afterAll(async () => {
    await opened?.close();
    await fresh.close();
  });

  /** Defines a test of the parts of a new pending file. */
  const spec = (title: string, when: boolean, run: (file: TestFile) => Promise<void>) =>
    it.skipIf(!when)(title, { timeout: 30_000 }, async ({ skip }) => {
      if (!opened) return skip(`${name}: the program is not installed`);
      const id = newId('file');
      await database.query(
        `INSERT INTO files (id, account_id, filename, media_type, bytes, status, created_at, expires_at)
         VALUES ($1, 'a', 'cine.dcm', 'application/dicom', $2, 'pending', now(), now())`,
        [id, FILE.length],
      );
      await run(testFile(opened.parts, id));
    });

  spec('come in any order, and are one file by their ETags', true, async (file) => {
    const [first, second] = await file.addresses();
    const last = await file.put(second, FILE);
    const named = [await file.put(first, FILE), last];
    expect(await file.assemble(named)).toBe(sha256(FILE));
  });

  spec('are one file without being named, once all have arrived', lists, async (file) => {
    const [first, second] = await file.addresses();
    await file.put(first, FILE);
    await expect(file.assemble(null)).rejects.toMatchObject({ code: 'upload_incomplete' });
    expect((await file.state()).map(({ etag }) => etag !== null)).toEqual([true, false]);
    await file.put(second, FILE);
    expect(await file.assemble(null)).toBe(sha256(FILE));
  });

  spec('can be brought again until they are one file: the last PUT counts', true, async (file) => {
    const [first, second] = await file.addresses();
    await file.put(first, OTHER);
    const named = [await file.put(first, FILE), await file.put(second, FILE)];
    expect(await file.assemble(named)).toBe(sha256(FILE));
  });

  spec('can be brought again after that, too', true, async (file) => {
    for (const bytes of [OTHER, FILE]) {
      const named: NamedPart[] = [];
      for (const part of await file.addresses()) named.push(await file.put(part, bytes));
      expect(await file.assemble(named)).toBe(sha256(bytes));
    }
  });

  spec('are named every one, in order', true, async (file) => {
    const named: NamedPart[] = [];
    for (const part of await file.addresses()) named.push(await file.put(part, FILE));
    for (const wrong of [named.toReversed(), named.slice(1), [...named, ...named]]) {
      await expect(file.assemble(wrong)).rejects.toMatchObject({ code: 'upload_incomplete' });
    }
    expect(await file.assemble(named)).toBe(sha256(FILE));
  });

  spec('are not one file by ETags that differ, and the upload can go on', lists, async (file) => {
    const named: NamedPart[] = [];
    for (const part of await file.addresses()) named.push(await file.put(part, FILE));
    const wrong = [{ part_number: 1, etag: `"${'0'.repeat(32)}"` }, ...named.slice(1)];
    await expect(file.assemble(wrong)).rejects.toMatchObject({
      code: 'upload_incomplete',
      detail: expect.stringContaining('parts 1;'),
    });
    expect(await file.assemble(named)).toBe(sha256(FILE));
  });

  spec('are gone after an abort, which can be said twice', lists, async (file) => {
    const [first] = await file.addresses();
    await file.put(first, FILE);
    await file.parts.abort(file.id);
    await file.parts.abort(file.id);
    if (direct) await expect(file.put(first, FILE)).rejects.toThrow(/^[45]\d\d$/);
  });

  spec('go once the file is no longer pending, and not before', lists, async (file) => {
    const [first] = await file.addresses();
    await file.put(first, FILE);
    const arrived = async () => (await file.state()).filter(({ etag }) => etag !== null).length;
    await file.parts.removeLeftOver();
    expect(await arrived()).toBe(1);
    await database.query('DELETE FROM files WHERE id = $1', [file.id]);
    ahead += DAY_MS;
    await file.parts.removeLeftOver();
    expect(await arrived()).toBe(0);
    if (direct) await expect(file.put(first, FILE)).rejects.toThrow(/^[45]\d\d$/);
  });

  spec('that were replaced go after a day, even from a pending file', !direct, async (file) => {
    const [first] = await file.addresses();
    const path = openBlobFolder(join(folder, 'blobs')).path;
    const part = (bytes: Buffer) => path(sha256(bytes.subarray(0, PART_BYTES)));
    for (const bytes of [OTHER, FILE]) await file.put(first, bytes);
    await database.query('DELETE FROM files WHERE id <> $1', [file.id]);
    ahead += DAY_MS;
    await file.parts.removeLeftOver();
    expect([existsSync(part(OTHER)), existsSync(part(FILE))]).toEqual([false, true]);
  });
});

type Addressed = PartState & { url: string | null };
type TestFile = ReturnType<typeof testFile>;

/** Returns the steps that a client performs with the parts of one file. */
function testFile(parts: UploadParts, id: string) {
  const state = () => parts.state(id, FILE.length);
  return {
    id,
    parts,
    state,
    addresses: async (): Promise<Addressed[]> =>
      Array.fromAsync(await state(), async (part) => ({
        ...part,
        url: await parts.url(id, part, 900),
      })),
    async put(part: Addressed | undefined, file: Buffer): Promise<NamedPart> {
      if (!part) throw new RangeError('the file has no such part');
      const { url, partNumber, firstByte, bytes } = part;
      const body = file.subarray(firstByte, firstByte + bytes);
      if (url === null) {
        const source = Readable.from([body]);
        const sent = { source, length: bytes };
        const etag = await parts.receive(id, file.length, partNumber, sent, async () => {});
        return { part_number: partNumber, etag };
      }
      const answer = await fetch(url, { method: 'PUT', body: new Uint8Array(body) });
      if (!answer.ok) throw new Error(`${answer.status}`);
      return { part_number: partNumber, etag: answer.headers.get('ETag') ?? '' };
    },
    assemble: (named: readonly NamedPart[] | null) => parts.assemble(id, FILE.length, named),
  };
}
