import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Authenticate,
  createAuthenticate,
  createKey,
  DEFAULT_ACCOUNT_ID,
  listKeys,
  revokeKey,
} from '../../../../src/core/accounts/keys.ts';
import type { PooledDatabase } from '../../../../src/platform/database/pooled.ts';
import { type OpenDatabase, openFreshDatabase } from '../../../peers/database.ts';

const NOON = new Date('2026-03-01T12:00:00.000Z');
const later = (milliseconds: number) => new Date(NOON.getTime() + milliseconds);

describe('API keys', () => {
  let fresh: OpenDatabase;
  let database: PooledDatabase;
  let authenticate: Authenticate;

  beforeAll(async () => {
    fresh = await openFreshDatabase();
    ({ database } = fresh);
    authenticate = createAuthenticate(database);
    await database.query(`INSERT INTO accounts (id, name) VALUES ('other', 'Another account')`);
  });
  afterAll(async () => {
    await fresh.close();
  });

  it('have the form sg_live_ or sg_test_ and 43 digits of base 62', async () => {
    const live = await createKey(database, { name: 'live' });
    const test = await createKey(database, { name: 'test', test: true });
    expect(live.key).toMatch(/^sg_live_[0-9A-Za-z]{43}$/);
    expect(test.key).toMatch(/^sg_test_[0-9A-Za-z]{43}$/);
    expect(test.record.test).toBe(true);
  });

  it('are not stored', async () => {
    const { key } = await createKey(database, { name: 'secret' });
    const { rows } = await database.query('SELECT * FROM api_keys');
    expect(JSON.stringify(rows)).not.toContain(key.slice('sg_live_'.length));
  });

  it('for the console have only the scopes that were requested', async () => {
    const viewer = await createKey(database, { name: 'viewer', consoleRole: 'viewer' });
    expect(viewer.record.scopes).toEqual([]);
    const named = await createKey(database, {
      name: 'named',
      consoleRole: 'viewer',
      scopes: ['read'],
    });
    expect(named.record.scopes).toEqual(['read']);
  });

  it('lead to the account and the scopes of a client', async () => {
    const { key, record } = await createKey(database, { name: 'client' });
    expect(await authenticate(key)).toEqual({
      accountId: DEFAULT_ACCOUNT_ID,
      keyId: record.id,
      test: false,
      scopes: ['run', 'read', 'uploads'],
      consoleRole: null,
    });
  });

  it.each([
    ['unknown', `sg_live_${'0'.repeat(43)}`],
    ['one digit short', `sg_live_${'0'.repeat(42)}`],
    ['of no form', 'hunter2'],
    ['empty', ''],
  ])('are invalid if they are %s', async (_case, key) => {
    await expect(authenticate(key)).rejects.toMatchObject({ code: 'invalid_key' });
  });

  it('are valid until the moment of expiry, but not at it', async () => {
    const { key } = await createKey(database, { name: 'brief', expiresAt: later(1000) }, NOON);
    await expect(authenticate(key, later(999))).resolves.toBeDefined();
    await expect(authenticate(key, later(1000))).rejects.toMatchObject({
      code: 'invalid_key',
    });
  });

  it('are invalid once revoked, and a second revocation keeps the first date', async () => {
    const { key, record } = await createKey(database, { name: 'revoked' });
    await revokeKey(database, record.id, null, NOON);
    await expect(authenticate(key)).rejects.toMatchObject({ code: 'invalid_key' });
    const again = await revokeKey(database, record.id, null, later(5000));
    expect(again.revoked_at).toEqual(NOON);
  });

  it('of another account can neither be listed nor revoked', async () => {
    const { record } = await createKey(database, { name: 'theirs', accountId: 'other' });
    const ours = await listKeys(database, DEFAULT_ACCOUNT_ID);
    expect(ours.map(({ id }) => id)).not.toContain(record.id);
    await expect(revokeKey(database, record.id, DEFAULT_ACCOUNT_ID)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('record their last use, to the minute', async () => {
    const { key, record } = await createKey(database, { name: 'used' });
    const lastUse = async () =>
      (await listKeys(database)).find(({ id }) => id === record.id)?.last_used_at;
    expect(await lastUse()).toBeNull();
    await authenticate(key, NOON);
    expect(await lastUse()).toEqual(NOON);
    await authenticate(key, later(59_000));
    expect(await lastUse()).toEqual(NOON);
    await authenticate(key, later(61_000));
    expect(await lastUse()).toEqual(later(61_000));
  });
});
