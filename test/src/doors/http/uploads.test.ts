import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_ACCOUNT_ID } from '../../../../src/core/accounts/keys.ts';
import { openBlobFolder } from '../../../../src/core/files/blob-folder.ts';
import { Uploads } from '../../../../src/core/files/uploads.ts';
import {
  type Gateway,
  MAX_FILE_BYTES,
  MAX_UPLOAD_BYTES,
  PART_BYTES,
  read,
  sha256,
  startGateway,
} from './gateway.ts';

const owner = { accountId: DEFAULT_ACCOUNT_ID, test: false };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('uploads', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  const announce = async (bytes: number, over: object = {}) =>
    gateway.call('/v1/uploads', {
      body: { filename: 'scan.dcm', bytes, media_type: 'application/dicom', ...over },
    });
  const put = (url: string, body: string) => fetch(url, { method: 'PUT', body });
  const complete = (url: string, body?: object) =>
    gateway.call(url, body ? { body } : { method: 'POST' });
  const stored = async () => {
    const names = await readdir(join(gateway.dataDir, 'files'), { recursive: true });
    return names.filter((name) => /[0-9a-f]{64}$/.test(name));
  };
  const incoming = () => readdir(join(gateway.dataDir, 'files', 'incoming'));

  it('made with a live key are hidden from test keys, but not the other way round', async () => {
    const key = await gateway.key({ scopes: ['uploads', 'run'], test: true });
    const announced = await read(await announce(5));
    const path = `/v1/uploads/${announced.file.id}`;
    for (const [call, method] of [
      [path, 'GET'],
      [path, 'DELETE'],
      [`${path}/complete`, 'POST'],
    ] as const) {
      expect((await gateway.call(call, { key, method })).status).toBe(404);
    }
    await put(announced.upload.url, 'hello');
    await complete(announced.complete_url);
    const submit = (files: string[]) =>
      gateway.call('/v1/run/us/obstetric', { key, body: { input: { files } } });
    expect((await submit([announced.file.id])).status).toBe(422);

    const own = await read(
      await gateway.call('/v1/uploads', {
        key,
        body: { filename: 'scan.dcm', bytes: 5, media_type: 'application/dicom' },
      }),
    );
    await put(own.upload.url, 'hello');
    expect((await gateway.call(own.complete_url, { key, method: 'POST' })).status).toBe(200);
    expect((await submit([own.file.id])).status).toBe(202);
    // A live key can also see what was created with a test key.
    expect((await gateway.call(`/v1/uploads/${own.file.id}`)).status).toBe(200);
  });

  it('go from announcement through PUT to a ready file with its digest', async () => {
    const answer = await announce(5);
    expect(answer.status).toBe(201);
    const created = await read(answer);
    expect(created).toMatchObject({
      file: { status: 'pending', filename: 'scan.dcm', bytes: 5, media_type: 'application/dicom' },
      upload: { method: 'PUT', headers: { 'Content-Type': 'application/dicom' } },
    });
    expect(created.file.id).toMatch(/^file_[0-9a-z]{26}$/);

    expect((await put(created.upload.url, 'hello')).status).toBe(200);
    const ready = await complete(created.complete_url, { sha256: sha256('hello') });
    expect(ready.status).toBe(200);
    expect(await read(ready)).toMatchObject({
      id: created.file.id,
      status: 'ready',
      sha256: sha256('hello'),
    });
    const path = join(gateway.dataDir, 'files', sha256('hello').slice(0, 2), sha256('hello'));
    expect(await readFile(path, 'utf8')).toBe('hello');
  });

  it('once ready, state no address for a PUT, and can be deleted', async () => {
    const created = await read(await announce(5));
    const path = `/v1/uploads/${created.file.id}`;
    await put(created.upload.url, 'hello');
    await complete(created.complete_url);
    const state = await read(await gateway.call(path));
    expect([state.file.status, state.upload]).toEqual(['ready', null]);

    expect((await gateway.call(path, { method: 'DELETE' })).status).toBe(204);
    expect((await gateway.call(path)).status).toBe(404);
    const body = { input: { files: [created.file.id] } };
    expect((await gateway.call('/v1/run/us/obstetric', { body })).status).toBe(422);
    expect((await gateway.call(path, { method: 'DELETE' })).status).toBe(404);
  });

  it.each([
    ['fewer bytes', 'hell'],
    ['more bytes', 'hello!'],
    ['no bytes', ''],
  ])('refuse %s than announced, keep nothing, and can continue', async (_case, body) => {
    const before = await stored();
    const created = await read(await announce(5));
    const refused = await put(created.upload.url, body);
    expect(refused.status).toBe(422);
    expect((await read(refused)).code).toBe('upload_incomplete');
    expect(await stored()).toEqual(before);
    expect((await complete(created.complete_url)).status).toBe(422);

    expect((await put(created.upload.url, 'hello')).status).toBe(200);
    expect((await complete(created.complete_url)).status).toBe(200);
  });

  it('count the bytes of a stream without a stated length', async () => {
    const created = await read(await announce(5));
    const body = new Blob(['hello', ' and more']).stream();
    const refused = await fetch(created.upload.url, { method: 'PUT', body, duplex: 'half' });
    expect(refused.status).toBe(422);
    expect(await incoming()).toEqual([]);
  });

  it('keep nothing from an interrupted PUT', async () => {
    const created = await read(await announce(1000));
    const call = request(created.upload.url, {
      method: 'PUT',
      headers: { 'Content-Length': 1000 },
    });
    call.on('error', () => {});
    call.write('half of it');
    await expect.poll(incoming).toHaveLength(1);
    call.destroy();
    await expect.poll(incoming).toEqual([]);
    expect((await complete(created.complete_url)).status).toBe(422);
  });

  it('refuse to complete with a wrong digest, and can continue', async () => {
    const created = await read(await announce(5));
    await put(created.upload.url, 'hullo');
    const refused = await complete(created.complete_url, { sha256: sha256('hello') });
    expect(refused.status).toBe(422);
    expect((await read(refused)).code).toBe('upload_incomplete');
    await put(created.upload.url, 'hello');
    expect((await complete(created.complete_url, { sha256: sha256('hello') })).status).toBe(200);
  });

  it('complete twice with the same response, and accept no more bytes afterwards', async () => {
    const created = await read(await announce(5));
    await put(created.upload.url, 'hello');
    await complete(created.complete_url);
    expect((await complete(created.complete_url)).status).toBe(200);
    expect((await put(created.upload.url, 'other')).status).toBe(404);
  });

  it.each([
    ['the largest file', MAX_FILE_BYTES, 201],
    ['one byte more', MAX_FILE_BYTES + 1, 413],
  ])('accept %s: %i bytes → %i', async (_case, bytes, status) => {
    expect((await announce(bytes)).status).toBe(status);
  });

  it('are refused temporarily if they would fill the disk', async () => {
    const blobs = openBlobFolder(join(gateway.dataDir, 'files'));
    const announced = { filename: 'scan.dcm', bytes: 1, mediaType: 'application/dicom' };
    const withRoom = (minFreeBytes: number) =>
      new Uploads({
        database: gateway.database,
        blobs,
        limits: {
          maxBytes: MAX_UPLOAD_BYTES,
          maxFileBytes: MAX_FILE_BYTES,
          partBytes: PART_BYTES,
          minFreeBytes,
        },
      });
    const [room, none] = [withRoom(0), withRoom(Number.MAX_SAFE_INTEGER)];
    const file = await room.create(owner, announced);
    expect(file).toMatchObject({ status: 'pending' });
    const full = { code: 'overloaded' };
    await expect(none.create(owner, announced)).rejects.toMatchObject(full);
    // Space was reserved for the first PUT, but not for one that replaces it.
    await none.receive(file.id, Readable.from(['a']), 1);
    await expect(none.receive(file.id, Readable.from(['b']), 1)).rejects.toMatchObject(full);
    const large = { ...announced, bytes: MAX_UPLOAD_BYTES + 1 };
    const { id } = await room.create(owner, large);
    const part = () => Readable.from([Buffer.alloc(PART_BYTES)]);
    await none.receivePart(id, 1, part(), PART_BYTES);
    await expect(none.receivePart(id, 1, part(), PART_BYTES)).rejects.toMatchObject(full);
  });

  it('accept a name of 200 bytes, and a request can use the file', async () => {
    const filename = `${'é'.repeat(98)}.dcm`;
    expect((await announce(5, { filename })).status).toBe(201);
    const files = [await gateway.upload('one', filename), await gateway.upload('two', filename)];
    const answer = await gateway.call('/v1/run/us/obstetric', { body: { input: { files } } });
    expect(answer.status).toBe(202);
  });

  it('count what others have announced but not uploaded yet', async () => {
    const own = await startGateway();
    const folder = openBlobFolder(join(own.dataDir, 'files'));
    const [room, floor] = [100_000, 10_000];
    let ahead = 0;
    const uploads = new Uploads({
      database: own.database,
      blobs: { ...folder, free: async () => room },
      limits: { maxBytes: 80_000, maxFileBytes: room, partBytes: 50_000, minFreeBytes: floor },
      now: () => new Date(Date.now() + ahead),
    });
    const announced = (bytes: number) =>
      uploads.create(owner, { filename: 'a', bytes, mediaType: 'a/b' });
    const full = { code: 'overloaded' };

    const whole = await announced(60_000);
    await expect(announced(30_001)).rejects.toMatchObject(full);
    const rest = await announced(30_000);
    await expect(announced(1)).rejects.toMatchObject(full);
    await uploads.remove(owner, rest.id);
    await expect(announced(30_001)).rejects.toMatchObject(full);
    // Bytes that have arrived already occupy space, so they must not be counted twice.
    await uploads.receive(whole.id, Readable.from([Buffer.alloc(60_000)]), 60_000);
    const parts = await announced(90_000);
    await expect(announced(1)).rejects.toMatchObject(full);
    await uploads.receivePart(parts.id, 1, Readable.from([Buffer.alloc(50_000)]), 50_000);
    await expect(announced(50_001)).rejects.toMatchObject(full);
    await announced(50_000);
    ahead = DAY_MS;
    await announced(90_000);
    await own.stop();
  });

  it.each([
    ['no bytes', { bytes: 0 }, '/bytes'],
    ['half a byte', { bytes: 1.5 }, '/bytes'],
    ['a path for a name', { filename: '../scan.dcm' }, '/filename'],
    ['a Windows path for a name', { filename: 'C:\\scan.dcm' }, '/filename'],
    ['the folder itself for a name', { filename: '..' }, '/filename'],
    ['a name of 201 bytes', { filename: `${'é'.repeat(100)}n` }, '/filename'],
    ['a line break in the name', { filename: 'a\nb' }, '/filename'],
    ['a media type that would split a header', { media_type: 'a/b\r\nX: 1' }, '/media_type'],
    ['an unknown field', { size: 5 }, '/size'],
  ])('refuse %s with a pointer to it', async (_case, over, pointer) => {
    const answer = await announce(5, over);
    expect(answer.status).toBe(422);
    expect((await read(answer)).errors.map((error) => error.pointer)).toEqual([pointer]);
  });

  it.each([
    ['a folder', '../scan.dcm', 'a name without a folder, so without / and \\'],
    ['a Windows folder', 'C:\\scan.dcm', 'a name without a folder, so without / and \\'],
    ['a control character', 'a\tb', 'a name without control characters'],
    ['the folder above', '..', 'a name other than . and ..'],
    ['201 bytes', `${'é'.repeat(100)}n`, 'at most 200 bytes in UTF-8'],
  ])('state what is wrong with a name: %s', async (_case, filename, detail) => {
    const { errors } = await read(await announce(5, { filename }));
    expect(errors).toMatchObject([{ pointer: '/filename', detail }]);
  });

  describe('the signed URL', () => {
    it('is valid for its own file only', async () => {
      const [mine, other] = [await read(await announce(5)), await read(await announce(5))];
      const crossed = mine.upload.url.replace(mine.file.id, other.file.id);
      expect((await put(crossed, 'hello')).status).toBe(404);
    });

    it('is valid for an hour', async () => {
      const [first, second] = [await read(await announce(5)), await read(await announce(5))];
      gateway.advance(HOUR_MS - 5000);
      expect((await put(first.upload.url, 'hello')).status).toBe(200);
      gateway.advance(5000);
      const late = await put(second.upload.url, 'hello');
      expect(late.status).toBe(410);
      expect((await read(late)).code).toBe('expired');
    });

    it('cannot be extended', async () => {
      const created = await read(await announce(5));
      const longer = created.upload.url.replace(/expires=\d+/, 'expires=9999999999');
      expect((await put(longer, 'hello')).status).toBe(404);
    });
  });

  it('are renewed by a request for a day and an hour, which covers the requests of that hour', async () => {
    const file = await gateway.upload('used often');
    const expiry = async () => {
      await gateway.call('/v1/run/us/obstetric', { body: { input: { files: [file] } } });
      const { rows } = await gateway.database.query<{ expires_at: Date }>(
        'SELECT expires_at FROM files WHERE id = $1',
        [file],
      );
      return rows[0]?.expires_at.getTime() ?? 0;
    };
    gateway.advance(HOUR_MS);
    const first = await expiry();
    gateway.advance(HOUR_MS / 2);
    expect(await expiry()).toBe(first);
    gateway.advance(HOUR_MS);
    expect(await expiry()).toBeGreaterThanOrEqual(first + 1.5 * HOUR_MS);
  });

  it('are used in the minute after they were completed without another statement', async () => {
    const folder = openBlobFolder(join(gateway.dataDir, 'files'));
    const statements: string[] = [];
    let ahead = 0;
    const uploads = new Uploads({
      database: {
        query: (text, values, name) => {
          statements.push(text.trim().split(' ')[0] ?? '');
          return gateway.database.query(text, values, name);
        },
      },
      blobs: folder,
      limits: { maxBytes: 5, maxFileBytes: 5, partBytes: 5, minFreeBytes: 0 },
      now: () => new Date(Date.now() + ahead),
    });
    const { id } = await uploads.create(owner, { filename: 'a', bytes: 1, mediaType: 'a/b' });
    await uploads.receive(id, Readable.from(['a']), 1);
    await uploads.complete(owner, id, null);
    statements.length = 0;
    ahead = 55_000;
    expect([...(await uploads.ready(owner, [id])).keys()]).toEqual([id]);
    expect((await uploads.ready({ ...owner, accountId: 'other' }, [id])).size).toBe(0);
    expect((await uploads.ready({ ...owner, test: true }, [id])).size).toBe(0);
    expect(statements).toEqual([]);

    ahead = 65_000;
    expect([...(await uploads.ready(owner, [id])).keys()]).toEqual([id]);
    expect(statements, 'it is no longer remembered').toEqual(['SELECT']);

    statements.length = 0;
    ahead = HOUR_MS;
    expect([...(await uploads.ready(owner, [id])).keys()]).toEqual([id]);
    expect(statements, 'it is due for renewal').toEqual(['SELECT', 'UPDATE']);
    expect((await uploads.ready(owner, [id, 'file_unknown'])).size).toBe(1);
    ahead = 2 * DAY_MS;
    expect((await uploads.ready(owner, [id])).size).toBe(0);
  });

  it('stay deleted if a completion that began before ends afterwards', async () => {
    const folder = openBlobFolder(join(gateway.dataDir, 'files'));
    const uploads: Uploads = new Uploads({
      database: {
        query: async (text, values, name) => {
          if (text.includes("status = 'ready', sha256")) await uploads.remove(owner, id);
          return gateway.database.query(text, values, name);
        },
      },
      blobs: folder,
      limits: { maxBytes: 5, maxFileBytes: 5, partBytes: 5, minFreeBytes: 0 },
    });
    const { id } = await uploads.create(owner, { filename: 'a', bytes: 1, mediaType: 'a/b' });
    await uploads.receive(id, Readable.from(['a']), 1);
    await expect(uploads.complete(owner, id, null)).rejects.toMatchObject({ code: 'not_found' });
    expect((await gateway.uploads.ready(owner, [id])).size).toBe(0);
  });

  it('expire a day after the last request that uses them, and the bytes go with the last one', async () => {
    const uploads = gateway.uploads;
    const twin = await gateway.upload('kept bytes');
    const used = await gateway.upload('kept bytes');
    gateway.advance(DAY_MS - HOUR_MS);
    const body = { input: { files: [used] } };
    const { id } = await read(await gateway.call('/v1/run/us/obstetric', { body }));
    gateway.advance(2 * HOUR_MS);
    const late = await gateway.call('/v1/run/us/obstetric', { body: { input: { files: [twin] } } });
    expect((await read(late)).code).toBe('file_not_ready');

    await uploads.removeExpired();
    expect(await stored()).toContainEqual(expect.stringContaining(sha256('kept bytes')));
    gateway.advance(DAY_MS);
    await uploads.removeExpired();
    expect(await stored(), 'an unfinished request still reads it').toContainEqual(
      expect.stringContaining(sha256('kept bytes')),
    );
    await gateway.call(`/v1/requests/${id}/cancel`, { method: 'POST' });
    await uploads.removeExpired();
    expect(await stored()).not.toContainEqual(expect.stringContaining(sha256('kept bytes')));
  });

  it('leave no bytes that a later PUT replaced, nor those with a wrong digest', async () => {
    const created = await read(await announce(5));
    for (const body of ['first', 'later']) await put(created.upload.url, body);
    await complete(created.complete_url, { sha256: sha256('hello') });
    await put(created.upload.url, 'hello');
    expect((await complete(created.complete_url, { sha256: sha256('hello') })).status).toBe(200);
    const kept = async () => {
      const all = await stored();
      return ['first', 'later', 'hello'].filter((body) =>
        all.some((name) => name.endsWith(sha256(body))),
      );
    };
    expect(await kept()).toEqual(['first', 'later', 'hello']);
    gateway.advance(DAY_MS - HOUR_MS);
    await gateway.call('/v1/run/us/obstetric', { body: { input: { files: [created.file.id] } } });
    gateway.advance(2 * HOUR_MS);
    await gateway.uploads.removeExpired();
    expect(await kept()).toEqual(['hello']);
  });

  it('leave bytes that an artifact also has, such as a picture downloaded and uploaded again', async () => {
    const { id } = await read(
      await gateway.call('/v1/run/us/obstetric', {
        body: { input: { files: [await gateway.upload('other bytes')] } },
      }),
    );
    await gateway.upload('bytes of a picture');
    const kept = sha256('bytes of a picture');
    await gateway.database.query(
      `INSERT INTO request_artifacts (request_id, position, name, media_type, bytes, sha256)
       VALUES ($1, 1, 'overlay-1.png', 'image/png', 18, $2)`,
      [id, kept],
    );
    gateway.advance(DAY_MS + HOUR_MS);
    await gateway.uploads.removeExpired();
    expect(await stored()).toContainEqual(expect.stringContaining(kept));
  });
});
