import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, read, startGateway } from './gateway.ts';

const DAY_MS = 24 * 3_600_000;
const PATH = '/v1/run/us/obstetric';

describe('Idempotency-Key', () => {
  let gateway: Gateway;
  let file: string;

  beforeAll(async () => {
    gateway = await startGateway();
    file = await gateway.upload();
  });
  afterAll(() => gateway.stop());

  const send = (key: string, body: unknown, path = PATH, apiKey?: string) =>
    gateway.call(path, {
      body,
      headers: { 'Idempotency-Key': key },
      ...(apiKey ? { key: apiKey } : {}),
    });
  const run = (key: string, over: object = {}) => send(key, { input: { files: [file] }, ...over });

  it('answers the second request like the first, and executes it once', async () => {
    const first = await run('once');
    const second = await run('once');
    expect(first.headers.get('Idempotent-Replayed')).toBeNull();
    expect(second.headers.get('Idempotent-Replayed')).toBe('true');
    expect(second.status).toBe(202);
    expect(second.headers.get('Location')).toBe(first.headers.get('Location'));
    expect(await second.text()).toBe(await first.text());
  });

  it('means the same with quotation marks, and whatever the order of the fields', async () => {
    const first = await send('"order"', { input: { files: [file] }, priority: 'low' });
    const second = await send('order', { priority: 'low', input: { files: [file] } });
    expect((await read(second)).id).toBe((await read(first)).id);
  });

  it('with another body is refused', async () => {
    await run('other body');
    const answer = await run('other body', { priority: 'high' });
    expect(answer.status).toBe(422);
    expect((await read(answer)).code).toBe('idempotency_key_reused');
  });

  it('with another webhook in the query of the compatible queue is refused', async () => {
    const hook = (name: string) =>
      `/queue/us/obstetric?fal_webhook=${encodeURIComponent(`https://pacs.example/${name}`)}`;
    const submit = (path: string) => send('other webhook', { files: [file] }, path);
    expect((await submit(hook('a'))).status).toBe(200);
    expect((await submit(hook('a'))).headers.get('Idempotent-Replayed')).toBe('true');
    const answer = await submit(hook('b'));
    expect(answer.status).toBe(422);
    expect((await read(answer)).code).toBe('idempotency_key_reused');
  });

  it('of a refused request can be used for the corrected one', async () => {
    expect((await run('mended', { priority: 'urgent' })).status).toBe(422);
    expect((await run('mended')).status).toBe(202);
  });

  it('creates one request from many simultaneous calls', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => run('race')));
    const done = answers.filter(({ status }) => status === 202);
    const waiting = answers.filter(({ status }) => status === 409);
    expect(done.length).toBeGreaterThan(0);
    expect(done.length + waiting.length).toBe(5);
    for (const answer of waiting) {
      expect(answer.headers.get('Retry-After')).toBe('1');
      expect((await read(answer)).code).toBe('idempotency_in_progress');
    }
    const ids = await Promise.all(done.map(async (answer) => (await read(answer)).id));
    expect(new Set(ids).size).toBe(1);
  });

  it('finishes a call whose process died before responding, without a second request', async () => {
    const first = await read(await run('died'));
    await gateway.database.query(
      `UPDATE idempotency_keys SET status = NULL, body = NULL, started_at = started_at - interval '61 seconds'
       WHERE key = 'died'`,
    );
    const again = await run('died');
    expect(again.status).toBe(202);
    expect((await read(again)).id).toBe(first.id);
  });

  it('applies to one account, method and path together', async () => {
    const first = await read(await run('scoped'));
    const elsewhere = await send('scoped', { input: { files: [file] } }, `${PATH}/interpret`);
    expect((await read(elsewhere)).id).not.toBe(first.id);
    const stranger = await gateway.key({ accountId: 'other' });
    const theirs = await send('scoped', { input: { files: [file] } }, PATH, stranger);
    expect((await read(theirs)).code).toBe('file_not_ready');
  });

  it('is separate for a test key and a live key of the same account', async () => {
    const body = { input: { files: [file] } };
    const testKey = await gateway.key({ test: true });
    const testBody = { input: { files: [await gateway.upload('pixels', 'a.png', testKey)] } };
    const mocked = await read(await send('both kinds', testBody, PATH, testKey));
    const live = await send('both kinds', body);
    expect(live.headers.get('Idempotent-Replayed')).toBeNull();
    expect(await read(live)).toMatchObject({ test: false });
    const again = await send('both kinds', testBody, PATH, testKey);
    expect(await read(again)).toMatchObject({ id: mocked.id, test: true });
  });

  it('is also respected by the compatible queue: to cancel, and to announce a file', async () => {
    const { id } = await read(await run('to be canceled'));
    const cancel = (key: string) => send(key, {}, `/queue/us/obstetric/requests/${id}/cancel`);
    expect((await cancel('first')).status).toBe(202);
    const replayed = await cancel('first');
    expect(replayed.status).toBe(202);
    expect(replayed.headers.get('Idempotent-Replayed')).toBe('true');
    expect((await cancel('second')).status).toBe(400);

    const scan = { file_name: 'a.png', content_type: 'image/png' };
    const announce = (key: string) => send(key, scan, '/queue/storage/upload/initiate');
    const first = await (await announce('a file')).json();
    expect(await (await announce('a file')).json()).toEqual(first);
    expect(await (await announce('another file')).json()).not.toEqual(first);
  });

  it.each([
    ['empty', '', 400],
    ['of one character', 'k', 202],
    ['of 255 characters', 'k'.repeat(255), 202],
    ['of 256 characters', 'k'.repeat(256), 400],
    ['empty in quotation marks', '""', 400],
    ['not printable', 'caf\u00e9', 400],
  ])('%s', async (_case, key, status) => {
    const answer = await run(key);
    expect(answer.status).toBe(status);
    if (status === 400) expect((await read(answer)).code).toBe('invalid_idempotency_key');
  });

  it('is forgotten after 24 hours', async () => {
    const first = await read(await run('a day'));
    gateway.advance(DAY_MS + 1);
    file = await gateway.upload();
    const later = await run('a day');
    expect(later.status).toBe(202);
    expect((await read(later)).id).not.toBe(first.id);
  });
});
