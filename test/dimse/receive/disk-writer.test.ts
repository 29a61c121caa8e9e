import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DiskWriter } from '../../../dimse/receive/disk-writer.ts';

let folder = '';
let writer: DiskWriter;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-disk-writer-'));
  writer = new DiskWriter({ dataSetDigests: true });
});
afterEach(async () => {
  await writer.close();
  await rm(folder, { recursive: true, force: true });
});

const PREFIX = Buffer.from('before the data set');
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Bytes without a pattern, so that swapping blocks would change the digest. */
function noise(bytes: number, seed: number): Buffer {
  const data = Buffer.alloc(bytes);
  for (let at = 0, value = seed; at < bytes; at += 1) {
    value = (value * 1_103_515_245 + 12_345) % 2 ** 31;
    data[at] = value >> 16;
  }
  return data;
}

async function store(name: string, dataSet: Buffer, pieceBytes: number) {
  const file = writer.open(join(folder, 'day', `${name}.part`), PREFIX);
  for (let from = 0; from < dataSet.length; from += pieceBytes) {
    const piece = Buffer.from(dataSet.subarray(from, from + pieceBytes));
    await file.write(piece);
    // The caller may reuse its memory after each write.
    piece.fill(0);
  }
  return file.finish(join(folder, 'day', `${name}.dcm`));
}

test('objects that arrive simultaneously are written byte for byte, with their digests', async () => {
  const dataSets = [0, 1, 131_072, 400_001, 6_000_000].map((bytes, seed) => noise(bytes, seed + 1));
  const written = await Promise.all(
    dataSets.map((dataSet, n) => store(String(n), dataSet, 16_000 + n)),
  );
  for (const [n, dataSet] of dataSets.entries()) {
    const content = Buffer.concat([PREFIX, dataSet]);
    const checksum = crc32(content).toString(16).padStart(8, '0');
    expect(written[n]?.path).toBe(join(folder, 'day', `${n}.${checksum}.dcm`));
    const file = await readFile(written[n]?.path ?? '');
    expect(file.equals(content)).toBe(true);
    expect(written[n]?.bytes).toBe(file.length);
    const digests = { fileSha256: sha256(file), dataSetSha256: sha256(dataSet) };
    expect(await written[n]?.digests).toEqual(digests);
  }
});

test('an object that cannot be written is refused at once, however long it is', async () => {
  await writeFile(join(folder, 'day'), 'a file instead of a folder');
  await expect(store('a', noise(6_000_000, 1), 64_000)).rejects.toMatchObject({ code: 'ENOTDIR' });
  expect(await readdir(folder)).toEqual(['day']);
});

test('without a bucket, only the digest of the file is computed', async () => {
  await writer.close();
  writer = new DiskWriter({ dataSetDigests: false });
  const written = await store('a', noise(400_001, 1), 64_000);
  const fileSha256 = sha256(await readFile(written.path));
  expect(await written.digests).toEqual({ fileSha256, dataSetSha256: null });
});
