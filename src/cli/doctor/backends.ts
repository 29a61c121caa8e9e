import { Redis } from 'ioredis';
import pg from 'pg';
import type { Config } from '../../../config/schema.ts';
import { type Finding, fault, inOneLine, ok, warning } from './finding.ts';

const PATIENCE_MILLISECONDS = 10_000;
/** PostgreSQL 13, as the statements of the gateway need it. */
const OLDEST_POSTGRESQL = 130_000;
/** BullMQ's own recommendation. */
const OLDEST_REDIS = [6, 2] as const;
/** Leases and deadlines are compared with the clock of the database. */
const CLOCK_SECONDS = 5;
/** Sessions that one process opens at most: src/database/server.ts. */
const SESSIONS = 18;

/** Database, Redis and bucket, where they are not of this machine's own. */
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
    connectionTimeoutMillis: PATIENCE_MILLISECONDS,
    query_timeout: PATIENCE_MILLISECONDS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{
      number: number;
      version: string;
      connections: number;
      now: number;
      encrypted: boolean | null;
    }>(`SELECT current_setting('server_version_num')::int AS number,
      current_setting('server_version') AS version,
      current_setting('max_connections')::int AS connections,
      EXTRACT(EPOCH FROM clock_timestamp())::float8 AS now,
      (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS encrypted`);
    const [row] = rows;
    if (!row) return [fault('database', 'gives no answer')];
    const link = row.encrypted ? 'over TLS' : 'in the clear';
    const findings = [ok('database', `PostgreSQL ${row.version}, ${link}`)];
    if (row.number < OLDEST_POSTGRESQL) findings.push(fault('database', 'is older than 13'));
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
    return [fault('database', inOneLine(error))];
  } finally {
    await client.end().catch(() => {});
  }
}

async function redis(url: string): Promise<Finding[]> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: PATIENCE_MILLISECONDS,
    commandTimeout: PATIENCE_MILLISECONDS,
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
  // A site without such storage does not pay for its client.
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
    const abortSignal = AbortSignal.timeout(PATIENCE_MILLISECONDS);
    await client.send(new ListObjectsV2Command({ Bucket, MaxKeys: 1 }), { abortSignal });
    return [ok('bucket', `${Bucket} at ${endpoint} can be listed`)];
  } catch (error) {
    return [fault('bucket', inOneLine(error))];
  } finally {
    client.destroy();
  }
}
