import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { upload as uploadObject } from '../../../../src/doors/http/openapi/objects.ts';
import {
  type Gateway,
  MAX_UPLOAD_BYTES,
  PART_BYTES,
  read,
  sha256,
  startGateway,
} from './gateway.ts';

const DAY_MS = 24 * 3_600_000;

interface Part {
  part_number: number;
  url: string;
  first_byte: number;
  bytes: number;
  etag: string | null;
}
interface Created {
  file: { id: string };
  upload: { parts: Part[]; part_size: number };
  complete_url: string;
}

describe('an upload in parts', () => {
  let gateway: Gateway;
  const text = 'sonogate'.repeat(MAX_UPLOAD_BYTES / 8 + 50_000);

  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  const announce = async (bytes = text.length): Promise<Created> => {
    const body = { filename: 'cine.dcm', bytes, media_type: 'application/dicom' };
    return (await (await gateway.call('/v1/uploads', { body })).json()) as Created;
  };
  const put = (part: Part | undefined, content = text) =>
    fetch(part?.url ?? '', {
      method: 'PUT',
      body: content.slice(part?.first_byte, (part?.first_byte ?? 0) + (part?.bytes ?? 0)),
    });
  const complete = ({ complete_url }: Created, body?: object) =>
    gateway.call(complete_url, body ? { body } : { method: 'POST' });

  it('is required above the largest single PUT, with parts that cover the file', async () => {
    const single = await (
      await gateway.call('/v1/uploads', {
        body: { filename: 'a.dcm', bytes: MAX_UPLOAD_BYTES, media_type: 'application/dicom' },
      })
    ).json();
    expect(single).toMatchObject({ upload: { method: 'PUT' } });

    const created = await announce(MAX_UPLOAD_BYTES + 1);
    expect(uploadObject.safeParse(created).error?.issues ?? []).toEqual([]);
    const { parts, part_size } = created.upload;
    expect(part_size).toBe(PART_BYTES);
    expect(
      parts.map(({ part_number, first_byte, bytes }) => [part_number, first_byte, bytes]),
    ).toEqual([
      [1, 0, PART_BYTES],
      [2, PART_BYTES, MAX_UPLOAD_BYTES + 1 - PART_BYTES],
    ]);
  });

  it('accepts parts in any order and completes with their ETags and the digest', async () => {
    const created = await announce();
    const etags = new Map<number, string>();
    for (const part of created.upload.parts.toReversed()) {
      const answer = await put(part);
      expect(answer.status).toBe(200);
      etags.set(part.part_number, answer.headers.get('ETag') ?? '');
    }
    const parts = created.upload.parts.map(({ part_number }) => ({
      part_number,
      etag: etags.get(part_number),
    }));
    const answer = await complete(created, { parts, sha256: sha256(text) });
    expect(answer.status).toBe(200);
    expect(await read(answer)).toMatchObject({ status: 'ready', sha256: sha256(text) });
    const run = await gateway.call('/v1/run/us/obstetric', {
      body: { input: { files: [created.file.id] } },
    });
    expect(run.status).toBe(202);
  });

  it('resumes where it was interrupted', async () => {
    const created = await announce();
    await put(created.upload.parts[0]);
    const broken = await complete(created);
    expect(broken.status).toBe(422);
    const { code, detail } = (await broken.json()) as Record<string, string>;
    expect([code, detail]).toEqual(['upload_incomplete', expect.stringContaining('parts: 2, 3')]);

    const again = (await (await gateway.call(`/v1/uploads/${created.file.id}`)).json()) as Created;
    const missing = again.upload.parts.filter(({ etag }) => etag === null);
    expect(missing.map(({ part_number }) => part_number)).toEqual([2, 3]);
    for (const part of missing) await put(part);
    expect((await complete(created)).status).toBe(200);
  });

  it.each<[string, (parts: { part_number: number; etag: string }[]) => unknown[]]>([
    ['out of order', (parts) => parts.toReversed()],
    ['not all', (parts) => parts.slice(1)],
    ['one twice', ([first, second]) => [first, first, second]],
    ['with another ETag', ([, ...rest]) => [{ part_number: 1, etag: '"0"' }, ...rest]],
  ])(
    'is not completed with a faulty list of parts (%s), and can continue',
    async (_how, change) => {
      const created = await announce();
      const parts = [];
      for (const part of created.upload.parts) {
        const etag = (await put(part)).headers.get('ETag') ?? '';
        parts.push({ part_number: part.part_number, etag });
      }
      const refused = await complete(created, { parts: change(parts) });
      expect(refused.status).toBe(422);
      expect((await read(refused)).code).toBe('upload_incomplete');
      expect((await complete(created, { parts })).status).toBe(200);
    },
  );

  it('refuses a part of the wrong size, a part that does not exist, and a wrong digest', async () => {
    const created = await announce();
    const [first] = created.upload.parts;
    expect((await fetch(first?.url ?? '', { method: 'PUT', body: 'short' })).status).toBe(422);
    const other = first?.url.replace('/parts/1', '/parts/9') ?? '';
    expect((await fetch(other, { method: 'PUT', body: 'x' })).status, 'not signed').toBe(404);
    for (const part of created.upload.parts) await put(part);
    expect((await complete(created, { sha256: sha256('other') })).status).toBe(422);
    expect((await complete(created, { sha256: sha256(text) })).status).toBe(200);
  });

  it('can be aborted; after a day nothing of it is left', async () => {
    const created = await announce(MAX_UPLOAD_BYTES + 8);
    const content = 'aborted!'.repeat((MAX_UPLOAD_BYTES + 8) / 8);
    const [first] = created.upload.parts;
    await put(first, content);
    const abort = () => gateway.call(`/v1/uploads/${created.file.id}`, { method: 'DELETE' });
    expect((await abort()).status).toBe(204);
    expect((await abort()).status).toBe(404);
    expect((await put(first, content)).status).toBe(404);
    expect((await complete(created)).status).toBe(404);

    const digest = sha256(content.slice(0, PART_BYTES));
    const stored = async () =>
      (await readdir(join(gateway.dataDir, 'files'), { recursive: true })).join();
    expect(await stored()).toContain(digest);
    gateway.advance(DAY_MS + 1);
    await gateway.uploads.removeExpired();
    expect(await stored()).not.toContain(digest);
  });
});
