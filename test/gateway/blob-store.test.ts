import { createHash } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sonogate } from '../../clients/typescript/src/index.ts';
import { startS3rver } from '../peers/s3rver.ts';
import { type PhantomFiles, phantomFiles } from './phantom.ts';
import { openSite, type Site } from './site.ts';

/** FIPS 180-2 B.1. */
const SHA256_OF_ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

/** Larger than some images of the study but smaller than others. */
const PUT_LIMIT = 500_000;

let server: Awaited<ReturnType<typeof startS3rver>>;
let site: Site;
let key: string;
let client: Sonogate;
let study: PhantomFiles;

beforeAll(async () => {
  server = await startS3rver();
  site = await openSite({
    roles: ['api', 'worker'],
    blobUrl: server.url,
    http: { host: '127.0.0.1', port: 0, maxUploadBytes: PUT_LIMIT, uploadPartBytes: 300_000 },
  });
  const made = await site.gateway.run('keys.create', { name: 'client' });
  ({ key } = made);
  client = new Sonogate({ url: site.gateway.http?.url ?? '', key });
  study = await phantomFiles('blob-store');
});
afterAll(async () => {
  await site.close();
  await server.stop();
  await rm(study.folder, { recursive: true });
});

interface Announced {
  file: { id: string };
  upload: { url: string; headers: Record<string, string> };
  complete_url: string;
}

const post = (url: string, body: unknown = {}) =>
  fetch(new URL(url, site.gateway.http?.url), {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

async function announce(bytes: number): Promise<Announced> {
  const announced = { filename: 'a.dcm', bytes, media_type: 'application/dicom' };
  return (await (await post('/v1/uploads', announced)).json()) as Announced;
}

const put = ({ upload: { url, headers } }: Announced, body: string) =>
  fetch(url, { method: 'PUT', headers, body });

/** Uploads a file and states the ETags of its parts, because s3rver cannot list them (ListParts). */
async function uploaded(path: string): Promise<string> {
  const content = await openAsBlob(path);
  const body = { filename: 'a.dcm', bytes: content.size, media_type: 'application/dicom' };
  const { file, upload } = await client.calls.createUpload({ body });
  if (!upload) throw new Error('the upload is already complete');
  if (!('parts' in upload)) {
    await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: content });
    await client.calls.completeUpload({ id: file.id });
    return file.id;
  }
  const parts = await Promise.all(
    upload.parts.map(async ({ part_number, first_byte, bytes, url, headers }) => {
      const part = content.slice(first_byte, first_byte + bytes);
      const stored = await fetch(url, { method: 'PUT', headers, body: part });
      return { part_number, etag: stored.headers.get('ETag') ?? '' };
    }),
  );
  await client.calls.completeUpload({ id: file.id, body: { parts } });
  return file.id;
}

describe('with S3-compatible storage', () => {
  it("reads a request's files from there, uploaded in one PUT or in parts, and stores its artifacts there", async () => {
    const sizes = await Promise.all(study.paths.map(async (path) => (await stat(path)).size));
    expect(sizes.some((size) => size > PUT_LIMIT) && sizes.some((size) => size <= PUT_LIMIT)).toBe(
      true,
    );
    const files = await Promise.all(study.paths.map(uploaded));
    const { id } = await client.submit('us/obstetric', { files });
    for await (const { name } of client.follow(id)) if (name === 'done') break;
    const { status, output } = await client.calls.getRequest({ id });
    expect(status).toBe('succeeded');
    expect(output).toMatchObject({ input_summary: { files: 3, frames: 3, refused: [] } });
    const { data: artifacts } = await client.calls.listArtifacts({ id });
    expect(artifacts.length).toBeGreaterThan(3);
    for (const { name, bytes, sha256 } of artifacts) {
      const link = new URL(`/v1/requests/${id}/artifacts/${name}`, site.gateway.http?.url);
      const authorized = { headers: { Authorization: `Bearer ${key}` } };
      const redirect = await fetch(link, { ...authorized, redirect: 'manual' });
      const target = new URL(redirect.headers.get('location') ?? '');
      expect(target.host).toBe(new URL(server.url).host);
      const content = Buffer.from(await (await fetch(target)).arrayBuffer());
      expect(content.length).toBe(bytes);
      expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
    }
    expect(await readdir(site.config.dataDir)).not.toContain('files');
    expect(await readdir(join(site.config.dataDir, 'spool'))).toEqual([]);
  });

  it('clients upload to the storage itself, at an address signed for the upload', async () => {
    const { file, upload } = await announce(3);
    const url = new URL(upload.url);
    expect(url.host).toBe(new URL(server.url).host);
    expect(url.pathname).toBe(`/sonogate/incoming/${file.id}`);
    expect(url.searchParams.get('X-Amz-Expires')).toBe('3600');
  });

  it('an upload is complete only once all of the announced bytes are there', async () => {
    const announced = await announce(3);
    const complete = (body = {}) => post(announced.complete_url, body);
    expect((await complete()).status).toBe(422);
    await put(announced, 'abcd');
    const tooMany = await complete();
    expect(tooMany.status).toBe(422);
    expect(await tooMany.json()).toMatchObject({
      code: 'upload_incomplete',
      detail: '3 bytes were declared, but 4 were sent; nothing was kept.',
    });
    await put(announced, 'abc');
    expect(await (await complete({ sha256: SHA256_OF_ABC })).json()).toMatchObject({
      status: 'ready',
      sha256: SHA256_OF_ABC,
    });
    expect((await complete()).status).toBe(200);
  });

  it("an upload with another digest than the client's must be sent again", async () => {
    const announced = await announce(3);
    const complete = () => post(announced.complete_url, { sha256: SHA256_OF_ABC });
    await put(announced, 'xyz');
    expect((await complete()).status).toBe(422);
    expect((await complete()).status).toBe(422);
    await put(announced, 'abc');
    expect((await complete()).status).toBe(200);
  });
});
