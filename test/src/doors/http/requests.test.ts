import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, read, startGateway } from './gateway.ts';

describe('requests', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  const get = async (path: string) => read(await gateway.call(path));

  describe('GET /v1/requests/{id}', () => {
    it('shows the result once there is one', async () => {
      const id = await gateway.submit();
      expect(await get(`/v1/requests/${id}`)).toMatchObject({ status: 'queued', output: null });
      await gateway.worker.start(id);
      await gateway.worker.succeed(id);
      expect(await get(`/v1/requests/${id}`)).toMatchObject({
        status: 'succeeded',
        stage: { name: 'completed', progress: 1 },
        output: { schema: 'sonogate.result/1', version: '1.2.0' },
      });
    });

    it('shows why a request was rejected, as problem details', async () => {
      const id = await gateway.submit();
      await gateway.worker.start(id);
      await gateway.worker.reject(id, 'a.png cannot be decoded');
      expect(await get(`/v1/requests/${id}`)).toMatchObject({
        status: 'rejected',
        output: null,
        error: { code: 'no_readable_image', detail: 'a.png cannot be decoded' },
      });
    });

    it('?wait delays the response until the status changes', async () => {
      const id = await gateway.submit();
      const held = get(`/v1/requests/${id}?wait=60`);
      await gateway.worker.start(id);
      await gateway.worker.succeed(id);
      expect((await held).status).not.toBe('queued');
    });

    it('?wait does not delay the response for a request that has ended', async () => {
      const id = await gateway.submit();
      await gateway.call(`/v1/requests/${id}/cancel`, { method: 'POST' });
      const patience = AbortSignal.timeout(30_000);
      const held = gateway.call(`/v1/requests/${id}?wait=60`, { signal: patience });
      expect((await read(await held)).status).toBe('canceled');
    });

    it('?wait returns the same status once the seconds have passed', async () => {
      const id = await gateway.submit();
      expect((await get(`/v1/requests/${id}?wait=1`)).status).toBe('queued');
    });

    it.each(['-1', '61', '1.5', 'soon'])(
      '?wait=%s is refused with a pointer to it',
      async (wait) => {
        const answer = await gateway.call(`/v1/requests/${await gateway.submit()}?wait=${wait}`);
        expect(answer.status).toBe(422);
        expect((await read(answer)).errors[0]?.pointer).toBe('/wait');
      },
    );
  });

  describe('POST /v1/requests/{id}/cancel', () => {
    const cancel = (id: string) => gateway.call(`/v1/requests/${id}/cancel`, { method: 'POST' });

    it('ends a request with 202 and the request object', async () => {
      const id = await gateway.submit();
      const answer = await cancel(id);
      expect(answer.status).toBe(202);
      expect(await read(answer)).toMatchObject({ id, status: 'canceled' });
    });

    it('answers 409 to a request that has ended', async () => {
      const id = await gateway.submit();
      await cancel(id);
      const again = await cancel(id);
      expect(again.status).toBe(409);
      expect((await read(again)).code).toBe('already_finished');
    });
  });

  describe('GET /v1/requests', () => {
    it('lists newest first, page by page, without a gap when new ones arrive', async () => {
      const ids = [];
      for (let n = 0; n < 5; n++) ids.unshift(await gateway.submit());
      const seen: string[] = [];
      let path = '/v1/requests?limit=2';
      while (seen.length < 5) {
        const answer = await gateway.call(path);
        const { data, next_cursor } = await read(answer);
        seen.push(...data.map(({ id }) => id));
        await gateway.submit();
        path = `/v1/requests?limit=2&cursor=${next_cursor}`;
        expect(answer.headers.get('Link')).toContain(`cursor=${next_cursor}`);
      }
      expect(seen.slice(0, 5)).toEqual(ids);
    });

    it('omits input and output', async () => {
      const { data } = await get('/v1/requests?limit=1');
      expect(data[0]).not.toHaveProperty('input');
      expect(data[0]).not.toHaveProperty('output');
    });

    it('filters by status, which may repeat, and by model', async () => {
      const id = await gateway.submit();
      await gateway.call(`/v1/requests/${id}/cancel`, { method: 'POST' });
      const { data } = await get('/v1/requests?status=canceled&status=failed&limit=100');
      expect(new Set(data.map(({ status }) => status))).toEqual(new Set(['canceled']));
      expect((await get('/v1/requests?model=us/echo')).data).toEqual([]);
      expect((await get('/v1/requests?model=us/obstetric&limit=1')).data).toHaveLength(1);
    });

    it('answers an unknown status with the statuses that exist', async () => {
      const { errors } = await get('/v1/requests?status=done');
      expect(errors[0]?.detail).toMatch(/^Invalid option: expected one of queued, preparing, /);
    });

    it.each([
      ['limit=0', '/limit'],
      ['limit=101', '/limit'],
      ['status=done', '/status'],
      ['since=yesterday', '/since'],
      ['since=1899-12-31T23:59:59Z', '/since'],
      ['since=9999-12-31T23:59:59-01:00', '/since'],
      ['statu=failed', '/statu'],
    ])('refuses ?%s with a pointer to it', async (query, pointer) => {
      const answer = await gateway.call(`/v1/requests?${query}`);
      expect(answer.status).toBe(422);
      expect((await read(answer)).errors[0]?.pointer).toBe(pointer);
    });
  });

  it('two accounts never see each other’s requests, artifacts or files', async () => {
    const stranger = await gateway.key({ accountId: 'other' });
    const id = await gateway.submit();
    await gateway.worker.start(id);
    await gateway.worker.succeed(id, { 'report.pdf': 'a report' });
    const self = `/v1/requests/${id}`;
    for (const path of [
      self,
      `${self}/events`,
      `${self}/artifacts`,
      `${self}/artifacts/report.pdf`,
    ]) {
      const answer = await gateway.call(path, { key: stranger });
      expect(answer.status, path).toBe(404);
      const { code } = await read(answer);
      expect(code).toBe('not_found');
    }
    const cancel = await gateway.call(`${self}/cancel`, { key: stranger, method: 'POST' });
    expect(cancel.status).toBe(404);
    expect((await read(await gateway.call('/v1/requests', { key: stranger }))).data).toEqual([]);

    const file = await gateway.upload();
    const run = await gateway.call('/v1/run/us/obstetric', {
      key: stranger,
      body: { input: { files: [file] } },
    });
    expect((await read(run)).code).toBe('file_not_ready');
    const complete = await gateway.call(`/v1/uploads/${file}/complete`, {
      key: stranger,
      method: 'POST',
    });
    expect(complete.status).toBe(404);
  });
});
