/**
 * The HTTP door on PostgreSQL and Redis: `node test/bench/http.ts`. Measures three things: submits,
 * taking turns with a bare koa route on the same database; the delay from the worker's transaction
 * until an SSE client receives the event; and the memory of 10,000 open streams with their effect
 * on other requests. Prints tables and writes nothing else.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Sonogate } from '../../clients/typescript/src/index.ts';
import { createKey } from '../../src/core/accounts/keys.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openDatabase } from '../../src/platform/database/open.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { serve, siteFile } from '../gateway/serve.ts';
import { siteSettings } from '../gateway/site.ts';
import { freshDataDir } from '../peers/embedded.ts';
import { startPostgres } from '../peers/postgres.ts';
import { startRedis } from '../peers/redis.ts';
import { readServerSentEvents } from '../peers/server-sent-events.ts';
import { testWorker } from '../src/doors/http/test-worker.ts';

const ROUNDS = 3;
const ALONE_CALLS = 200;
const TOGETHER_SECONDS = 4;
const TOGETHER = 16;
const EVENTS = 300;
const EVENT_PAUSE_MS = 20;
const STREAMS = 10_000;
/**
 * The number of streams opened at a time, followed by the number of requests that are timed while
 * they are open.
 */
const OPENED_TOGETHER = 100;
const READS = 500;
const SETTLE_MS = 8000;
const NO_LIMIT = 100_000_000;

interface Target {
  url: string;
  headers: Record<string, string>;
  bodies: string[];
}

const [postgres, redis] = await Promise.all([startPostgres({ durable: true }), startRedis()]);
if (!postgres || !redis) throw new Error('this benchmark needs PostgreSQL and Redis');
const dataDir = await freshDataDir();
const databaseUrl = await postgres.createDatabase();
const settings = siteSettings(
  { dataDir },
  {
    databaseUrl,
    redisUrl: redis.url,
    roles: ['api'],
    http: {
      host: '127.0.0.1',
      port: 0,
      callsPerMinute: NO_LIMIT,
      openStreamsPerKey: 2 * STREAMS,
      queuedPerKey: NO_LIMIT,
    },
  },
);
const database = await openDatabase({ databaseUrl, dataDir, logger: silentLogger });
await migrate(database);
const { key } = await createKey(database, { name: 'bench' });
const gateway = await serve(await siteFile(settings), { SONOGATE_LOG_LEVEL: 'info' });
const bare = spawn(
  process.execPath,
  [fileURLToPath(new URL('./bare-koa.ts', import.meta.url)), databaseUrl],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
const [bareUrl] = (await once(createInterface({ input: bare.stdout }), 'line')) as [string];
const client = new Sonogate({ url: gateway.url, key });
const files = await client.upload(
  Array.from({ length: TOGETHER }, () => fileURLToPath(import.meta.url)),
);
/** Creates a submission of one of the files. No two clients share a file. */
const submission = (n: number) => ({ files: [files[n % TOGETHER] ?? ''] });
const worker = testWorker(database, dataDir);
try {
  await followEvents();
  await compareSubmits();
} finally {
  await database.close();
  bare.kill();
  await gateway.stop('SIGKILL');
  await postgres.stop();
  await redis.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function compareSubmits(): Promise<void> {
  const bodies = files.map((_, n) => JSON.stringify({ input: submission(n) }));
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` };
  const targets: [string, Target][] = [
    ['bare koa, one row', { url: `${bareUrl}/`, headers, bodies }],
    ['Sonogate submit', { url: `${gateway.url}/v1/run/us/obstetric`, headers, bodies }],
  ];
  const rates = new Map<string, number[]>();
  const latencies = new Map<string, number[]>();
  for (const [, target] of targets) await callsTogether(target, 1);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, target] of targets) {
      latencies.set(name, [...(latencies.get(name) ?? []), ...(await callsAlone(target))]);
      rates.set(name, [...(rates.get(name) ?? []), await callsTogether(target, TOGETHER_SECONDS)]);
    }
  }
  const reference = Math.max(...(rates.get('bare koa, one row') ?? []));
  print(
    ['route', 'alone p50 ms', 'alone p99 ms', `best calls/s of ${TOGETHER} together`, 'of bare'],
    targets.map(([name]) => {
      const best = Math.max(...(rates.get(name) ?? []));
      const alone = latencies.get(name) ?? [];
      return [
        name,
        quantile(alone, 0.5).toFixed(1),
        quantile(alone, 0.99).toFixed(1),
        best.toFixed(0),
        (best / reference).toFixed(2),
      ];
    }),
  );
}

/** Returns the milliseconds from each request to its 202. Requests are made one at a time. */
async function callsAlone(target: Target): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (let n = 0; n < ALONE_CALLS; n += 1) {
    const start = performance.now();
    await post(target, n, agent);
    times.push(performance.now() - start);
  }
  agent.destroy();
  return times;
}

/** Returns how many requests per second `TOGETHER` clients complete. */
async function callsTogether(target: Target, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: TOGETHER });
  const start = performance.now();
  let done = 0;
  const one = async (n: number) => {
    while (performance.now() - start < seconds * 1000) {
      await post(target, n, agent);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, (_, n) => one(n)));
  agent.destroy();
  return done / ((performance.now() - start) / 1000);
}

async function post({ url, headers, bodies }: Target, n: number, agent: Agent): Promise<void> {
  const call = request(url, { method: 'POST', headers, agent });
  call.end(bodies[n % bodies.length]);
  const [answer] = await once(call, 'response');
  const told = await text(answer);
  if (answer.statusCode !== 202) throw new Error(`${url}: ${answer.statusCode} ${told}`);
}

async function followEvents(): Promise<void> {
  const quiet = await eventDelays();
  const ids: string[] = [];
  for (let n = 0; n < STREAMS; n += OPENED_TOGETHER) {
    const submits = Array.from({ length: OPENED_TOGETHER }, (_, k) =>
      client.submit('us/obstetric', submission(n + k)),
    );
    ids.push(...(await Promise.all(submits)).map(({ id }) => id));
  }
  const idle = await settledKilobytes();
  const quietReads = await readTimes(ids);
  const agent = new Agent({ maxSockets: STREAMS });
  for (let n = 0; n < STREAMS; n += OPENED_TOGETHER) {
    await Promise.all(ids.slice(n, n + OPENED_TOGETHER).map((id) => holdStream(id, agent)));
  }
  const full = await settledKilobytes();
  const busy = await eventDelays();
  const busyReads = await readTimes(ids);
  agent.destroy();
  print(
    ['worker → SSE client', 'events', 'p50 ms', 'p99 ms', 'longest ms'],
    [
      ['one open stream', ...described(quiet)],
      [`${STREAMS} more open streams`, ...described(busy)],
    ],
  );
  print(
    ['GET of a request', 'calls', 'p50 ms', 'p99 ms', 'longest ms'],
    [
      ['no open stream', ...described(quietReads)],
      [`${STREAMS} open streams`, ...described(busyReads)],
    ],
  );
  print(
    ['open streams', 'memory MB', 'kB per stream'],
    [
      ['0', (idle / 1024).toFixed(0), ''],
      [String(STREAMS), (full / 1024).toFixed(0), ((full - idle) / STREAMS).toFixed(1)],
    ],
  );
}

/**
 * Returns the milliseconds from the start of the worker's transaction until the client receives the
 * event.
 */
async function eventDelays(): Promise<number[]> {
  const { id } = await client.submit('us/obstetric', submission(0));
  await worker.start(id);
  const sent = new Map<string, number>();
  const delays: number[] = [];
  const leave = new AbortController();
  const body = await openStream(id, leave.signal);
  const told = (async () => {
    for await (const { event, data } of readServerSentEvents(body)) {
      const start = event === 'stage' ? sent.get(JSON.parse(data).label) : undefined;
      if (start !== undefined) delays.push(performance.now() - start);
      if (delays.length === EVENTS) return;
    }
  })();
  for (let n = 0; n < EVENTS; n += 1) {
    sent.set(String(n), performance.now());
    await worker.stage(id, String(n), (n + 1) / (EVENTS + 1));
    await delay(EVENT_PAUSE_MS);
  }
  await told;
  leave.abort();
  return delays;
}

async function openStream(id: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const answer = await fetch(`${gateway.url}/v1/requests/${id}/events`, {
    headers: { Authorization: `Bearer ${key}` },
    signal,
  });
  if (answer.status !== 200 || !answer.body) throw new Error(`events: ${answer.status}`);
  return answer.body;
}

/**
 * Opens a stream and discards its content until the agent is destroyed. Resolves when the stream is
 * open.
 */
function holdStream(id: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${key}` };
    const call = request(`${gateway.url}/v1/requests/${id}/events`, { agent, headers });
    call.on('response', (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`events: ${answer.statusCode}`));
      answer.on('error', () => {}).once('data', () => resolve());
      answer.resume();
    });
    call.on('error', reject).end();
  });
}

/**
 * Returns the milliseconds from each request to its complete response. Requests are made one at a
 * time.
 */
async function readTimes(ids: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  for (const id of ids.slice(0, READS)) {
    const start = performance.now();
    await client.calls.getRequest({ id });
    times.push(performance.now() - start);
  }
  return times;
}

/** Returns the proportional set size of the gateway once it has settled. */
async function settledKilobytes(): Promise<number> {
  await delay(SETTLE_MS);
  const rollup = await readFile(`/proc/${gateway.pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1]);
}

function described(delays: readonly number[]): string[] {
  const numbers = [quantile(delays, 0.5), quantile(delays, 0.99), Math.max(...delays)];
  return [String(delays.length), ...numbers.map((each) => each.toFixed(1))];
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

function print(head: readonly string[], rows: readonly string[][]): void {
  const table = [head, head.map(() => '---'), ...rows];
  process.stdout.write(`${table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n\n`);
}
