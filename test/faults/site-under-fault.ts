import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { loadConfig } from '../../config/load.ts';
import { openCommands } from '../../src/app/wiring/operations.ts';
import { openDatabase, type PooledDatabase } from '../../src/platform/database/open.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { PATIENT } from '../gateway/phantom.ts';
import { type Served, serve, siteFile } from '../gateway/serve.ts';
import { siteSettings } from '../gateway/site.ts';
import { copyDatabase } from '../peers/embedded.ts';
import { type FhirTestServer, startFhirServer } from '../peers/fhir-server.ts';
import { freePort } from '../peers/free-port.ts';
import { type PostgresServer, startPostgres } from '../peers/postgres.ts';
import { type RedisServer, startRedis } from '../peers/redis.ts';
import { type CountingPacs, startCountingPacs } from './counting-pacs.ts';
import { type HookReceiver, startHookReceiver } from './hook-receiver.ts';
import { type MoodyBucket, startMoodyBucket } from './moody-bucket.ts';

export type Role = 'dimse' | 'api' | 'worker' | 'delivery';
export const EACH_ROLE = ['dimse', 'api', 'worker', 'delivery'] as const satisfies readonly Role[];

/**
 * A process of the site. It has either one role or, as the embedded database requires, all of them.
 */
export type Part = Role | 'gateway';

/** Where a site stores its rows and its queue. */
export type Backend = 'PGlite' | 'PostgreSQL' | 'PostgreSQL and Redis';

/** Niceness of the gateway's processes, which differs from that of the campaign (campaign.ts). */
const GATEWAY_NICENESS = 0;

const PATIENT_SYSTEM = 'urn:oid:1.2.3';

export interface SiteOptions {
  /** The default is PostgreSQL and Redis. */
  backend?: Backend;
  /** True if one process has every role, as the embedded database requires. */
  oneProcess?: boolean;
  /** True if Redis keeps its data across a restart. */
  persistentRedis?: boolean;
  /** True if objects, uploads and results are kept in S3-compatible storage. */
  bucket?: boolean;
  /** A cart on another machine, for which the listener binds every address. */
  cart?: { range: string; idleTimeoutSeconds: number };
  environment?: Record<string, string>;
  /** A data folder on a separate disk, and how much space must stay free there. */
  disk?: { folder: string; minFreeBytes: number };
}

/**
 * A site whose roles are separate processes with a shared data folder, using PostgreSQL and Redis
 * unless `backend` states otherwise. Around it are a PACS, an archive, an EHR and a client with a
 * webhook, each of which counts what it receives.
 */
export interface SiteUnderFault {
  dicomPort: number;
  url: string;
  key: string;
  /** Using `postgres`, `redis` or `bucket` throws if the site does not have that server. */
  postgres: PostgresServer;
  databaseUrl: string | undefined;
  /** True if the database can be queried only while the gateway is stopped. */
  embedded: boolean;
  redis: RedisServer;
  bucket: MoodyBucket;
  parts: readonly Part[];
  pacs: CountingPacs;
  archive: CountingPacs;
  ehr: FhirTestServer;
  hook: HookReceiver;
  process(part: Part): Served;
  /** Kills these processes simultaneously and starts new ones in their place. */
  kill(...parts: Part[]): Promise<void>;
  stop(part: Part): Promise<void>;
  start(part: Part): Promise<void>;
  dataDir: string;
  operate(name: string, asked: Record<string, unknown>): Promise<unknown>;
  /**
   * Queries the database. The embedded database serves only one process, so the gateway is stopped
   * for the query.
   */
  query<Row extends object>(sql: string, values?: unknown[]): Promise<Row[]>;
  resume(): Promise<void>;
  /**
   * Writes each role's log to a folder, so that it can be read after the site has been removed.
   * Returns the folder.
   */
  keepLogs(): Promise<string>;
  close(): Promise<void>;
}

/** Takes the place of a server that the back end does not use. Any access to it throws. */
function absent<Server extends object>(name: string): Server {
  return new Proxy({} as Server, {
    get() {
      throw new Error(`this site has no ${name}`);
    },
  });
}

/** Starts a site; null if PostgreSQL or Redis is needed but not installed. */
export async function startSiteUnderFault(
  options: SiteOptions = {},
): Promise<SiteUnderFault | null> {
  const backend = options.backend ?? 'PostgreSQL and Redis';
  const wants = { postgres: backend !== 'PGlite', redis: backend === 'PostgreSQL and Redis' };
  const [postgres, redis, bucket] = await Promise.all([
    wants.postgres ? startPostgres({ durable: true }) : null,
    wants.redis ? startRedis({ persistent: options.persistentRedis ?? false }) : null,
    options.bucket ? startMoodyBucket() : null,
  ]);
  if (
    (wants.postgres && !postgres) ||
    (wants.redis && !redis) ||
    (options.bucket === true && !bucket)
  ) {
    await Promise.all([postgres?.stop(), redis?.stop(), bucket?.stop()]);
    return null;
  }
  const dicomPort = await freePort();
  const httpPort = await freePort();
  const [pacs, archive, ehr, hook] = await Promise.all([
    startCountingPacs(dicomPort),
    startCountingPacs(dicomPort),
    startFhirServer(),
    startHookReceiver(),
  ]);
  await ehr.put({
    resourceType: 'Patient',
    identifier: [{ system: PATIENT_SYSTEM, value: PATIENT.patientId }],
    name: [{ family: 'Phantom', given: ['Ward'] }],
    birthDate: '1993-04-05',
    gender: 'female',
  });
  const databaseUrl = await postgres?.createDatabase();
  const pool = databaseUrl ? new pg.Pool({ connectionString: databaseUrl, max: 2 }) : null;
  pool?.on('error', () => {});

  const dataDir = options.disk?.folder ?? (await mkdtemp(join(tmpdir(), 'sonogate-site-data-')));
  if (!databaseUrl) await copyDatabase(dataDir);
  const peers = { databaseUrl, redis, bucket, dicomPort, httpPort, pacs, archive, ehr, hook };
  const common = settings(dataDir, peers, options);
  const parts: readonly Part[] = postgres && !options.oneProcess ? EACH_ROLE : ['gateway'];
  const configFiles = new Map<Part, string>();
  for (const part of parts) {
    const roles = part === 'gateway' ? EACH_ROLE : [part];
    configFiles.set(part, await siteFile({ ...common, roles }));
  }
  const operate = async (name: string, asked: Record<string, unknown>) => {
    const { run, close } = await openCommands(loadConfig({}, common));
    try {
      return JSON.parse(await run(name, asked));
    } finally {
      await close();
    }
  };
  const made = await operate('keys.create', { name: 'client', test: true });

  const running = new Map<Part, Served>();
  const processOf = (part: Part): Served => {
    const found = running.get(part);
    if (!found) throw new Error(`${part} does not run`);
    return found;
  };
  const start = async (part: Part) => {
    const configFile = configFiles.get(part) ?? '';
    running.set(part, await serve(configFile, options.environment, { niceness: GATEWAY_NICENESS }));
  };
  for (const part of parts) await start(part);

  let embedded: PooledDatabase | null = null;
  const ask = async <Row extends object>(sql: string, values: unknown[]): Promise<Row[]> => {
    if (pool) return (await pool.query<Row & pg.QueryResultRow>(sql, values)).rows;
    if (!embedded) {
      await processOf('gateway').stop('SIGTERM');
      embedded = await openDatabase({ dataDir, logger: silentLogger });
    }
    return (await embedded.query<Row>(sql, values)).rows;
  };

  return {
    dicomPort,
    url: `http://127.0.0.1:${httpPort}`,
    key: made.key,
    postgres: postgres ?? absent('PostgreSQL'),
    databaseUrl,
    embedded: !postgres,
    redis: redis ?? absent('Redis'),
    bucket: bucket ?? absent('bucket'),
    parts,
    pacs,
    archive,
    ehr,
    hook,
    process: processOf,
    start,
    stop: (part) => processOf(part).stop('SIGTERM'),
    async kill(...killed) {
      await Promise.all(killed.map((part) => processOf(part).stop('SIGKILL')));
      await Promise.all(killed.map(start));
    },
    dataDir,
    operate,
    query: (sql, values = []) => ask(sql, values),
    async resume() {
      if (!embedded) return;
      await embedded.close();
      embedded = null;
      await start('gateway');
    },
    async keepLogs() {
      const folder = await mkdtemp(join(tmpdir(), 'sonogate-fault-logs-'));
      for (const [part, { log, exitCode }] of running) {
        const lines = [...log, `exit code ${exitCode() ?? 'none'}`];
        await writeFile(join(folder, `${part}.log`), lines.join('\n'));
      }
      return folder;
    },
    async close() {
      await Promise.all([...running.values()].map((each) => each.stop('SIGKILL')));
      await Promise.all([pacs.close(), archive.close(), ehr.close(), hook.close()]);
      await embedded?.close();
      await pool?.end();
      await redis?.stop();
      await bucket?.stop();
      await postgres?.stop();
      const configs = [...configFiles.values()].map((file) => join(file, '..'));
      // Whoever mounted a separate disk also removes it.
      for (const folder of options.disk ? configs : [dataDir, ...configs]) {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

function settings(
  dataDir: string,
  peers: Pick<SiteUnderFault, 'pacs' | 'archive' | 'ehr' | 'hook' | 'dicomPort'> & {
    redis: RedisServer | null;
    bucket: MoodyBucket | null;
    databaseUrl: string | undefined;
    httpPort: number;
  },
  { cart, disk }: SiteOptions,
) {
  const { pacs, archive, ehr, hook, redis, bucket, databaseUrl, dicomPort, httpPort } = peers;
  const node = (name: string, { port }: CountingPacs) => ({
    type: 'dicom',
    name,
    host: '127.0.0.1',
    port,
    aeTitle: name.toUpperCase(),
    timeoutSeconds: 10,
    storageCommitment: true,
  });
  const callable = { host: '127.0.0.1', addresses: ['127.0.0.1'], ports: [hook.port], http: true };
  return siteSettings(
    { dataDir },
    {
      ...(databaseUrl && { databaseUrl }),
      ...(redis && { redisUrl: redis.url }),
      ...(bucket && { blobUrl: bucket.url }),
      http: { host: '127.0.0.1', port: httpPort, callsPerMinute: 100_000, queuedPerKey: 100_000 },
      dicom: {
        host: cart ? '0.0.0.0' : '127.0.0.1',
        port: dicomPort,
        ...(disk && { minFreeBytes: disk.minFreeBytes }),
      },
      sources: [
        {
          name: 'carts',
          callingAeTitles: ['*'],
          addresses: ['127.0.0.0/8', ...(cart ? [cart.range] : [])],
          idleTimeoutSeconds: cart?.idleTimeoutSeconds ?? 60,
          completion: { signal: 'association-release', quietSeconds: 2, afterReleaseSeconds: 1 },
        },
      ],
      outbound: { hosts: [callable] },
      destinations: [
        node('pacs', pacs),
        node('archive', archive),
        {
          type: 'fhir',
          name: 'ehr',
          baseUrl: ehr.baseUrl,
          resultSystem: 'https://ward.example/fhir/result',
          patientIdentifierSystems: { '*': PATIENT_SYSTEM },
        },
      ],
      routing: {
        rules: [
          {
            name: 'all',
            when: { modality: 'US' },
            run: { endpoint: 'us/obstetric/interpret', options: { report: true } },
            deliverTo: ['pacs', 'ehr'],
            forwardTo: ['archive'],
          },
        ],
      },
    },
  );
}

/** Returns the pipeline processes of a worker, from `/proc`. */
export async function pipelinesOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(
    threads.map((id) => readFile(`/proc/${pid}/task/${id}/children`, 'utf8').catch(() => '')),
  );
  return lists.flatMap((list) =>
    list
      .split(' ')
      .filter((each) => each !== '')
      .map(Number),
  );
}
