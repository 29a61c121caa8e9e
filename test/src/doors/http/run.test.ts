import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { obstetricEndpoint } from '../../../../pipelines/obstetric/endpoint.ts';
import { METADATA_BYTES, submitBody } from '../../../../src/doors/http/submission.ts';
import { type Gateway, MAX_BODY_BYTES, read, startGateway } from './gateway.ts';

const PATH = '/v1/run/us/obstetric/interpret';
const NO_SUCH_FILE = `file_${'0'.repeat(26)}`;

describe('POST /v1/run', () => {
  let gateway: Gateway;
  let file: string;

  beforeAll(async () => {
    gateway = await startGateway();
    file = await gateway.upload();
  });
  afterAll(() => gateway.stop());

  const run = (body: unknown, path = PATH) => gateway.call(path, { body });

  it('answers 202 with the request object and its place', async () => {
    const input = { files: [file], options: {} };
    const answer = await run({ input, metadata: { ward: '3' } });
    expect(answer.status).toBe(202);
    const request = await read(answer);
    expect(answer.headers.get('Location')).toBe(`/v1/requests/${request.id}`);
    expect(request).toMatchObject({
      object: 'request',
      model: 'us/obstetric',
      endpoint: 'us/obstetric/interpret',
      status: 'queued',
      stage: { name: 'queued_gpu', progress: 0 },
      priority: 'normal',
      metadata: { ward: '3' },
      source: { kind: 'api' },
      cost: { currency: 'USD', total: '0.08' },
      output: null,
      error: null,
      test: false,
      urls: { self: `${gateway.url}/v1/requests/${request.id}` },
    });
    expect(request.input, 'as submitted, without defaults').toEqual(input);
    expect(request.id).toMatch(/^req_[0-9a-z]{26}$/);
    expect(request.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it.each([
    ['us/obstetric', '1.10.0'],
    ['us/obstetric/interpret@1', '1.10.0'],
    ['us/obstetric@1.2', '1.2.0'],
    ['us/obstetric/interpret@1.0.0', '1.0.0'],
  ])('%s runs version %s', async (target, version) => {
    const answer = await run({ input: { files: [file] } }, `/v1/run/${target}`);
    expect(answer.status).toBe(202);
    expect((await read(answer)).version).toBe(version);
  });

  it.each(['us/cardiac', 'us/obstetric/guess', 'us/obstetric@2', 'us/obstetric/interpret@1.0.1'])(
    '%s is an unknown endpoint',
    async (target) => {
      const answer = await run({ input: { files: [file] } }, `/v1/run/${target}`);
      expect(answer.status).toBe(404);
      expect((await read(answer)).code).toBe('unknown_endpoint');
    },
  );

  it('reports every error in a body at once, by JSON pointer', async () => {
    const answer = await run({
      input: { files: [], option: {}, clinical_context: { age_years: 131 } },
      priority: 'urgent',
      webhok: {},
    });
    expect(answer.status).toBe(422);
    const { code, errors } = await read(answer);
    expect(code).toBe('invalid_input');
    expect(errors.map(({ pointer }) => pointer).sort()).toEqual([
      '/input/clinical_context/age_years',
      '/input/files',
      '/input/option',
      '/priority',
      '/webhok',
    ]);
  });

  it.each([
    ['nothing', null],
    ['a list', [1, { two: ['three', true] }]],
    ['a number', 4711],
    ['nested objects', { visit: { room: 3, seen: null } }],
  ])('accepts any JSON value as metadata: %s', async (_case, metadata) => {
    const answer = await run({ input: { files: [file] }, metadata });
    expect(answer.status).toBe(202);
    expect(await answer.json()).toHaveProperty('metadata', metadata);
  });

  it.each([
    ['as long as it may be', 'v'.repeat(METADATA_BYTES - 2), true],
    ['a byte longer', 'v'.repeat(METADATA_BYTES - 1), false],
    ['too long in UTF-8', 'ü'.repeat(METADATA_BYTES / 2), false],
  ])('limits metadata in bytes of JSON: %s', (_case, metadata, taken) => {
    const body = { input: { files: [file] }, metadata };
    expect(submitBody(obstetricEndpoint).safeParse(body).success).toBe(taken);
  });

  it('refuses a number in metadata that would come back as null', async () => {
    const headers = {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${await gateway.key()}`,
    };
    const body = `{"input": {"files": ["${file}"]}, "metadata": {"n": 1e999}}`;
    const answer = await fetch(`${gateway.url}${PATH}`, { method: 'POST', headers, body });
    expect(answer.status).toBe(422);
    expect((await read(answer)).errors).toMatchObject([{ pointer: '/metadata' }]);
  });

  it.each([
    ['a hosted file of a host that is not listed', 'https://example.com/a.zip', 'not permitted'],
    ['a hosted file inside', 'https://169.254.169.254/latest/meta-data', 'not permitted'],
    ['a plain http address', 'http://pacs.example/study.zip', 'not permitted'],
    ['a path', '../../etc/passwd', 'neither an upload id'],
    ['an id in capitals', NO_SUCH_FILE.toUpperCase(), 'neither an upload id'],
  ])('refuses %s with a pointer to it', async (_case, element, reason) => {
    const answer = await run({ input: { files: [file, element] } });
    expect(answer.status).toBe(422);
    const { code, errors } = await read(answer);
    expect(code).toBe('invalid_input');
    expect(errors).toEqual([
      { pointer: '/input/files/1', detail: expect.stringContaining(reason) },
    ]);
  });

  it('accepts hosted files as well as uploads, in order and each under a separate name', async () => {
    const hosted = [
      'https://pacs.example/studies/4711/a.png?signature=1',
      'https://pacs.example/',
      'https://pacs.example/%2e%2e%2fetc%5cpasswd',
    ];
    const answer = await run({ input: { files: [hosted[0], file, hosted[1], hosted[2]] } });
    expect(answer.status).toBe(202);
    const { rows } = await gateway.database.query<{ files: { name: string; url?: string }[] }>(
      'SELECT files FROM requests WHERE id = $1',
      [(await read(answer)).id],
    );
    expect(rows[0]?.files.map(({ name, url }) => [name, url])).toEqual([
      ['a.png', hosted[0]],
      ['a-2.png', undefined],
      ['file', hosted[1]],
      ['.._etc_passwd', hosted[2]],
    ]);
  });

  it('accepts a webhook, for both events unless one is specified', async () => {
    const webhook = { url: 'https://his.example/hook?token=1' };
    const answer = await run({ input: { files: [file] }, webhook });
    expect(answer.status).toBe(202);
    expect(await read(answer)).toMatchObject({
      webhook: { ...webhook, events: ['request.succeeded', 'request.failed'] },
    });
  });

  it.each([
    ['http://his.example/hook'],
    ['https://127.0.0.1/hook'],
    ['https://[::ffff:127.0.0.1]/hook'],
    ['https://2130706433/hook'],
    ['https://localhost./hook'],
    ['https://user:secret@his.example/hook'],
    ['https://his.example:22/hook'],
  ])('refuses the webhook %s without saying why', async (url) => {
    const answer = await run({ input: { files: [file] }, webhook: { url } });
    expect(answer.status).toBe(422);
    expect((await read(answer)).errors).toEqual([
      { pointer: '/webhook/url', detail: expect.stringContaining('setting outbound.hosts') },
    ]);
  });

  it('refuses files that are unknown or not completed, with a pointer to each', async () => {
    const announced = { filename: 'b.png', bytes: 6, media_type: 'image/png' };
    const pending = await read(await gateway.call('/v1/uploads', { body: announced }));
    const answer = await run({
      input: { files: [file, NO_SUCH_FILE], prior_files: [pending.file.id] },
    });
    expect(answer.status).toBe(422);
    const { code, errors } = await read(answer);
    expect(code).toBe('file_not_ready');
    expect(errors.map(({ pointer }) => pointer)).toEqual([
      '/input/files/1',
      '/input/prior_files/0',
    ]);
  });

  it('distinguishes two files with the same name', async () => {
    const second = await gateway.upload('other pixels', 'a.png');
    const answer = await run({ input: { files: [file, second] } });
    const { id } = await read(answer);
    const { rows } = await gateway.database.query<{ files: { name: string }[] }>(
      'SELECT files FROM requests WHERE id = $1',
      [id],
    );
    expect(rows[0]?.files.map(({ name }) => name)).toEqual(['a.png', 'a-2.png']);
  });

  it('refuses identifiers in the clinical context', async () => {
    const answer = await run({
      input: { files: [file], clinical_context: { indication: 'LMP 12.03.2026' } },
    });
    expect(answer.status).toBe(422);
    expect(await read(answer)).toMatchObject({
      code: 'identifiers_in_context',
      errors: [{ pointer: '/input/clinical_context/indication' }],
    });
  });

  it('accepts a test key, at no cost', async () => {
    const key = await gateway.key({ test: true });
    const own = await gateway.upload('pixels', 'a.png', key);
    const answer = await gateway.call(PATH, { key, body: { input: { files: [own] } } });
    expect(answer.status).toBe(202);
    expect(await read(answer)).toMatchObject({ test: true, cost: { total: '0.00', lines: [] } });
  });

  it('refuses an unknown mock scenario, but only with a test key', async () => {
    const body = { input: { files: [file] }, metadata: { mock: 'rejct' } };
    const answer = await gateway.call(PATH, { key: await gateway.key({ test: true }), body });
    expect(answer.status).toBe(422);
    const { errors } = await read(answer);
    expect(errors).toMatchObject([{ pointer: '/metadata/mock' }]);
    expect((await gateway.call(PATH, { body })).status).toBe(202);
  });

  it('keeps nothing from a request it refuses', async () => {
    const count = async () => (await gateway.database.query('SELECT id FROM requests')).rows.length;
    const before = await count();
    await run({ input: { files: [NO_SUCH_FILE] } });
    await run({ input: { files: [file] }, priority: 'urgent' });
    expect(await count()).toBe(before);
  });

  describe('a body that cannot be read', () => {
    const send = (body: string, headers: Record<string, string>) =>
      gateway.key().then((key) =>
        fetch(`${gateway.url}${PATH}`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${key}`, ...headers },
          body,
        }),
      );
    const json = { 'Content-Type': 'application/json' };

    it.each([
      ['half a JSON text', '{"input":', json, 400, 'invalid_json'],
      ['no body', '', json, 400, 'invalid_json'],
      ['a form', 'input=1', { 'Content-Type': 'text/plain' }, 415, 'unsupported_media_type'],
      ['no type', '{}', { 'Content-Type': '' }, 415, 'unsupported_media_type'],
      [
        'a content coding',
        '{}',
        { ...json, 'Content-Encoding': 'gzip' },
        415,
        'unsupported_media_type',
      ],
      ['one byte too many', ' '.repeat(MAX_BODY_BYTES + 1), json, 413, 'payload_too_large'],
      ['the last byte that fits', ' '.repeat(MAX_BODY_BYTES), json, 400, 'invalid_json'],
      ['far too much', ' '.repeat(5_000_000), json, 413, 'payload_too_large'],
    ])('%s', async (_case, body, headers, status, code) => {
      const answer = await send(body, headers);
      expect(answer.status).toBe(status);
      expect((await read(answer)).code).toBe(code);
    });
  });
});
