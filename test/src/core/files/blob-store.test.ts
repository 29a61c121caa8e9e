import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseS3Url, type S3Location } from '../../../../config/schema.ts';
import { openBlobFolder } from '../../../../src/core/files/blob-folder.ts';
import { openS3BlobStore } from '../../../../src/core/files/blob-s3.ts';
import {
  BlobMissingError,
  type BlobStore,
  TooManyBytesError,
} from '../../../../src/core/files/blob-store.ts';
import { startS3rver } from '../../../peers/s3rver.ts';

/** FIPS 180-2 B.1. */
const SHA256_OF_ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
const SHA256_OF_NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const HOUR_MS = 3_600_000;
const MIB = 2 ** 20;

const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS);
const chunks = (...parts: string[]) => Readable.from(parts.map((part) => Buffer.from(part)));

interface OpenStore {
  store: BlobStore;
  incoming: string;
  fileOf(sha256: string): string;
  close(): Promise<void>;
}

async function openFolder(): Promise<OpenStore> {
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-blobs-'));
  const store = openBlobFolder(folder);
  return {
    store,
    incoming: join(folder, 'incoming'),
    fileOf: store.path,
    close: () => rm(folder, { recursive: true }),
  };
}

async function openS3(): Promise<OpenStore> {
  const server = await startS3rver();
  const spool = await mkdtemp(join(tmpdir(), 'sonogate-spool-'));
  const store = await openS3BlobStore(parseS3Url(server.url) as S3Location, spool);
  return {
    store,
    incoming: spool,
    fileOf: (sha256) => server.fileOf(`blobs/${sha256}`),
    async close() {
      store.close();
      await server.stop();
      await rm(spool, { recursive: true });
    },
  };
}

describe.each([
  ['a folder', openFolder],
  ['an S3-compatible server', openS3],
])('a blob store in %s', (_, openStore) => {
  let store: BlobStore;
  let incoming: string;
  let fileOf: OpenStore['fileOf'];
  let close: () => Promise<void>;
  let work: string;

  beforeAll(async () => {
    ({ store, incoming, fileOf, close } = await openStore());
    work = await mkdtemp(join(tmpdir(), 'sonogate-work-'));
  });
  afterAll(async () => {
    await close();
    await rm(work, { recursive: true });
  });

  it('keeps bytes under their SHA-256', async () => {
    expect(await store.write(chunks('a', 'bc'), 3)).toEqual({ sha256: SHA256_OF_ABC, bytes: 3 });
    expect(await text(await store.read(SHA256_OF_ABC))).toBe('abc');
    expect(await readdir(incoming)).toEqual([]);
  });

  it('accepts the same bytes again', async () => {
    expect(await store.write(chunks('abc'), 3)).toEqual({ sha256: SHA256_OF_ABC, bytes: 3 });
    expect(await text(await store.read(SHA256_OF_ABC))).toBe('abc');
  });

  it('keeps a file without bytes', async () => {
    expect(await store.write(chunks(), 0)).toEqual({ sha256: SHA256_OF_NOTHING, bytes: 0 });
    expect(await text(await store.read(SHA256_OF_NOTHING))).toBe('');
  });

  it('keeps several MiB that arrive in many chunks', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const many = Array.from({ length: (8 * MIB) / chunk.length }, () => chunk);
    const { sha256, bytes } = await store.write(Readable.from(many), 8 * MIB);
    expect(bytes).toBe(8 * MIB);
    expect((await text(await store.read(sha256))).length).toBe(8 * MIB);
  });

  it('keeps nothing of a stream that exceeds the limit', async () => {
    await expect(store.write(chunks('abc', 'def'), 5)).rejects.toBeInstanceOf(TooManyBytesError);
    expect(await readdir(incoming)).toEqual([]);
  });

  it('keeps nothing of a stream that fails', async () => {
    async function* broken() {
      yield Buffer.from('ab');
      throw new Error('connection lost');
    }
    await expect(store.write(Readable.from(broken()), 3)).rejects.toThrow('connection lost');
    expect(await readdir(incoming)).toEqual([]);
  });

  it('reports that there are no bytes for a digest', async () => {
    const digest = '0'.repeat(64);
    await expect(store.read(digest)).rejects.toBeInstanceOf(BlobMissingError);
    await expect(store.place(digest, join(work, 'missing'))).rejects.toBeInstanceOf(
      BlobMissingError,
    );
    expect(await readdir(work)).toEqual([]);
  });

  it('copies bytes to a work folder, but never over an existing file', async () => {
    const folder = join(work, 'files');
    await mkdir(folder);
    await store.place(SHA256_OF_ABC, join(folder, 'image.dcm'));
    expect(await readFile(join(folder, 'image.dcm'), 'utf8')).toBe('abc');
    await expect(store.place(SHA256_OF_NOTHING, join(folder, 'image.dcm'))).rejects.toThrow(
      'EEXIST',
    );
    expect(await readFile(join(folder, 'image.dcm'), 'utf8')).toBe('abc');
  });

  it('removes bytes only if no upload can still be about to refer to them', async () => {
    const { sha256 } = await store.write(chunks('to go'), 5);
    await store.remove(sha256, inHours(0.9));
    expect(await text(await store.read(sha256))).toBe('to go');
    await store.remove(sha256, inHours(1.1));
    await expect(store.read(sha256)).rejects.toBeInstanceOf(BlobMissingError);
    await store.remove(sha256, inHours(1.1));
  });

  it('counts the hour from the last time the bytes arrived', async () => {
    const { sha256 } = await store.write(chunks('again'), 5);
    await utimes(fileOf(sha256), inHours(-2), inHours(-2));
    await store.write(chunks('again'), 5);
    await store.remove(sha256, new Date());
    expect(await text(await store.read(sha256))).toBe('again');
  });

  it('removes what a killed process left half-written, and leaves running uploads alone', async () => {
    await writeFile(join(incoming, 'abandoned'), 'ab');
    await utimes(join(incoming, 'abandoned'), inHours(-2), inHours(-2));
    await writeFile(join(incoming, 'running'), 'ab');
    await store.removeAbandoned(new Date());
    expect(await readdir(incoming)).toEqual(['running']);
  });

  it('reports how much space is free', async () => {
    expect(await store.free()).toBeGreaterThan(MIB);
    await store.requireWritable();
    await store.requireWritable();
  });
});

it('a blob folder is created by the first write, not by reading', async () => {
  const root = await mkdtemp(join(tmpdir(), 'sonogate-blobs-'));
  const store = openBlobFolder(join(root, 'files'));
  await expect(store.read(SHA256_OF_ABC)).rejects.toBeInstanceOf(BlobMissingError);
  await store.remove(SHA256_OF_ABC, new Date());
  await store.removeAbandoned(new Date());
  expect(await readdir(root)).toEqual([]);
  expect(await store.write(chunks('abc'), 3)).toMatchObject({ sha256: SHA256_OF_ABC });
  expect(await readdir(root)).toEqual(['files']);
  await rm(root, { recursive: true });
});

it('the free space for a blob folder is known before the folder exists', async () => {
  const root = await mkdtemp(join(tmpdir(), 'sonogate-blobs-'));
  expect(await openBlobFolder(join(root, 'files')).free()).toBeGreaterThan(MIB);
  await rm(root, { recursive: true });
});
