import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RequestEvent, Sonogate } from '../../clients/typescript/src/index.ts';
import { loadConfig } from '../../config/load.ts';
import { openCommands } from '../../src/app/wiring/operations.ts';
import { typedCommands } from '../../src/operations/commands.ts';
import { freshDataDir } from '../peers/embedded.ts';
import { startPostgres } from '../peers/postgres.ts';
import { startRedis } from '../peers/redis.ts';
import { type Served, serve, siteFile } from './serve.ts';
import { siteSettings } from './site.ts';

const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
afterAll(async () => {
  await postgres?.stop();
  await redis?.stop();
});

/**
 * Processes of one site, each started as an operator does, that share one data folder, one
 * PostgreSQL server and one Redis server. The front process accepts requests but runs none.
 */
describe.skipIf(!postgres || !redis)('two gateway processes on PostgreSQL and Redis', () => {
  // A process takes seconds to start, so each test uses those that the tests before it started.
  const started: Served[] = [];
  let dataDir: string;
  let scan: string;
  let key: string;
  let front: Served;
  let client: Sonogate;

  beforeAll(async () => {
    dataDir = await freshDataDir();
    scan = join(dataDir, 'scan.dcm');
    await writeFile(scan, 'no image: the mock backend does not open it');
    const site = siteSettings(
      { dataDir },
      {
        databaseUrl: await postgres?.createDatabase(),
        redisUrl: redis?.url,
      },
    );
    const { run, close } = await openCommands(loadConfig({}, site));
    const made = await typedCommands(run)('keys.create', { name: 'client', test: true });
    await close();
    key = made.key;

    configOf = (roles) => siteFile({ ...site, roles });
    front = await serve(await configOf(['api']));
    client = new Sonogate({ url: front.url, key });
  });
  afterAll(async () => {
    for (const each of [...started, front]) await each.stop('SIGTERM');
    await rm(dataDir, { recursive: true, force: true });
  });

  let configOf: (roles: string[]) => Promise<string>;
  let worker: Served;
  let other: Served;
  const start = async (roles: string[]) => {
    const process = await serve(await configOf(roles));
    started.push(process);
    return process;
  };

  const submit = async (metadata: Record<string, string> = {}) =>
    client.submit('us/echo', { files: [scan], metadata });

  /** Reads the events of a request as the front process streams them over a single connection. */
  const follow = async (id: string, onEvent: (event: RequestEvent) => Promise<void>) => {
    const events: RequestEvent[] = [];
    for await (const event of client.follow(id)) {
      events.push(event);
      await onEvent(event);
    }
    return events;
  };
  const nothing = async () => {};

  it('a stream opened on one process follows a request that the other runs', {
    timeout: 120_000,
  }, async () => {
    const { id } = await submit();
    const followed = follow(id, nothing);
    expect((await client.calls.getRequest({ id })).status).toBe('queued');
    worker = await start(['worker']);
    const events = await followed;
    expect(events.map((event) => event.id)).toEqual(events.map((_, n) => n + 1));
    expect(events.at(-1)).toMatchObject({ name: 'done', data: { id, status: 'succeeded' } });
  });

  it('a call repeated at the other process with its Idempotency-Key gets the first response', async () => {
    other = await start(['api']);
    const body = JSON.stringify({ input: { files: await client.upload([scan]) } });
    const run = (url: string) =>
      fetch(`${url}/v1/run/us/obstetric`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${key}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': 'across processes',
        },
        body,
      });
    const [first, again] = [await run(front.url), await run(other.url)];
    expect([first.status, again.status]).toEqual([202, 202]);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect(again.headers.get('Location')).toBe(first.headers.get('Location'));
    expect(await again.json()).toEqual(await first.json());
  });

  it('a request whose process is killed before queueing it is still run', {
    timeout: 120_000,
  }, async () => {
    const there = new Sonogate({ url: other.url, key });
    const files = await there.upload([scan]);
    await redis?.pause();
    const { id, status } = await there.submit('us/echo', { files });
    expect(status).toBe('queued');
    await other.stop('SIGKILL');
    await redis?.resume();
    const events = await follow(id, nothing);
    expect(events.at(-1)).toMatchObject({ name: 'done', data: { id, status: 'succeeded' } });
  });

  it('a request whose worker is killed is completed by another, without a gap in its log', {
    timeout: 120_000,
  }, async () => {
    const { id } = await submit({ mock: 'slow' });
    let killedWhile: string | null = null;
    const events = await follow(id, async ({ name, data }) => {
      const { status } = data as { status?: string };
      if (name !== 'status' || status !== 'running') return;
      await worker.stop('SIGKILL');
      killedWhile = (await client.calls.getRequest({ id })).status;
      await start(['worker']);
    });
    expect(killedWhile).toBe('running');
    expect(events.map((event) => event.id)).toEqual(events.map((_, n) => n + 1));
    const statuses = events.filter(({ name }) => name === 'status');
    expect(statuses.map(({ data }) => (data as { status: string }).status)).toEqual([
      'queued',
      'preparing',
      'running',
      'succeeded',
    ]);
    expect(events.at(-1)).toMatchObject({ name: 'done', data: { status: 'succeeded' } });
    expect((await client.calls.listArtifacts({ id })).data.map(({ name }) => name)).toContain(
      'result.json',
    );
  });
});
