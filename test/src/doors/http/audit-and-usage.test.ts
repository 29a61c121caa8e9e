import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '../../../../src/core/accounts/keys.ts';
import { cancelRequest } from '../../../../src/core/requests/core.ts';
import { type Gateway, read, startGateway } from './gateway.ts';

const NO_SUCH_REQUEST = `req_${'0'.repeat(26)}`;

describe('the audit', () => {
  let gateway: Gateway;
  let id: string;
  beforeAll(async () => {
    gateway = await startGateway();
    id = await gateway.submit();
    await gateway.worker.start(id);
    await gateway.worker.succeed(id, { 'report.pdf': 'a report' });
  });
  afterAll(() => gateway.stop());
  beforeEach(() => gateway.database.query('DELETE FROM audit'));

  const entries = async () => {
    const { rows } = await gateway.database.query<{
      action: string;
      request_id: string | null;
      status: number;
    }>('SELECT * FROM audit ORDER BY id');
    return rows;
  };

  it.each([
    ['request.read', 'GET', () => `/v1/requests/${id}`, 200],
    ['request.follow', 'GET', () => `/v1/requests/${id}/events`, 200],
    ['artifact.list', 'GET', () => `/v1/requests/${id}/artifacts`, 200],
    ['artifact.read', 'GET', () => `/v1/requests/${id}/artifacts/report.pdf`, 302],
    ['request.cancel', 'POST', () => `/v1/requests/${id}/cancel`, 409],
    ['request.read', 'GET', () => `/queue/us/obstetric/requests/${id}`, 200],
    ['request.read', 'GET', () => `/queue/us/obstetric/requests/${id}/status`, 200],
    ['request.cancel', 'PUT', () => `/queue/us/obstetric/requests/${id}/cancel`, 400],
  ])('%s: %s of a request is recorded with its outcome', async (action, method, path, status) => {
    const answer = await gateway.call(path(), { method, headers: { 'X-Request-Id': 'call-1' } });
    expect(answer.status).toBe(status);
    await answer.text();
    expect(await entries()).toMatchObject([
      { action, request_id: id, status, call_id: 'call-1', account_id: 'default' },
    ]);
  });

  it('refers to the request that a submit created', async () => {
    const made = await gateway.submit();
    expect(await entries()).toMatchObject([
      { action: 'request.submit', request_id: made, status: 202 },
    ]);
  });

  it('contains no text invented by a caller: an id that we did not issue is omitted', async () => {
    await gateway.call(`/v1/requests/${NO_SUCH_REQUEST}`);
    await gateway.call('/v1/requests/Jane%20Doe');
    await gateway.call('/v1/requests');
    expect((await entries()).map((row) => [row.action, row.request_id, row.status])).toEqual([
      ['request.read', NO_SUCH_REQUEST, 404],
      ['request.read', null, 404],
      ['request.list', null, 200],
    ]);
  });

  it('has no entry for a call that read nothing: without a key, or without the scope', async () => {
    await gateway.call(`/v1/requests/${id}`, { key: null });
    await gateway.call(`/v1/requests/${id}`, { key: await gateway.key({ scopes: ['run'] }) });
    expect(await entries()).toEqual([]);
  });
});

describe('a call to a function that the scopes of its key do not include', () => {
  it('is audited as a refusal of the key, with the scope that it lacks', async () => {
    const refusals: unknown[] = [];
    const gateway = await startGateway({ refusals: { refused: (one) => refusals.push(one) } });
    const key = await gateway.key({ scopes: ['read'] });
    expect((await gateway.call('/v1/keys', { key })).status).toBe(403);
    expect((await gateway.call('/v1/requests', { key })).status).toBe(200);
    expect(refusals).toMatchObject([
      { action: 'permission.refused', address: '127.0.0.1', detail: { scope: 'admin' } },
    ]);
    await gateway.stop();
  });
});

describe('what requests cost', () => {
  let gateway: Gateway;
  let a: { id: string; key: string };
  let b: { id: string; key: string };
  const usage = async (query = '') =>
    (await (await gateway.call(`/v1/usage${query}`)).json()) as {
      data: { month: string; key: string; requests: number; succeeded: number; cost: object }[];
    };

  beforeAll(async () => {
    gateway = await startGateway();
    const make = async () => {
      const { key, record } = await createKey(gateway.database, { name: 'usage' });
      return { id: record.id, key };
    };
    [a, b] = [await make(), await make()];
  });
  afterAll(() => gateway.stop());

  const submit = async (key: string) => {
    const body = { input: { files: [await gateway.upload()] } };
    return (await read(await gateway.call('/v1/run/us/obstetric', { key, body }))).id;
  };
  const end = async (key: string, how: 'succeed' | 'reject' | 'cancel') => {
    const id = await submit(key);
    if (how === 'cancel') await cancelRequest(gateway.database, id, null, new Date());
    else {
      await gateway.worker.start(id);
      if (how === 'succeed') await gateway.worker.succeed(id);
      else await gateway.worker.reject(id, 'not an image');
    }
    return id;
  };
  const costOf = async (id: string) =>
    ((await (await gateway.call(`/v1/requests/${id}`)).json()) as { cost: object }).cost;

  it('is zero if they are rejected or canceled', async () => {
    const nothing = { currency: 'USD', total: '0.00', lines: [] };
    expect(await costOf(await end(a.key, 'reject'))).toEqual(nothing);
    expect(await costOf(await end(a.key, 'cancel'))).toEqual(nothing);
  });

  it('is summed exactly by month and key, of what has ended', async () => {
    const old = await end(a.key, 'succeed');
    await gateway.database.query(
      `UPDATE requests SET ended_at = '2026-01-31T23:59:59.999Z' WHERE id = $1`,
      [old],
    );
    for (let n = 0; n < 3; n++) await end(a.key, 'succeed');
    await gateway.worker.expire(await end(b.key, 'succeed'));
    await submit(b.key);

    const month = new Date().toISOString().slice(0, 7);
    const cost = (total: string) => ({ currency: 'USD', total });
    const january = { month: '2026-01', key: a.id, requests: 1, succeeded: 1, cost: cost('0.08') };
    const { data } = await usage();
    expect(data).toEqual([
      { month, key: a.id, requests: 5, succeeded: 3, cost: cost('0.24') },
      { month, key: b.id, requests: 1, succeeded: 1, cost: cost('0.08') },
      january,
    ]);
    expect((await usage('?month=2026-01')).data).toEqual([january]);
    expect((await usage(`?key=${b.id}`)).data).toHaveLength(1);
  });

  it('of another account is hidden', async () => {
    const stranger = await gateway.key({ accountId: 'other' });
    const answer = await gateway.call('/v1/usage', { key: stranger });
    expect(await answer.json()).toEqual({ data: [] });
  });

  it.each(['2026-13', '2026', 'now'])('cannot be queried for the month %s', async (month) => {
    expect((await gateway.call(`/v1/usage?month=${month}`)).status).toBe(422);
  });
});
