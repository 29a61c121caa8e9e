import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../../peers/postgres.ts';
import { type Gateway, read, startGateway } from './gateway.ts';

const server: PostgresServer | null = await startPostgres();
afterAll(() => server?.stop());

describe.skipIf(server === null)('the HTTP door on a PostgreSQL server', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startGateway({}, await server?.createDatabase());
  });
  afterAll(() => gateway.stop());

  it('serves the whole road as on the embedded database', async () => {
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
});
