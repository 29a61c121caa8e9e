/**
 * Throughput of 1, 2 and 4 gateway processes of one site that share a data folder, PostgreSQL and
 * Redis: `node test/bench/processes.ts [--studies 1000] [--requests 60]`. First, N processes with
 * the role `dimse` receive studies of one small object over 50 associations, which are spread over
 * their ports. Then N processes with the role `worker` run mock requests that wait in the queue.
 * All processes share the processor cores of this machine, so the numbers show what the processes
 * cost each other, not what further machines would add. Prints a table and writes nothing else.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Sonogate } from '../../clients/typescript/src/index.ts';
import { loadConfig } from '../../config/load.ts';
import { openCommands } from '../../src/app/wiring/operations.ts';
import { typedCommands } from '../../src/operations/commands.ts';
import { dicomFile } from '../dimse/dicom-file.ts';
import { type Served, serve, siteFile } from '../gateway/serve.ts';
import { siteSettings } from '../gateway/site.ts';
import { freshDataDir } from '../peers/embedded.ts';
import { startPostgres } from '../peers/postgres.ts';
import { startRedis } from '../peers/redis.ts';
import { ASSOCIATIONS, printTable, sendOverAssociations } from './receivers.ts';

const { values: options } = parseArgs({
  options: {
    studies: { type: 'string', default: '1000' },
    requests: { type: 'string', default: '60' },
  },
});
const STUDIES = Number(options.studies);
const REQUESTS = Number(options.requests);
const PROCESSES = [1, 2, 4];
const OBJECT_BYTES = 20_000;
const POLL_MS = 50;
const NO_LIMIT = 1_000_000;

const [postgres, redis] = await Promise.all([startPostgres({ durable: true }), startRedis()]);
if (!postgres || !redis) throw new Error('this benchmark needs PostgreSQL and Redis');
const folder = await mkdtemp(join(tmpdir(), 'sonogate-processes-'));
try {
  const measured: { processes: number; studies: number; requests: number }[] = [];
  for (const processes of PROCESSES) {
    const studies = await onFreshSite((site) => studiesEachSecond(site, processes));
    const requests = await onFreshSite((site) => requestsEachSecond(site, processes));
    measured.push({ processes, studies, requests });
  }
  const [one] = measured;
  const ratio = (value: number, first = value) => (value / first).toFixed(2);
  printTable(
    ['processes', 'studies/s', 'of one process', 'mock requests/s', 'of one process'],
    measured.map(({ processes, studies, requests }) => [
      processes,
      studies.toFixed(0),
      ratio(studies, one?.studies),
      requests.toFixed(2),
      ratio(requests, one?.requests),
    ]),
  );
  process.stdout.write(
    `${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)} at the end\n`,
  );
} finally {
  await postgres.stop();
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
}

interface SiteOfProcesses {
  settings: ReturnType<typeof siteSettings>;
  start(roles: string[]): Promise<Served>;
}

/** Runs a measurement on an empty site, and ends its processes afterwards. */
async function onFreshSite(measure: (site: SiteOfProcesses) => Promise<number>): Promise<number> {
  const dataDir = await freshDataDir();
  const settings = siteSettings(
    { dataDir },
    {
      databaseUrl: await postgres?.createDatabase(),
      redisUrl: redis?.url,
      http: { host: '127.0.0.1', port: 0, callsPerMinute: NO_LIMIT },
      dicom: { host: '127.0.0.1', port: 0, maxAssociations: 2 * ASSOCIATIONS },
      routing: { rules: [{ name: 'none', when: { modality: 'US' }, ignore: true }] },
    },
  );
  const started: Served[] = [];
  try {
    return await measure({
      settings,
      async start(roles) {
        const served = await serve(await siteFile({ ...settings, roles }));
        started.push(served);
        return served;
      },
    });
  } finally {
    await Promise.all(started.map((served) => served.stop('SIGTERM')));
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function studiesEachSecond({ start }: SiteOfProcesses, processes: number): Promise<number> {
  const listeners: Served[] = [];
  // The first process migrates the empty database, so the others start after it.
  for (let n = 0; n < processes; n += 1) listeners.push(await start(['dimse']));
  const paths: string[][] = listeners.map(() => []);
  for (let n = 0; n < STUDIES; n += 1) {
    const path = join(folder, `${n}.dcm`);
    const studyInstanceUid = `1.2.840.99.${processes}.${n}`;
    const sopInstanceUid = `${studyInstanceUid}.1`;
    const pixels = Buffer.alloc(OBJECT_BYTES, n);
    await writeFile(path, dicomFile({ studyInstanceUid, sopInstanceUid, pixels }));
    paths[n % processes]?.push(path);
  }
  const begin = performance.now();
  const sent = await Promise.all(
    listeners.map(({ dicomPort: port }, n) =>
      sendOverAssociations(
        { aeTitle: 'SONOGATE', port },
        paths[n] ?? [],
        Math.ceil(ASSOCIATIONS / processes),
      ),
    ),
  );
  const failed = sent.reduce((sum, one) => sum + one.failed, 0);
  if (failed > 0) throw new Error(`${failed} objects were not stored`);
  return STUDIES / ((performance.now() - begin) / 1000);
}

/** Lets all requests wait first, so that the workers never wait for a submit. */
async function requestsEachSecond(
  { settings, start }: SiteOfProcesses,
  processes: number,
): Promise<number> {
  const { run, close } = await openCommands(loadConfig({}, settings));
  const { key } = await typedCommands(run)('keys.create', { name: 'bench', test: true });
  await close();
  const { url } = await start(['api']);
  const client = new Sonogate({ url, key });
  const scan = join(folder, 'scan.dcm');
  await writeFile(scan, 'no image: the mock pipeline does not open it');
  const files = await client.upload([scan]);
  const waiting = new Set<string>();
  for (let n = 0; n < REQUESTS; n += 1) {
    waiting.add((await client.submit('us/obstetric', { files })).id);
  }
  for (let n = 0; n < processes; n += 1) await start(['worker']);
  const left = async () => {
    for (const id of waiting) {
      if ((await client.calls.getRequest({ id })).status === 'succeeded') waiting.delete(id);
    }
    return waiting.size;
  };
  // The first requests wait for the workers to load the pipeline, so they are not timed.
  while ((await left()) > REQUESTS - 2 * processes) await pause(POLL_MS);
  const timed = waiting.size;
  const begin = performance.now();
  while ((await left()) > 0) await pause(POLL_MS);
  return timed / ((performance.now() - begin) / 1000);
}
