import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { access, constants, readFile, stat, statfs } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { Config } from '../../../config/schema.ts';
import type { ListenerTls } from '../../../config/tls.ts';
import { modelsInUse, readRegistry } from '../../../pipelines/inference/model-registry.ts';
import { callAdminSocket, NoGatewayError } from '../../operations/socket.ts';
import { whyDatabaseRefuses } from '../../platform/database/pooled.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { ifMissing } from '../../platform/errors/file-system.ts';
import { serverOptions } from '../../platform/tls/certificates.ts';
import { checkOwnCertificate } from './certificates.ts';
import { type Finding, fault, inOneLine, ok, warning } from './finding.ts';

/** The doctor warns if the free space is less than this many times the configured minimum. */
const DISK_MARGIN = 5;
const GIBIBYTE = 1024 ** 3;
/**
 * Permission bits for other users, which must not be set because the folder contains patient
 * images.
 */
const OTHERS = 0o007;
/**
 * Minimum limit for open files: associations, event streams, database sessions and files are open
 * at the same time.
 */
const FEWEST_OPEN_FILES = 4096;

/**
 * Checks the data folder, the disk, the models, the limit on open files, and whether a gateway is
 * running.
 */
export async function checkThisMachine(config: Config): Promise<Finding[]> {
  return [
    await dataFolder(config.dataDir),
    await disk(config),
    ...(await models(config.models.allow)),
    openFiles(),
    await gateway(config.dataDir),
  ];
}

async function dataFolder(dataDir: string): Promise<Finding> {
  try {
    const there = await nearestFolder(dataDir);
    await access(there, constants.W_OK);
    if (there !== resolve(dataDir)) {
      const words =
        'does not exist: it is created at the first start, unless the gateway uses another folder (SONOGATE_DATA_DIR)';
      return warning('data folder', `${resolve(dataDir)} ${words}`);
    }
    const found = await stat(dataDir);
    if (!found.isDirectory()) return fault('data folder', `${dataDir} is not a folder`);
    const { mode } = found;
    const rights = (mode & 0o777).toString(8);
    return (mode & OTHERS) === 0
      ? ok('data folder', `${dataDir} can be written, mode ${rights}`)
      : warning(
          'data folder',
          `${dataDir} has mode ${rights}: other users of this host can read it`,
        );
  } catch (error) {
    return fault('data folder', inOneLine(error));
  }
}

/**
 * Returns a folder or, if it does not exist, its nearest existing parent: a check must not create
 * the folder.
 */
async function nearestFolder(folder: string): Promise<string> {
  const path = resolve(folder);
  const above = dirname(path);
  if (above === path || (await ifMissing(stat(path), null))) return path;
  return nearestFolder(above);
}

async function disk({ dataDir, dicom }: Config): Promise<Finding> {
  try {
    const { bavail, bsize } = await statfs(await nearestFolder(dataDir));
    const free = bavail * bsize;
    const words = `${(free / GIBIBYTE).toFixed(1)} GiB free`;
    const limit = `objects are refused when less than ${(dicom.minFreeBytes / GIBIBYTE).toFixed(1)} GiB is free (docs/operations.md, how much disk)`;
    if (free < dicom.minFreeBytes) return fault('disk', `${words}; ${limit}`);
    if (free < dicom.minFreeBytes * DISK_MARGIN) return warning('disk', `${words}; ${limit}`);
    return ok('disk', words);
  } catch (error) {
    return fault('disk', inOneLine(error));
  }
}

/**
 * Checks that the weights are those for which the model cards report metrics, and names the models
 * in use that were trained on data for research only: whether a hospital may use them is for the
 * hospital to decide (docs/licences.md).
 */
async function models(allow: Config['models']['allow']): Promise<Finding[]> {
  try {
    const entries = await readRegistry();
    const findings = await Promise.all(
      entries.map(async ({ id, path, sha256 }) => {
        const found = createHash('sha256')
          .update(await readFile(path))
          .digest('hex');
        return found === sha256 ? null : fault(`model ${id}`, `its checksum is ${found}`);
      }),
    );
    const wrong = findings.filter((finding) => finding !== null);
    if (wrong.length > 0) return wrong;
    const research = modelsInUse(entries, allow).filter(({ pack }) => pack === 'research');
    const named = research.map(({ id, licence }) => `${id} (${licence})`).join(', ');
    return [
      ok('models', `${entries.length}, checksums as registered`),
      ok('research models', named === '' ? 'none in use' : `${named}: see docs/licences.md`),
    ];
  } catch (error) {
    return [fault('models', inOneLine(error))];
  }
}

/** Checks the limit on open files: `ulimit -n` in the shell, or `LimitNOFILE` in a systemd unit. */
function openFiles(): Finding {
  const report = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } };
  };
  const limit = report.userLimits?.open_files?.soft ?? 'unlimited';
  const words = `${limit} files may be open`;
  return limit === 'unlimited' || limit >= FEWEST_OPEN_FILES
    ? ok('limits', words)
    : warning('limits', `${words}; at least ${FEWEST_OPEN_FILES} are recommended`);
}

const RUNS = 'is running on this data folder';

async function gateway(dataDir: string): Promise<Finding> {
  try {
    await callAdminSocket(dataDir, 'deliveries.list', {});
    return ok('gateway', RUNS);
  } catch (error) {
    if (error instanceof NoGatewayError)
      return warning('gateway', 'none is running on this data folder');
    // It answers, though it can carry out nothing; the check of the database says why.
    const away = error instanceof SonogateError && error.code === 'database_unreachable';
    return away ? ok('gateway', RUNS) : fault('gateway', inOneLine(error));
  }
}

const BACKEND_TIMEOUT_MS = 10_000;
/** Oldest supported version: PostgreSQL 13, which the gateway's statements require. */
const OLDEST_POSTGRESQL = 130_000;
/** Oldest supported Redis version (major, minor), as recommended by BullMQ. */
const OLDEST_REDIS = [6, 2] as const;
/**
 * Maximum clock difference to the database in seconds. Leases and deadlines use the database clock.
 */
const CLOCK_SECONDS = 5;
/** Maximum number of sessions opened by one process (src/platform/database/open.ts). */
const SESSIONS = 19;
const NOT_THE_OWNER =
  'the account in DATABASE_URL may not create tables: make it the owner (ALTER DATABASE … OWNER TO …)';

/** Checks the database, and Redis and the bucket if they are configured. */
export async function checkBackends(config: Config): Promise<Finding[]> {
  const { databaseUrl, redisUrl, blobUrl } = config;
  const findings = await Promise.all([
    databaseUrl === undefined ? [embedded(config)] : database(databaseUrl),
    redisUrl === undefined ? [] : redis(redisUrl),
    blobUrl === undefined ? [] : bucket(blobUrl),
  ]);
  return findings.flat();
}

function embedded({ roles, dataDir }: Config): Finding {
  const whole = roles.length === 4;
  const words = `embedded, in ${dataDir}; it serves one process`;
  return whole ? ok('database', words) : warning('database', `${words}, which has ${roles.join()}`);
}

async function database(connectionString: string): Promise<Finding[]> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: BACKEND_TIMEOUT_MS,
    query_timeout: BACKEND_TIMEOUT_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{
      number: number;
      version: string;
      connections: number;
      now: number;
      read_only: string;
      may_create: boolean;
      encrypted: boolean | null;
    }>(`SELECT current_setting('server_version_num')::int AS number,
      current_setting('server_version') AS version,
      current_setting('max_connections')::int AS connections,
      EXTRACT(EPOCH FROM clock_timestamp())::float8 AS now,
      current_setting('transaction_read_only') AS read_only,
      has_database_privilege(current_database(), 'CREATE')
        AND coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create,
      (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS encrypted`);
    const [row] = rows;
    if (!row) return [fault('database', 'does not respond')];
    const link = row.encrypted ? 'over TLS' : 'without encryption';
    const findings = [ok('database', `PostgreSQL ${row.version}, ${link}`)];
    if (row.number < OLDEST_POSTGRESQL) findings.push(fault('database', 'is older than 13'));
    if (row.read_only === 'on') {
      findings.push(fault('database', 'is read-only, or the standby of another server'));
    }
    if (!row.may_create) findings.push(fault('database', NOT_THE_OWNER));
    const ahead = row.now - Date.now() / 1000;
    if (Math.abs(ahead) > CLOCK_SECONDS) {
      const words = `its clock is ${Math.abs(ahead).toFixed(0)} s ${ahead > 0 ? 'ahead' : 'behind'}`;
      findings.push(warning('database', words));
    }
    if (row.connections < 2 * SESSIONS) {
      const words = `max_connections is ${row.connections}; each process of the gateway opens up to ${SESSIONS}`;
      findings.push(warning('database', words));
    }
    return findings;
  } catch (error) {
    return [fault('database', whyDatabaseRefuses(error) ?? inOneLine(error))];
  } finally {
    await client.end().catch(() => {});
  }
}

async function redis(url: string): Promise<Finding[]> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: BACKEND_TIMEOUT_MS,
    commandTimeout: BACKEND_TIMEOUT_MS,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const info = new Map(
      (await client.info()).split('\r\n').map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon), line.slice(colon + 1)];
      }),
    );
    const version = info.get('redis_version') ?? '';
    const findings = [ok('Redis', version)];
    const [major = 0, minor = 0] = version.split('.').map(Number);
    if (major < OLDEST_REDIS[0] || (major === OLDEST_REDIS[0] && minor < OLDEST_REDIS[1])) {
      findings.push(fault('Redis', `is older than ${OLDEST_REDIS.join('.')}`));
    }
    const [used, most] = ['used_memory', 'maxmemory'].map((name) => Number(info.get(name)));
    if (most !== undefined && most > 0 && Number(used) >= most) {
      findings.push(fault('Redis', 'is full, so no request is run: raise maxmemory'));
    }
    const policy = info.get('maxmemory_policy');
    if (policy !== undefined && policy !== 'noeviction') {
      findings.push(
        warning('Redis', `may drop jobs: maxmemory-policy is ${policy}, not noeviction`),
      );
    }
    return findings;
  } catch (error) {
    return [fault('Redis', inOneLine(error))];
  } finally {
    client.disconnect();
  }
}

async function bucket(location: NonNullable<Config['blobUrl']>): Promise<Finding[]> {
  // The S3 client is loaded only if S3 storage is configured.
  const { ListObjectsV2Command, S3Client } = await import('@aws-sdk/client-s3');
  const { endpoint, region, bucket: Bucket, accessKeyId, secretAccessKey } = location;
  const client = new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: true,
    maxAttempts: 1,
  });
  try {
    const abortSignal = AbortSignal.timeout(BACKEND_TIMEOUT_MS);
    await client.send(new ListObjectsV2Command({ Bucket, MaxKeys: 1 }), { abortSignal });
    return [ok('bucket', `${Bucket} at ${endpoint} can be listed`)];
  } catch (error) {
    return [fault('bucket', inOneLine(error))];
  } finally {
    client.destroy();
  }
}

const LISTEN_TIMEOUT_MS = 3000;

/**
 * Checks the ports on which a gateway with these settings listens, and the certificates presented
 * there.
 * @param running whether a gateway is running on the data folder. If so, its ports must respond;
 * otherwise they must be free.
 */
export async function checkDoors(config: Config, running: boolean): Promise<Finding[]> {
  const { roles, http, dicom, hl7v2, monitoring } = config;
  const doors = [
    ...(roles.includes('api') ? [{ what: 'HTTP port', ...http }] : []),
    ...(roles.includes('dimse') ? [{ what: 'DICOM port', ...dicom }] : []),
    ...(hl7v2 && roles.includes('dimse') ? [{ what: 'HL7 v2 port', ...hl7v2 }] : []),
    ...(monitoring ? [{ what: 'monitoring port', tls: undefined, ...monitoring }] : []),
  ];
  const findings = await Promise.all(
    doors.map(async ({ what, host, port, tls }) => [
      // With port 0, a free port is chosen at startup, so there is nothing to check.
      ...(port === 0 ? [] : [await (running ? answers : isFree)(what, host, port)]),
      ...(tls ? await certificate(`certificate of the ${what}`, tls) : []),
    ]),
  );
  return findings.flat();
}

async function isFree(what: string, host: string, port: number): Promise<Finding> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return ok(what, `${host}:${port} is free`);
  } catch (error) {
    return fault(what, inOneLine(error));
  } finally {
    server.close();
  }
}

async function answers(what: string, host: string, port: number): Promise<Finding> {
  const local = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  const socket = connect({ host: local, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(LISTEN_TIMEOUT_MS) });
    return ok(what, `${host}:${port} answers`);
  } catch (error) {
    return fault(what, `the gateway is running, but ${host}:${port}: ${inOneLine(error)}`);
  } finally {
    socket.destroy();
    socket.on('error', () => {});
  }
}

async function certificate(what: string, tls: ListenerTls): Promise<Finding[]> {
  try {
    const { cert } = await serverOptions(tls);
    return [checkOwnCertificate(what, cert)];
  } catch (error) {
    return [fault(what, inOneLine(error))];
  }
}
