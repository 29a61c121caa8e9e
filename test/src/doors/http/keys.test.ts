import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from './gateway.ts';

const HOUR_MS = 3_600_000;

interface Key {
  id: string;
  key: string | null;
  name: string;
  test: boolean;
  scopes: string[];
  revoked_at: string | null;
  expires_at: string | null;
}

describe('/v1/keys', () => {
  let gateway: Gateway;
  let admin: string;
  beforeAll(async () => {
    gateway = await startGateway();
    admin = await gateway.key({ scopes: ['admin'] });
  });
  afterAll(() => gateway.stop());

  const make = async (body: object, key = admin, headers = {}) => {
    const answer = await gateway.call('/v1/keys', { key, body, headers });
    return { status: answer.status, made: (await answer.json()) as Key, answer };
  };
  const works = async (key: string | null) =>
    (await gateway.call('/v1/models', { key: key ?? '' })).status === 200;
  const list = async (key = admin) => {
    const answer = await gateway.call('/v1/keys', { key });
    return ((await answer.json()) as { data: Key[] }).data;
  };

  it('creates a key that works, and shows it only once', async () => {
    const { status, made } = await make({ name: 'ward 3' });
    expect(status).toBe(201);
    expect(made).toMatchObject({ object: 'key', name: 'ward 3', test: false, revoked_at: null });
    expect(made.scopes).toEqual(['run', 'read', 'uploads']);
    expect(made.key).toMatch(/^sg_live_/);
    expect(await works(made.key)).toBe(true);
    const listed = (await list()).find(({ id }) => id === made.id);
    expect(listed).toMatchObject({ name: 'ward 3' });
    expect(JSON.stringify(listed)).not.toContain(made.key);
  });

  it('replays the creation of a key without the key, which is stored nowhere', async () => {
    const headers = { 'Idempotency-Key': 'one-key' };
    const first = await make({ name: 'once' }, admin, headers);
    const again = await make({ name: 'once' }, admin, headers);
    expect(again.answer.headers.get('Idempotent-Replayed')).toBe('true');
    expect(again.made).toEqual({ ...first.made, key: null });
    const { rows } = await gateway.database.query('SELECT body FROM idempotency_keys');
    expect(JSON.stringify(rows)).not.toContain(first.made.key);
  });

  it.each([
    [{}, '/name'],
    [{ name: ' ' }, '/name'],
    [{ name: 'a', scopes: [] }, '/scopes'],
    [{ name: 'a', scopes: ['root'] }, '/scopes/0'],
    [{ name: 'a', expires_at: 'tomorrow' }, '/expires_at'],
    [{ name: 'a', expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    [{ name: 'a', account: 'other' }, '/account'],
  ])('refuses %j with a pointer to %s', async (body, pointer) => {
    const answer = await gateway.call('/v1/keys', { key: admin, body });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ errors: [{ pointer }] });
  });

  it('revokes a key permanently', async () => {
    const { made } = await make({ name: 'short-lived' });
    const path = `/v1/keys/${made.id}`;
    const revoked = await gateway.call(path, { key: admin, method: 'DELETE' });
    expect(await revoked.json()).toMatchObject({ id: made.id, revoked_at: expect.any(String) });
    expect(await works(made.key)).toBe(false);
  });

  it('rotates a key: both work until the overlap is over, then the new one alone', async () => {
    const { made } = await make({ name: 'rotating', scopes: ['read'] });
    const body = { overlap_hours: 1 };
    const answer = await gateway.call(`/v1/keys/${made.id}/rotate`, { key: admin, body });
    expect(answer.status).toBe(201);
    const next = (await answer.json()) as Key;
    expect(next).toMatchObject({ name: 'rotating', scopes: ['read'], expires_at: null });
    expect(next.id).not.toBe(made.id);
    expect([await works(made.key), await works(next.key)]).toEqual([true, true]);
    gateway.advance(HOUR_MS);
    expect([await works(made.key), await works(next.key)]).toEqual([false, true]);
    const again = await gateway.call(`/v1/keys/${made.id}/rotate`, { key: admin, body });
    expect(again.status, 'an expired key').toBe(404);
  });

  it("never lets a rotation extend a key's life", async () => {
    const inAnHour = new Date(Date.now() + 2 * HOUR_MS).toISOString();
    const { made } = await make({ name: 'ends soon', expires_at: inAnHour });
    await gateway.call(`/v1/keys/${made.id}/rotate`, { key: admin, body: { overlap_hours: 168 } });
    expect((await list()).find(({ id }) => id === made.id)?.expires_at).toBe(inAnHour);
  });

  it('belongs to the account: keys of other accounts are neither visible nor revocable', async () => {
    const stranger = await gateway.key({ scopes: ['admin'], accountId: 'other' });
    const { made } = await make({ name: 'mine' });
    expect((await list(stranger)).map(({ id }) => id)).not.toContain(made.id);
    for (const [method, path] of [
      ['DELETE', `/v1/keys/${made.id}`],
      ['POST', `/v1/keys/${made.id}/rotate`],
    ]) {
      const answer = await gateway.call(path ?? '', { key: stranger, method: method ?? '' });
      expect(answer.status).toBe(404);
    }
    expect(await works(made.key)).toBe(true);
  });

  it('audits who created, rotated and revoked which key, and who was refused', async () => {
    await gateway.database.query('DELETE FROM audit');
    const { made } = await make({ name: 'audited' }, admin, { 'X-Request-Id': 'call-1' });
    const rotated = await gateway.call(`/v1/keys/${made.id}/rotate`, { key: admin, body: {} });
    const { id: replacement } = (await rotated.json()) as Key;
    await gateway.call(`/v1/keys/${made.id}`, { key: admin, method: 'DELETE' });
    await make({}, admin);
    await gateway.call('/v1/keys/Jane%20Doe', { key: admin, method: 'DELETE' });
    await list();
    const { rows } = await gateway.database.query('SELECT * FROM audit ORDER BY id');
    const by = { key_id: expect.stringMatching(/^key_/), account_id: 'default' };
    expect(rows).toMatchObject([
      { ...by, action: 'key.create', status: 201, detail: { key: made.id }, call_id: 'call-1' },
      { ...by, action: 'key.rotate', status: 201, detail: { key: made.id, replacement } },
      { ...by, action: 'key.revoke', status: 200, detail: { key: made.id } },
      { ...by, action: 'key.create', status: 422, detail: null },
      { ...by, action: 'key.revoke', status: 404, detail: null },
    ]);
    expect(rows.map((row) => JSON.stringify(row)).join()).not.toContain(made.key);
  });

  it('does not let a test key read, follow, list, count or cancel live requests', async () => {
    const live = await gateway.submit();
    const key = await gateway.key({ scopes: ['run', 'read', 'uploads'], test: true });
    for (const path of ['', '/events', '/artifacts']) {
      expect((await gateway.call(`/v1/requests/${live}${path}`, { key })).status).toBe(404);
    }
    const queue = `/queue/us/obstetric/requests/${live}`;
    for (const path of ['', '/status', '/status/stream']) {
      expect((await gateway.call(`${queue}${path}`, { key })).status).toBe(404);
    }
    const cancel = await gateway.call(`/v1/requests/${live}/cancel`, { key, method: 'POST' });
    expect(cancel.status).toBe(404);
    expect((await gateway.call(`${queue}/cancel`, { key, method: 'PUT' })).status).toBe(404);
    const history = await gateway.call('/v1/requests', { key });
    expect(await history.json()).toMatchObject({ data: [] });
    expect((await gateway.call(`/v1/requests/${live}/cancel`, { method: 'POST' })).status).toBe(
      202,
    );
    expect(await (await gateway.call('/v1/usage', { key })).json()).toEqual({ data: [] });
  });

  it('needs the scope admin', async () => {
    expect((await gateway.call('/v1/keys')).status).toBe(403);
    expect((await gateway.call('/v1/keys', { body: { name: 'a' } })).status).toBe(403);
  });

  it('does not let a key give rights that it lacks', async () => {
    const scopes = ['read', 'sign'];
    expect((await make({ name: 'Dr Ada Reader', scopes })).status).toBe(403);
    const granting = await gateway.key({ scopes: ['admin', 'sign'] });
    const { status, made: reader } = await make({ name: 'Dr Ada Reader', scopes }, granting);
    expect(status).toBe(201);
    const rotate = async (id: string, key: string) =>
      (await gateway.call(`/v1/keys/${id}/rotate`, { key, method: 'POST' })).status;
    expect(await rotate(reader.id, admin), 'a key that signs').toBe(403);
    expect(await works(reader.key)).toBe(true);
    expect(await rotate(reader.id, granting)).toBe(201);
    const person = await gateway.key({
      name: 'a person',
      scopes: ['admin'],
      consoleRole: 'clinician',
    });
    const own = (await list()).find(({ name }) => name === 'a person')?.id ?? '';
    expect(await rotate(own, granting), 'a key for the console').toBe(403);
    expect(await rotate(own, person), 'itself').toBe(201);
  });

  it('does not let a test key create, rotate or revoke a live one', async () => {
    const tester = await gateway.key({ test: true, scopes: ['admin'] });
    expect((await make({ name: 'live' }, tester)).status).toBe(403);
    expect((await make({ name: 'test', test: true }, tester)).status).toBe(201);
    const { made } = await make({ name: 'live' });
    const answer = await gateway.call(`/v1/keys/${made.id}/rotate`, {
      key: tester,
      method: 'POST',
    });
    expect(answer.status).toBe(404);
    const end = { key: tester, method: 'DELETE' };
    expect((await gateway.call(`/v1/keys/${made.id}`, end)).status).toBe(404);
    const { made: own } = await make({ name: 'own', test: true }, tester);
    expect((await gateway.call(`/v1/keys/${own.id}`, end)).status).toBe(200);
  });
});
