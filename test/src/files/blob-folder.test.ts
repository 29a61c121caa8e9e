import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BlobFolder, openBlobFolder } from '../../../src/files/blob-folder.ts';
import { TooManyBytesError } from '../../../src/files/blob-store.ts';

/** FIPS 180-2 B.1. */
const SHA256_OF_ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
const HOUR_MS = 3_600_000;

describe('the blob folder', () => {
  let folder: string;
  let blobs: BlobFolder;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sonogate-blobs-'));
    blobs = await openBlobFolder(folder);
  });
  afterEach(() => rm(folder, { recursive: true }));

  const incoming = () => readdir(join(folder, 'incoming'));
  const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS);

  it('keeps bytes under their SHA-256', async () => {
    expect(await blobs.write(Readable.from([Buffer.from('a'), Buffer.from('bc')]), 3)).toEqual({
      sha256: SHA256_OF_ABC,
      bytes: 3,
    });
    expect(await readFile(blobs.path(SHA256_OF_ABC), 'utf8')).toBe('abc');
    expect(await incoming()).toEqual([]);
  });

  it('keeps nothing of a stream that passes the limit', async () => {
    const source = Readable.from([Buffer.from('ab'), Buffer.from('c')]);
    await expect(blobs.write(source, 2)).rejects.toBeInstanceOf(TooManyBytesError);
    expect(await readdir(folder, { recursive: true })).toEqual(['incoming']);
  });

  it('keeps nothing of a stream that fails', async () => {
    async function* broken() {
      yield Buffer.from('ab');
      throw new Error('connection lost');
    }
    await expect(blobs.write(Readable.from(broken()), 3)).rejects.toThrow('connection lost');
    expect(await readdir(folder, { recursive: true })).toEqual(['incoming']);
  });

  it('removes bytes only when no upload can still be about to refer to them', async () => {
    await blobs.write(Readable.from([Buffer.from('abc')]), 3);
    await blobs.remove(SHA256_OF_ABC, inHours(0.9));
    expect(await readFile(blobs.path(SHA256_OF_ABC), 'utf8')).toBe('abc');
    await blobs.remove(SHA256_OF_ABC, inHours(1.1));
    await expect(readFile(blobs.path(SHA256_OF_ABC))).rejects.toThrow('ENOENT');
  });

  it('removes what a killed process left half-written, and leaves running uploads alone', async () => {
    await writeFile(join(folder, 'incoming', 'abandoned'), 'ab');
    await utimes(join(folder, 'incoming', 'abandoned'), inHours(-2), inHours(-2));
    await writeFile(join(folder, 'incoming', 'running'), 'ab');
    await blobs.removeAbandoned(new Date());
    expect(await incoming()).toEqual(['running']);
  });
});
