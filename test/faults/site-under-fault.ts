import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { loadConfig } from '../../config/load.ts';
import { openCommands } from '../../src/app/wiring/operations.ts';
import { PATIENT } from '../gateway/phantom.ts';
import { type Served, serve, siteFile } from '../gateway/serve.ts';
import { siteSettings } from '../gateway/site.ts';
import { type FhirTestServer, startFhirServer } from '../peers/fhir-server.ts';
import { freePort } from '../peers/free-port.ts';
import { type PostgresServer, startPostgres } from '../peers/postgres.ts';
import { type RedisServer, startRedis } from '../peers/redis.ts';
import { type CountingPacs, startCountingPacs } from './counting-pacs.ts';
import { type HookReceiver, startHookReceiver } from './hook-receiver.ts';

export type Role = 'dimse' | 'api' | 'worker' | 'delivery';
export const EACH_ROLE = ['dimse', 'api', 'worker', 'delivery'] as const satisfies readonly Role[];

const PATIENT_SYSTEM = 'urn:oid:1.2.3';

export interface SiteOptions {
  /** Redis restarts with its data. */
  persistentRedis?: boolean;
  /** A cart that is not on this machine: the listener binds every address. */
  cart?: { range: string; idleTimeoutSeconds: number };
  /** Environment of each process of the gateway. */
  environment?: Record<string, string>;
  /** The data folder, where it is not to be an ordinary one, and what is to stay free there. */
  disk?: { folder: string; minFreeBytes: number };
}

/**
 * A site whose roles are separate processes on one data folder, with PostgreSQL and Redis. Around
 * them a PACS, an archive, an EHR and a client with a webhook, all of which count what arrives.
 */
export interface SiteUnderFault {
  dicomPort: number;
  url: string;
  key: string;
  postgres: PostgresServer;
  redis: RedisServer;
  pacs: CountingPacs;
  archive: CountingPacs;
  ehr: FhirTestServer;
  hook: HookReceiver;
  process(role: Role): Served;
  /** Kills a role's process and starts another in its place. */
  kill(role: Role): Promise<void>;
  stop(role: Role): Promise<void>;
  start(role: Role): Promise<void>;
  dataDir: string;
  /** An operation of a person, as the command line asks for it. */
  operate(name: string, asked: Record<string, unknown>): Promise<unknown>;
  query<Row extends object>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** Writes the log of each role into a folder, to be read after the site is gone; returns it. */
  keepLogs(): Promise<string>;
  close(): Promise<void>;
}

/** Null where PostgreSQL or Redis is not installed. */
export async function startSiteUnderFault(
  options: SiteOptions = {},
): Promise<SiteUnderFault | null> {
  const [postgres, redis] = await Promise.all([
    startPostgres({ durable: true }),
    startRedis({ persistent: options.persistentRedis ?? false }),
  ]);
  if (!postgres || !redis) {
    await postgres?.stop();
    await redis?.stop();
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
  const databaseUrl = await postgres.createDatabase();
  const database = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  database.on('error', () => {});

  const dataDir = options.disk?.folder ?? (await mkdtemp(join(tmpdir(), 'sonogate-site-data-')));
  const peers = { databaseUrl, redis, dicomPort, httpPort, pacs, archive, ehr, hook };
  const common = settings(dataDir, peers, options);
  const configFiles = new Map<Role, string>();
  for (const role of EACH_ROLE) configFiles.set(role, await siteFile({ ...common, roles: [role] }));
  const operate = async (name: string, asked: Record<string, unknown>) => {
    const { run, close } = await openCommands(loadConfig({}, common));
    try {
      return JSON.parse(await run(name, asked));
    } finally {
      await close();
    }
  };
  const made = await operate('keys.create', { name: 'client', test: true });

  const running = new Map<Role, Served>();
  const processOf = (role: Role): Served => {
    const found = running.get(role);
    if (!found) throw new Error(`the role ${role} does not run`);
    return found;
  };
  const start = async (role: Role) => {
    running.set(role, await serve(configFiles.get(role) ?? '', options.environment));
  };
  for (const role of EACH_ROLE) await start(role);

  return {
    dicomPort,
    url: `http://127.0.0.1:${httpPort}`,
    key: made.key,
    postgres,
    redis,
    pacs,
    archive,
    ehr,
    hook,
    process: processOf,
    start,
    stop: (role) => processOf(role).stop('SIGTERM'),
    async kill(role) {
      await processOf(role).stop('SIGKILL');
      await start(role);
    },
    dataDir,
    operate,
    query: async <Row extends object>(sql: string, values: unknown[] = []) =>
      (await database.query<Row & pg.QueryResultRow>(sql, values)).rows,
    async keepLogs() {
      const folder = await mkdtemp(join(tmpdir(), 'sonogate-fault-logs-'));
      for (const [role, { log, exitCode }] of running) {
        const lines = [...log, `exit code ${exitCode() ?? 'none'}`];
        await writeFile(join(folder, `${role}.log`), lines.join('\n'));
      }
      return folder;
    },
    async close() {
      await Promise.all([...running.values()].map((each) => each.stop('SIGKILL')));
      await Promise.all([pacs.close(), archive.close(), ehr.close(), hook.close()]);
      await database.end();
      await redis.stop();
      await postgres.stop();
      const configs = [...configFiles.values()].map((file) => join(file, '..'));
      // A separate disk is removed by whoever mounted it.
      for (const folder of options.disk ? configs : [dataDir, ...configs]) {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

function settings(
  dataDir: string,
  peers: Pick<SiteUnderFault, 'pacs' | 'archive' | 'ehr' | 'hook' | 'redis' | 'dicomPort'> & {
    databaseUrl: string;
    httpPort: number;
  },
  { cart, disk }: SiteOptions,
) {
  const { pacs, archive, ehr, hook, redis, databaseUrl, dicomPort, httpPort } = peers;
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
  return siteSettings(dataDir, {
    databaseUrl,
    redisUrl: redis.url,
    http: { host: '127.0.0.1', port: httpPort, callsPerMinute: 100_000 },
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
  });
}

/** The pipeline processes of a worker, by `/proc`. */
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
