import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseS3Url, type S3Location } from '../../../../config/schema.ts';
import { openS3BlobStore, type S3BlobStore } from '../../../../src/core/files/blob-s3.ts';
import { UPLOAD_LIFE_MS, WrongSizeError } from '../../../../src/core/files/blob-store.ts';
import { startS3rver } from '../../../peers/s3rver.ts';
import { presignedSignature } from '../../../peers/signature-v4.ts';

/** FIPS 180-2 B.1. */
const SHA256_OF_ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
const DICOM = 'application/dicom';

let server: Awaited<ReturnType<typeof startS3rver>>;
let spool: string;
let location: S3Location;
let store: S3BlobStore;

beforeAll(async () => {
  server = await startS3rver();
  spool = await mkdtemp(join(tmpdir(), 'sonogate-spool-'));
  location = parseS3Url(server.url) as S3Location;
  store = await openS3BlobStore(location, spool);
});
afterAll(async () => {
  store.close();
  await server.stop();
  await rm(spool, { recursive: true });
});

async function downloadUrl(sha256: string, seconds: number, name = 'a', mediaType = DICOM) {
  return (await store.direct.downloadUrl(sha256, { name, mediaType }, seconds)) ?? '';
}

const put = (url: string, body: string) =>
  fetch(url, { method: 'PUT', body, headers: { 'Content-Type': DICOM } });

describe('a download address', () => {
  it('returns the bytes under the name and media type for which it was made', async () => {
    const { sha256 } = await store.write(Readable.from([Buffer.from('abc')]), 3);
    const name = "Bericht 'Müller' (1).pdf";
    const url = await downloadUrl(sha256, 300, name, 'application/pdf');
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/pdf');
    expect(answer.headers.get('content-disposition')).toBe(
      "attachment; filename*=UTF-8''Bericht%20%27M%C3%BCller%27%20%281%29.pdf",
    );
    expect(await answer.text()).toBe('abc');
  });

  it('is signed for one object and a limited time, without revealing the secret', async () => {
    const url = new URL(await downloadUrl(SHA256_OF_ABC, 300));
    expect(url.pathname).toBe(`/sonogate/blobs/${SHA256_OF_ABC}`);
    expect(url.searchParams.get('X-Amz-Algorithm')).toBe('AWS4-HMAC-SHA256');
    expect(url.searchParams.get('X-Amz-Expires')).toBe('300');
    expect(url.searchParams.get('X-Amz-Signature')).toBe(
      presignedSignature('GET', url, {}, location.secretAccessKey),
    );
    expect(url.searchParams.get('X-Amz-Credential')).toContain('/eu-central-1/s3/aws4_request');
    expect(url.password).toBe('');
  });

  it('is not made for bytes that do not exist', async () => {
    expect(await downloadUrl('0'.repeat(64), 300)).toBe('');
  });

  it('is refused after it has expired', async () => {
    const now = Date.now();
    const signedAt = async (time: number) => {
      vi.useFakeTimers({ toFake: ['Date'], now: time });
      try {
        return await downloadUrl(SHA256_OF_ABC, 60);
      } finally {
        vi.useRealTimers();
      }
    };
    expect((await fetch(await signedAt(now - 30_000))).status).toBe(200);
    expect((await fetch(await signedAt(now - 62_000))).status).toBe(403);
  });
});

describe('an upload address', () => {
  it('is signed for the size and media type that were announced', async () => {
    const url = new URL(
      await store.direct.uploadUrl('file_signed', { bytes: 3, mediaType: DICOM }, 900),
    );
    expect(url.searchParams.get('X-Amz-SignedHeaders')).toBe('content-length;content-type;host');
    expect(url.searchParams.get('X-Amz-Expires')).toBe('900');
    const signature = (headers: Record<string, string>) =>
      presignedSignature('PUT', url, headers, location.secretAccessKey);
    const announced = { 'content-length': '3', 'content-type': DICOM };
    expect(url.searchParams.get('X-Amz-Signature')).toBe(signature(announced));
    expect(signature({ ...announced, 'content-length': '4' })).not.toBe(signature(announced));
  });

  it('of a part is signed for the part and its size', async () => {
    const { multipart } = store.direct;
    const part = { partNumber: 2, bytes: 3 };
    const url = new URL(await multipart.partUrl('file_p', 'upload', part, 900));
    expect(url.pathname).toBe('/sonogate/incoming/file_p');
    expect(url.searchParams.get('partNumber')).toBe('2');
    expect(url.searchParams.get('uploadId')).toBe('upload');
    expect(url.searchParams.get('X-Amz-SignedHeaders')).toBe('content-length;host');
    expect(url.searchParams.get('X-Amz-Signature')).toBe(
      presignedSignature('PUT', url, { 'content-length': '3' }, location.secretAccessKey),
    );
  });

  it('accepts bytes that are then kept under their SHA-256, once', async () => {
    const url = await store.direct.uploadUrl('file_1', { bytes: 3, mediaType: DICOM }, 900);
    expect((await put(url, 'abc')).status).toBe(200);
    expect(await store.direct.takeIn('file_1', 3)).toEqual({ sha256: SHA256_OF_ABC, bytes: 3 });
    expect(await text(await store.read(SHA256_OF_ABC))).toBe('abc');
    expect(await store.direct.takeIn('file_1', 3)).toBeNull();
  });

  it('keeps the last of several PUTs', async () => {
    const url = await store.direct.uploadUrl('file_2', { bytes: 3, mediaType: DICOM }, 900);
    await put(url, 'xyz');
    await put(url, 'abc');
    expect((await store.direct.takeIn('file_2', 3))?.sha256).toBe(SHA256_OF_ABC);
  });

  it('keeps nothing before the PUT', async () => {
    expect(await store.direct.takeIn('file_3', 3)).toBeNull();
  });

  it('discards an upload with more or fewer bytes than announced', async () => {
    const url = await store.direct.uploadUrl('file_4', { bytes: 4, mediaType: DICOM }, 900);
    for (const expected of [3, 5]) {
      await put(url, 'abcd');
      await expect(store.direct.takeIn('file_4', expected)).rejects.toBeInstanceOf(WrongSizeError);
      expect(await store.direct.takeIn('file_4', 4)).toBeNull();
    }
  });

  it('leaves no unfinished upload behind', async () => {
    const url = await store.direct.uploadUrl('file_5', { bytes: 3, mediaType: DICOM }, 900);
    await put(url, 'abc');
    await store.removeAbandoned(new Date(Date.now() + 0.99 * UPLOAD_LIFE_MS));
    expect((await store.direct.takeIn('file_5', 3))?.bytes).toBe(3);
    await put(url, 'abc');
    await store.removeAbandoned(new Date(Date.now() + 1.01 * UPLOAD_LIFE_MS));
    expect(await store.direct.takeIn('file_5', 3)).toBeNull();
  });
});

describe('the address of an S3-compatible store', () => {
  it('contains server, bucket, region and key', () => {
    expect(parseS3Url('s3://AKIA:a%2Fb@s3.example.org/sonogate?region=eu-west-1')).toEqual({
      endpoint: 'https://s3.example.org',
      bucket: 'sonogate',
      region: 'eu-west-1',
      accessKeyId: 'AKIA',
      secretAccessKey: 'a/b',
    });
    expect(parseS3Url('https://a:b@store.example.org:9000/files')).toMatchObject({
      endpoint: 'https://store.example.org:9000',
      region: 'us-east-1',
    });
    expect(parseS3Url('http://a:b@10.0.0.7:9000/files')?.endpoint).toBe('http://10.0.0.7:9000');
  });

  it.each([
    ['no bucket', 's3://a:b@host/'],
    ['a path below the bucket', 's3://a:b@host/files/below'],
    ['no key', 's3://host/files'],
    ['no secret', 's3://a@host/files'],
    ['a bucket of two letters', 's3://a:b@host/ab'],
    ['a secret that is wrongly encoded', 's3://a:b%zz@host/files'],
    ['another scheme', 'ftp://a:b@host/files'],
    ['no address', 'files'],
  ])('is refused with %s', (_, url) => {
    expect(parseS3Url(url)).toBeNull();
  });

  it('stops the startup if nothing answers there', async () => {
    const nowhere = parseS3Url(server.url.replace('/sonogate?', '/elsewhere?')) as S3Location;
    await expect(openS3BlobStore(nowhere, spool)).rejects.toThrow();
  });
});
