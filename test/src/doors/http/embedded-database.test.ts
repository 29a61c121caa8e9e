import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { embeddedDatabase } from '../../../peers/database.ts';
import { type Gateway, read, startGateway } from './gateway.ts';

describe('the HTTP door on the embedded database', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startGateway({}, {}, await embeddedDatabase());
  });
  afterAll(() => gateway.stop());

  it('serves a request from submit to result as on PostgreSQL', async () => {
    const file = await gateway.upload('pixels');
    const submit = {
      body: { input: { files: [file] }, metadata: { ward: '3' } },
      headers: { 'Idempotency-Key': 'once' },
    };
    const [first, again] = [
      await gateway.call('/v1/run/us/obstetric', submit),
      await gateway.call('/v1/run/us/obstetric', submit),
    ];
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    const { id } = await read(first);
    expect((await read(again)).id).toBe(id);

    const events = gateway.call(`/v1/requests/${id}/events`).then((answer) => answer.text());
    await gateway.worker.start(id);
    await gateway.worker.succeed(id, { 'report.pdf': 'a report' });
    expect(await events).toContain('event: done');

    const link = await gateway.call(`/v1/requests/${id}/artifacts/report.pdf`);
    const report = await gateway.call(link.headers.get('Location') ?? '', { key: null });
    expect(await report.text()).toBe('a report');
    const { data } = await read(await gateway.call('/v1/requests?status=succeeded'));
    expect(data.map((request) => request.id)).toEqual([id]);
    gateway.advance(25 * 3_600_000);
    expect(await gateway.uploads.removeExpired()).toBe(1);
  });

  it('keeps keys, audit, usage and webhook deliveries as on PostgreSQL', async () => {
    const admin = await gateway.key({ scopes: ['admin'] });
    const body = {
      input: { files: [await gateway.upload()] },
      webhook: { url: 'https://his.example/hook' },
    };
    const { id } = await read(await gateway.call('/v1/run/us/obstetric', { key: admin, body }));
    await gateway.worker.start(id);
    await gateway.worker.succeed(id);

    const list = async (path: string) =>
      (await read(await gateway.call(path, { key: admin }))).data;
    expect(await list(`/v1/webhooks/deliveries?request=${id}`)).toMatchObject([
      { event: 'request.succeeded', state: 'pending' },
    ]);
    const made = await read(await gateway.call('/v1/keys', { key: admin, body: { name: 'new' } }));
    const rotated = await gateway.call(`/v1/keys/${made.id}/rotate`, {
      key: admin,
      method: 'POST',
    });
    expect(rotated.status).toBe(201);
    expect(await list('/v1/usage')).toContainEqual(
      expect.objectContaining({ succeeded: 1, cost: { currency: 'USD', total: '0.08' } }),
    );
    const { rows } = await gateway.database.query(
      'SELECT action, status FROM audit WHERE request_id = $1',
      [id],
    );
    expect(rows).toEqual([{ action: 'request.submit', status: 202 }]);
  });
});
