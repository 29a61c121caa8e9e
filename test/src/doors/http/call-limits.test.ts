import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createKey, revokeKey } from '../../../../src/core/accounts/keys.ts';
import { createCallLimits, rateLimitHeaders } from '../../../../src/doors/http/call-limits.ts';
import { migrate } from '../../../../src/platform/database/migrate.ts';
import { openDatabase, type PooledDatabase } from '../../../../src/platform/database/open.ts';
import type { Queryable } from '../../../../src/platform/database/port.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { freshDataDir } from '../../../peers/embedded.ts';
import { type PostgresServer, startPostgres } from '../../../peers/postgres.ts';
import { type Gateway, read, startGateway } from './gateway.ts';

const postgres: PostgresServer | null = await startPostgres();
afterAll(() => postgres?.stop());

const NOON = Date.parse('2026-03-01T12:00:00Z');
const BACKENDS = [
  { name: 'embedded database', server: false },
  { name: 'PostgreSQL server', server: true },
];

describe.each(BACKENDS)('calls of a key: $name', ({ server }) => {
  const missing = server && !postgres;
  let dataDir: string;
  let database: PooledDatabase;

  beforeAll(async () => {
    if (missing) return;
    dataDir = await freshDataDir();
    const databaseUrl = server ? await postgres?.createDatabase() : undefined;
    database = await openDatabase({ databaseUrl, dataDir, logger: silentLogger });
    await migrate(database);
  });
  afterEach(() => (missing ? undefined : database.query('DELETE FROM call_buckets')));
  afterAll(async () => {
    if (missing) return;
    await database.close();
    await rm(dataDir, { recursive: true });
  });

  const config = { callsPerMinute: 60, openStreamsPerKey: 2 };
  const at = (seconds = 0) => {
    const clock = { seconds };
    const now = () => new Date(NOON + clock.seconds * 1000);
    return { clock, limits: createCallLimits({ database, config, now }) };
  };

  it("are allowed a minute's worth at once, then one for each that is replenished", async ({
    skip,
  }) => {
    if (missing) skip('PostgreSQL is not installed');
    const { clock, limits } = at();
    const burst = await Promise.all(Array.from({ length: 61 }, () => limits.take('a')));
    expect(burst.filter(({ allowed }) => allowed)).toHaveLength(60);
    expect(burst.map(({ remaining }) => remaining).slice(0, 3)).toEqual([59, 58, 57]);
    expect(burst.at(-1)).toMatchObject({ allowed: false, remaining: 0, retrySeconds: 1 });
    clock.seconds = 0.9;
    expect(await limits.take('a')).toMatchObject({ allowed: false, retrySeconds: 1 });
    clock.seconds = 1.1;
    expect((await limits.take('a')).allowed).toBe(true);
    expect((await limits.take('a')).allowed).toBe(false);
  });

  it('are replenished up to a minute’s worth and no more', async ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    const { clock, limits } = at();
    for (let n = 0; n < 60; n++) await limits.take('a');
    clock.seconds = 3600;
    expect((await limits.take('a')).remaining).toBe(59);
  });

  it("with one key do not reduce another key's allowance, even if they are simultaneous", async ({
    skip,
  }) => {
    if (missing) skip('PostgreSQL is not installed');
    const { limits } = at();
    const both = [...Array.from({ length: 61 }, () => 'a'), 'b'].map((key) => limits.take(key));
    const answers = await Promise.all(both);
    expect(answers.at(-2)?.allowed).toBe(false);
    expect(answers.at(-1)).toMatchObject({ allowed: true, remaining: 59 });
  });

  it('are counted across all processes: what one allows, another does not allow again', async ({
    skip,
  }) => {
    if (missing) skip('PostgreSQL is not installed');
    const [one, other] = [at().limits, at().limits];
    for (let n = 0; n < 40; n++) await one.take('a');
    const rest = await Promise.all(Array.from({ length: 40 }, () => other.take('a')));
    expect(rest.filter(({ allowed }) => allowed)).toHaveLength(20);
    expect((await one.take('a')).allowed).toBe(false);
  });

  it('are admitted together: each key by its own bucket, and no unknown or revoked key', async ({
    skip,
  }) => {
    if (missing) skip('PostgreSQL is not installed');
    const { limits } = at();
    const busy = await createKey(database, { name: 'busy' });
    const quiet = await createKey(database, { name: 'quiet' });
    const revoked = await createKey(database, { name: 'revoked' });
    await revokeKey(database, revoked.record.id);
    const unknown = `${quiet.key.slice(0, -1)}${quiet.key.endsWith('x') ? 'y' : 'x'}`;
    const admit = (key: string) => limits.admit(key, new Date(NOON));
    const refused = expect(
      Promise.allSettled([admit(unknown), admit(revoked.key), admit('not a key')]),
    ).resolves.toMatchObject(Array(3).fill({ reason: { code: 'invalid_key' } }));
    const keys = [...Array.from({ length: 61 }, () => busy.key), quiet.key];
    const answers = await Promise.all(keys.map(admit));
    await refused;
    expect(answers.filter(({ allowance }) => !allowance.allowed)).toHaveLength(1);
    expect(answers.at(-2)?.principal.keyId).toBe(busy.record.id);
    expect(answers.at(-1)).toMatchObject({
      principal: { keyId: quiet.record.id },
      allowance: { allowed: true, remaining: 59 },
    });
    const { rows } = await database.query('SELECT key_id FROM call_buckets');
    expect(rows).toHaveLength(2);
  });

  it("use the database's clock if no other is given", async ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    const limits = createCallLimits({ database, config });
    for (let n = 0; n < 60; n++) await limits.take('a');
    await database.query("UPDATE call_buckets SET filled_at = filled_at - interval '1 hour'");
    expect((await limits.take('a')).remaining).toBe(59);
  });

  it('are reported in header fields', async ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    const { limits } = at();
    expect(rateLimitHeaders(await limits.take('a'))).toEqual({
      'RateLimit-Policy': '"calls";q=60;w=60',
      RateLimit: '"calls";r=59;t=1',
    });
  });

  it('may keep a limited number of streams open, and another once one has closed', ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    const { limits } = at();
    const close = limits.openStream('a');
    limits.openStream('a');
    expect(() => limits.openStream('a')).toThrow('rate_limited');
    limits.openStream('b');
    close();
    close();
    limits.openStream('a');
    expect(() => limits.openStream('a')).toThrow('rate_limited');
  });
});

describe('waiting requests of a key', () => {
  const limitsOn = (waiting: readonly number[]) => {
    const counts = [...waiting];
    const query = async () => ({ rows: [{ waiting: counts.shift() ?? 0 }], rowCount: 1 });
    const config = { callsPerMinute: 60, openStreamsPerKey: 2, queuedPerKey: 5 };
    return {
      limits: createCallLimits({ database: { query: query as Queryable['query'] }, config }),
      counted: () => waiting.length - counts.length,
    };
  };

  it('are counted once for several submits, of which no more are accepted than there is room for', async () => {
    const { limits, counted } = limitsOn([2, 5, 5, 5]);
    const submits = Array.from({ length: 6 }, () => limits.requireRoom('a'));
    const outcomes = await Promise.allSettled(submits);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(counted()).toBe(1);
  });

  it('are counted again before a submit is refused', async () => {
    const { limits, counted } = limitsOn([4, 3]);
    await limits.requireRoom('a');
    await limits.requireRoom('a');
    expect(counted()).toBe(2);
  });

  it('are counted for each key', async () => {
    const { limits, counted } = limitsOn([0, 5]);
    await limits.requireRoom('a');
    await expect(limits.requireRoom('b')).rejects.toThrow('rate_limited');
    expect(counted()).toBe(2);
  });
});

describe('the HTTP door', () => {
  let gateway: Gateway;
  afterEach(() => gateway.stop());
  const start = async (
    callsPerMinute: number,
    openStreamsPerKey: number,
    queuedPerKey?: number,
  ) => {
    gateway = await startGateway({
      callLimits: { callsPerMinute, openStreamsPerKey, ...(queuedPerKey && { queuedPerKey }) },
    });
  };

  it('answers 429 and states when to retry', async () => {
    await start(2, 1);
    const first = await gateway.call('/v1/models');
    expect(first.status).toBe(200);
    expect(first.headers.get('RateLimit')).toBe('"calls";r=1;t=30');
    await gateway.call('/v1/models');
    const refused = await gateway.call('/v1/models');
    expect(refused.status).toBe(429);
    expect((await read(refused)).code).toBe('rate_limited');
    const wait = Number(refused.headers.get('Retry-After'));
    expect(wait).toBeGreaterThan(1);
    expect(wait).toBeLessThanOrEqual(30);
    expect(refused.headers.get('RateLimit-Policy')).toBe('"calls";q=2;w=60');
    const other = await gateway.call('/v1/models', { key: await gateway.key() });
    expect(other.status).toBe(200);
  });

  it("refuses a submit while too many of the key's requests are waiting, but not other keys", async () => {
    await start(1000, 1, 2);
    const file = await gateway.upload();
    const submit = (options: object = {}) =>
      gateway.call('/v1/run/us/obstetric', { body: { input: { files: [file] } }, ...options });
    expect((await submit()).status).toBe(202);
    const second = await read(await submit());
    const refused = await submit();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect((await read(refused)).code).toBe('rate_limited');
    expect((await submit({ key: await gateway.key() })).status).toBe(202);
    await gateway.call(`/v1/requests/${second.id}/cancel`, { method: 'POST' });
    expect((await submit()).status).toBe(202);
  });

  it('refuses one open stream too many, and accepts it once another has closed', async () => {
    await start(1000, 1);
    const id = await gateway.submit();
    const leave = new AbortController();
    const events = `/v1/requests/${id}/events`;
    const stream = await gateway.call(events, { signal: leave.signal });
    expect(stream.status).toBe(200);
    const refused = await gateway.call(events);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('Retry-After')).toBe('1');
    leave.abort();
    await expect
      .poll(async () => {
        const again = await gateway.call(events, { signal: AbortSignal.timeout(5000) });
        await again.body?.cancel();
        return again.status;
      })
      .toBe(200);
  });
});
