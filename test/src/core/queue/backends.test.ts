import { EventEmitter } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reconcile } from '../../../../src/core/queue/queue.ts';
import { claimRequest } from '../../../../src/core/requests/lease.ts';
import type { WaitingRequest } from '../../../../src/core/requests/request.ts';
import { createRequestStore } from '../../../../src/core/requests/submit.ts';
import { freshDataDir } from '../../../peers/embedded.ts';
import { type PostgresServer, startPostgres } from '../../../peers/postgres.ts';
import { type RedisServer, startRedis } from '../../../peers/redis.ts';
import { endpoint, openSite, type Site } from '../requests/site.ts';

const postgres: PostgresServer | null = await startPostgres();
const redis: RedisServer | null = await startRedis();

afterAll(async () => {
  await postgres?.stop();
  await redis?.stop();
});

const waiting = (id: string, over: Partial<WaitingRequest> = {}): WaitingRequest => ({
  id,
  priority: 'normal',
  test: false,
  source: 'api',
  ...over,
});

const BACKENDS = [
  { name: 'embedded database', server: false, redis: false },
  { name: 'embedded database, queue on Redis', server: false, redis: true },
  { name: 'PostgreSQL server', server: true, redis: false },
  { name: 'PostgreSQL server, queue on Redis', server: true, redis: true },
];

/** The core requires this of its queue, whatever the storage. */
describe.each(BACKENDS)('queue: $name', ({ server, redis: onRedis }) => {
  const missing = (server && !postgres) || (onRedis && !redis);
  let site: Site;

  beforeAll(async () => {
    if (missing) return;
    await redis?.flush();
    site = await openSite({
      ...(server
        ? { databaseUrl: await postgres?.createDatabase() }
        : { dataDir: await freshDataDir() }),
      redisUrl: onRedis ? redis?.url : undefined,
    });
    // BullMQ listens for errors of the pool for each queue and worker, and keeps listening when it
    // is closed. A gateway opens two of each, but these tests open many workers.
    const { queuePool } = site.database;
    if (queuePool instanceof EventEmitter) queuePool.setMaxListeners(0);
  });
  afterAll(() => site?.close());

  it('contains a job once, however often it is added', async ({ skip }) => {
    if (missing) skip('the server is not installed');
    const before = await site.queue.counts();
    await site.queue.add(waiting('req_twice'));
    await site.queue.add(waiting('req_twice'));
    expect((await site.queue.counts()).waiting).toBe(before.waiting + 1);
    await site.queue.remove('req_twice');
    expect((await site.queue.counts()).waiting).toBe(before.waiting);
  });

  it.runIf(!onRedis)('rejects all jobs of a batch that cannot be stored', async ({ skip }) => {
    if (missing) skip('the server is not installed');
    await site.database.query('ALTER TABLE bullmq.job RENAME TO away');
    const ids = ['req_one', 'req_two'];
    const added = await Promise.allSettled(ids.map((id) => site.queue.add(waiting(id))));
    await site.database.query('ALTER TABLE bullmq.away RENAME TO job');
    expect(added.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it.runIf(onRedis)('is not writable while Redis is full', async ({ skip }) => {
    if (missing) skip('the server is not installed');
    await site.queue.requireWritable();
    await redis?.command('CONFIG', 'SET', 'maxmemory', '1');
    await expect(site.queue.requireWritable()).rejects.toThrow('OOM');
    await redis?.command('CONFIG', 'SET', 'maxmemory', '0');
    await site.queue.requireWritable();
  });

  it.runIf(onRedis)('does not ask a full Redis for a job without a pause', async ({ skip }) => {
    if (missing) skip('the server is not installed');
    const calls = async () => {
      const statistics = String(await redis?.command('INFO', 'commandstats'));
      return Number(/cmdstat_evalsha:calls=(\d+)/.exec(statistics)?.[1] ?? 0);
    };
    await site.queue.add(waiting('req_full'));
    await redis?.command('CONFIG', 'SET', 'maxmemory', '1');
    const before = await calls();
    const taken: string[] = [];
    const worker = site.queue.work(1, async (id) => {
      taken.push(id);
    });
    await setTimeout(2000);
    expect(taken).toEqual([]);
    expect((await calls()) - before).toBeLessThan(20);
    await redis?.command('CONFIG', 'SET', 'maxmemory', '0');
    await expect.poll(() => taken).toEqual(['req_full']);
    await worker.close();
  });

  it('returns jobs by priority, then studies first, then the oldest first', async ({ skip }) => {
    if (missing) skip('the server is not installed');
    const given = [
      ['low_1', 'low', 'api'],
      ['normal_1', 'normal', 'api'],
      ['normal_2', 'normal', 'queue'],
      ['high_1', 'high', 'api'],
      ['low_2', 'low', 'api'],
      ['study', 'normal', 'dicom'],
    ] as const;
    for (const [id, priority, source] of given) {
      await site.queue.add(waiting(id, { priority, source }));
    }
    const taken: string[] = [];
    const worker = site.queue.work(1, async (id) => {
      taken.push(id);
    });
    await expect.poll(() => taken).toHaveLength(given.length);
    await worker.close();
    expect(taken).toEqual(['high_1', 'study', 'normal_1', 'normal_2', 'low_1', 'low_2']);
  });

  it('returns a study while a separate slot works on many test requests', async ({ skip }) => {
    if (missing) skip('the server is not installed');
    const blocked = Promise.withResolvers<void>();
    const taken: string[] = [];
    for (let n = 1; n <= 20; n += 1) await site.queue.add(waiting(`test_${n}`, { test: true }));
    const worker = site.queue.work(1, async (id) => {
      taken.push(id);
      if (id.startsWith('test_')) await blocked.promise;
    });
    await expect.poll(() => taken).toEqual(['test_1']);
    await site.queue.add(waiting('study', { source: 'dicom', priority: 'low' }));
    await expect.poll(() => taken).toEqual(['test_1', 'study']);
    blocked.resolve();
    await expect.poll(() => taken).toHaveLength(21);
    await worker.close();
  });

  it('accepts a job again after it has been completed', async ({ skip }) => {
    if (missing) skip('the server is not installed');
    let times = 0;
    const worker = site.queue.work(1, async () => {
      times += 1;
      if (times === 1) throw new Error('once');
    });
    await site.queue.add(waiting('req_again'));
    await expect.poll(() => times).toBe(1);
    await expect.poll(() => site.queue.counts()).toEqual({ waiting: 0, active: 0 });
    await site.queue.add(waiting('req_again'));
    await expect.poll(() => times).toBe(2);
    await worker.close();
  });

  it('queues a new request once, and again if its job was lost', async ({ skip }) => {
    if (missing) skip('the server is not installed');
    const id = await site.submit('result');
    expect(await reconcile(site.database, site.queue)).toBe(1);
    await site.queue.remove(id);
    expect(await reconcile(site.database, site.queue)).toBe(0);
    await site.database.query(
      "UPDATE requests SET enqueued_at = now() - interval '1 hour' WHERE id = $1",
      [id],
    );
    expect(await reconcile(site.database, site.queue)).toBe(1);
    expect((await site.queue.counts()).waiting).toBe(1);
    await site.core.cancel(id, null);
  });

  it('receives a request whose process ended between its commit and the queue', async ({
    skip,
  }) => {
    if (missing) skip('the server is not installed');
    const store = createRequestStore(site.database);
    const { row } = await store(endpoint, site.command(), new Date());
    expect((await site.queue.counts()).waiting).toBe(0);
    expect(await reconcile(site.database, site.queue)).toBe(1);
    expect((await site.queue.counts()).waiting).toBe(1);
    await site.core.cancel(row.id, null);
  });

  it('runs requests to completion: one that succeeds, one that dies once, one that is canceled', async ({
    skip,
  }) => {
    if (missing) skip('the server is not installed');
    const worker = await site.startWorker();
    const good = await site.submit('result');
    const dying = await site.submit('die-once');
    const endless = await site.submit('wait', {}, { seconds: 60 });
    await site.follow(good);
    await site.follow(dying);
    await site.until(endless, 'running');
    await site.core.cancel(endless, null);
    await site.follow(endless);

    expect(await site.row(good)).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect(await site.row(dying)).toMatchObject({ status: 'succeeded', attempts: 2 });
    expect(await site.row(endless)).toMatchObject({ status: 'canceled' });
    await worker.stop();
  });
});

describe('two processes on one PostgreSQL server', () => {
  it('run each request once, and each notices what the other does', async ({ skip }) => {
    if (!postgres) skip('PostgreSQL is not installed');
    const databaseUrl = await postgres?.createDatabase();
    const a = await openSite({ databaseUrl });
    const b = await openSite({ databaseUrl, dataDir: a.config.dataDir });
    await Promise.all([a.startWorker(), b.startWorker()]);
    const ids = await Promise.all(Array.from({ length: 10 }, () => a.submit('result')));
    await Promise.all(ids.map((id) => b.follow(id)));
    for (const id of ids) {
      expect(await a.row(id)).toMatchObject({ status: 'succeeded', attempts: 1 });
    }

    const endless = await a.submit('wait', {}, { seconds: 60 });
    await a.until(endless, 'running');
    await Promise.all([a, b].map(({ core }) => core.cancel(endless, null).catch(() => {})));
    await a.submit('result').then(a.follow);
    expect((await b.row(endless)).status).toBe('canceled');
    await b.close();
    await a.close();
  });

  it('take over the requests that a dead process had claimed', async ({ skip }) => {
    if (!postgres) skip('PostgreSQL is not installed');
    const site = await openSite({ databaseUrl: await postgres?.createDatabase() });
    const id = await site.submit('result');
    await claimRequest(site.database, id, new Date());
    await site.queue.remove(id);
    await site.database.query("UPDATE requests SET lease_until = now() - interval '1 s'");
    await site.startWorker();
    await site.follow(id);
    expect(await site.row(id)).toMatchObject({ status: 'succeeded', attempts: 2 });
    await site.close();
  });
});

describe('a Redis server that cannot be reached', () => {
  it('does not prevent a submit; the request runs when Redis is back', async ({ skip }) => {
    const own = await startRedis();
    if (!own) skip('Redis is not installed');
    const site = await openSite({ redisUrl: own?.url });
    await own?.pause();
    const id = await site.submit('result');
    expect((await site.row(id)).status).toBe('queued');
    await own?.resume();
    await site.startWorker();
    await site.follow(id);
    expect((await site.row(id)).status).toBe('succeeded');
    await site.close();
    await own?.stop();
  });
});

describe('a Redis server that lost its memory', () => {
  it('loses no request', async ({ skip }) => {
    if (!redis) skip('Redis is not installed');
    const site = await openSite({ redisUrl: redis?.url });
    const id = await site.submit('result');
    await redis?.flush();
    await site.database.query("UPDATE requests SET enqueued_at = now() - interval '1 hour'");
    await site.startWorker();
    await site.follow(id);
    expect((await site.row(id)).status).toBe('succeeded');
    await site.close();
  });
});
