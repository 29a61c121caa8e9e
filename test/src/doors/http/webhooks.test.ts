import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordFailure } from '../../../../src/core/webhooks/endpoints.ts';
import { signingSecrets } from '../../../../src/core/webhooks/signature.ts';
import { type Gateway, read, startGateway } from './gateway.ts';

const URL = 'https://his.example/hook';

describe('/v1/webhooks', () => {
  let gateway: Gateway;
  let admin: string;
  beforeAll(async () => {
    gateway = await startGateway();
    admin = await gateway.key({ scopes: ['admin'] });
  });
  afterAll(() => gateway.stop());

  const secret = async (path = '', method = 'GET', headers = {}) => {
    const answer = await gateway.call(`/v1/webhooks/secret${path}`, {
      key: admin,
      method,
      headers,
    });
    return (await answer.json()) as { secret: string | null };
  };
  const run = async (url = URL, headers = {}) => {
    const body = { input: { files: [await gateway.upload()] }, webhook: { url } };
    return gateway.call('/v1/run/us/obstetric', { body, headers });
  };
  const deliveries = async (query = '') => {
    const answer = await gateway.call(`/v1/webhooks/deliveries${query}`, { key: admin });
    return (await answer.json()) as {
      data: { id: string; request: string; state: string }[];
      has_more: boolean;
      next_cursor: string;
    };
  };
  const reject = async () => {
    const { id } = await read(await run());
    await gateway.worker.start(id);
    await gateway.worker.reject(id, 'not an image');
    return id;
  };

  it("shows the account's secret, the same each time", async () => {
    const first = await secret();
    expect(first.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await secret()).toEqual(first);
  });

  it('rotates it; a replay of that request does not show it', async () => {
    const before = await secret();
    const headers = { 'Idempotency-Key': 'rotate-once' };
    const rotated = await secret('/rotate', 'POST', headers);
    expect(rotated.secret).not.toBe(before.secret);
    expect(await secret()).toEqual(rotated);
    expect((await secret('/rotate', 'POST', headers)).secret).toBeNull();
    expect(await secret()).toEqual(rotated);
  });

  it('signs with at most three secrets, however often it is rotated', async () => {
    const made: (string | null)[] = [];
    for (let n = 0; n < 6; n += 1) made.push((await secret('/rotate', 'POST')).secret);
    const signing = await signingSecrets(gateway.database, 'default', new Date());
    expect(signing).toEqual(made.slice(-3).reverse());
  });

  it('shows a test key only deliveries of test requests, and does not let it read or rotate the secret', async () => {
    await reject();
    const key = await gateway.key({ scopes: ['admin'], test: true });
    const before = await secret();
    const rotation = await gateway.call('/v1/webhooks/secret/rotate', { key, method: 'POST' });
    expect(rotation.status).toBe(403);
    const shown = await gateway.call('/v1/webhooks/secret', { key });
    expect(shown.status).toBe(403);
    expect(await shown.text()).not.toContain(before.secret);
    expect(await secret()).toEqual(before);
    const [live] = (await deliveries()).data;
    const seen = await gateway.call('/v1/webhooks/deliveries', { key });
    expect(await seen.json()).toMatchObject({ data: [] });
    const again = await gateway.call(`/v1/webhooks/deliveries/${live?.id}/redeliver`, {
      key,
      method: 'POST',
    });
    expect(again.status).toBe(404);
  });

  it.each([
    ['shown again', 'secret.read', () => secret()],
    ['rotated', 'secret.rotate', () => secret('/rotate', 'POST')],
  ])('audits that it was %s, without the secret', async (_what, action, call) => {
    await gateway.database.query('DELETE FROM audit');
    const shown = await call();
    const { rows } = await gateway.database.query('SELECT * FROM audit');
    expect(rows).toMatchObject([
      {
        action,
        status: 200,
        detail: { secret: 'webhook' },
        account_id: 'default',
      },
    ]);
    expect(JSON.stringify(rows)).not.toContain(shown.secret);
  });

  it('lists what became of each delivery, newest first and page by page', async () => {
    const [older, newer] = [await reject(), await reject()];
    const first = await deliveries('?limit=1');
    expect(first).toMatchObject({ has_more: true, data: [{ request: newer }] });
    expect(first.data[0]).toMatchObject({
      object: 'webhook_delivery',
      event: 'request.failed',
      url: URL,
      state: 'pending',
      next_attempt_at: expect.any(String),
      ended_at: null,
      error: null,
      attempts: [],
    });
    const second = await deliveries(`?limit=1&cursor=${first.next_cursor}`);
    expect(second.data).toMatchObject([{ request: older }]);
    expect((await deliveries(`?request=${older}`)).data).toHaveLength(1);
    expect((await deliveries('?state=dead')).data).toEqual([]);
    const { headers } = await gateway.call('/v1/webhooks/deliveries?limit=1', { key: admin });
    expect(headers.get('Link')).toContain(`cursor=${first.next_cursor}>; rel="next"`);
  });

  it('resends finished deliveries, but none that is still being tried', async () => {
    const [delivery] = (await deliveries(`?request=${await reject()}`)).data;
    const path = `/v1/webhooks/deliveries/${delivery?.id}/redeliver`;
    expect((await gateway.call(path, { key: admin, method: 'POST' })).status).toBe(404);
    await gateway.database.query(`UPDATE deliveries SET state = 'dead', ended_at = now()`);
    const again = await gateway.call(path, { key: admin, method: 'POST' });
    expect(again.status).toBe(202);
    expect(await again.json()).toMatchObject({ id: delivery?.id, state: 'pending' });
  });

  it('needs the scope admin', async () => {
    for (const path of ['/v1/webhooks/secret', '/v1/webhooks/deliveries']) {
      expect((await gateway.call(path)).status).toBe(403);
    }
  });

  it('shows another account its own secret and no delivery', async () => {
    const key = await gateway.key({ scopes: ['admin'], accountId: 'other' });
    const answer = await gateway.call('/v1/webhooks/secret', { key });
    expect(await answer.json()).not.toEqual(await secret());
    const list = await gateway.call('/v1/webhooks/deliveries', { key });
    expect(await list.json()).toMatchObject({ data: [] });
  });

  it('refuses a submit to an address that is disabled', async () => {
    const { rows } = await gateway.database.query<{ id: string }>(
      'SELECT id FROM webhook_endpoints WHERE url = $1',
      [URL],
    );
    await recordFailure(gateway.database, rows[0]?.id ?? '', new Date(), { gone: true });
    const answer = await run();
    expect(answer.status).toBe(422);
    expect((await read(answer)).errors).toEqual([
      { pointer: '/webhook/url', detail: expect.stringContaining('disabled') },
    ]);
    expect((await run('https://his.example/other')).status).toBe(202);
  });
});
