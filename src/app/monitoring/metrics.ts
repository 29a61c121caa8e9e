import { once } from 'node:events';
import { readdir, readFile, statfs } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Config } from '../../../config/schema.ts';
import type { Reception } from '../../../dimse/receive/storage-scp.ts';
import type { ModelInUse } from '../../../pipelines/contract/job.ts';
import type { InferenceRun } from '../../../pipelines/inference/inference-channel.ts';
import type { BlobStore } from '../../core/files/blob-store.ts';
import type { RequestQueue } from '../../core/queue/queue.ts';
import type { HttpDeps } from '../../doors/http/context.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { OnEvent } from '../../platform/logging/logger.ts';
import { COMMIT, VERSION } from '../../platform/version.ts';
import { followEndedWork, WORKING_SECONDS, watchOpenWork } from './work.ts';

const NANOSECONDS = 1e9;
const LOOP_RESOLUTION_MILLISECONDS = 10;
const KIBIBYTE = 1024;

/** Measures this process at each scrape. Each process of an installation has its own metrics. */
function watchThisProcess({
  registry,
  version,
  commit,
  roles,
  dataDir,
}: {
  registry: Registry;
  version: string;
  commit: string | null;
  roles: readonly string[];
  dataDir: string;
}): () => Promise<void> {
  const registers = [registry];
  new Gauge({
    name: 'sonogate_build_info',
    help: 'Version and commit of the gateway, version of Node.js, and its roles.',
    labelNames: ['version', 'commit', 'node', 'roles'],
    registers,
  }).set({ version, commit: commit ?? '', node: process.versions.node, roles: roles.join(',') }, 1);
  new Gauge({
    name: 'sonogate_process_start_time_seconds',
    help: 'Start time of the process in Unix time.',
    registers,
  }).set(Math.round(Date.now() / 1000 - process.uptime()));
  const delay = new Gauge({
    name: 'sonogate_event_loop_delay_seconds',
    help: 'Delay of timers since the last scrape.',
    labelNames: ['statistic'],
    registers,
  });
  const memory = new Gauge({
    name: 'sonogate_process_memory_bytes',
    help: 'Resident memory of the gateway and its pipelines.',
    labelNames: ['process'],
    registers,
  });
  const free = new Gauge({
    name: 'sonogate_disk_free_bytes',
    help: 'Free space on the disk of the data folder.',
    registers,
  });
  const size = new Gauge({
    name: 'sonogate_disk_size_bytes',
    help: 'Size of the disk of the data folder.',
    registers,
  });
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MILLISECONDS });
  loop.enable();

  return async () => {
    delay.set({ statistic: 'median' }, loop.percentile(50) / NANOSECONDS);
    delay.set({ statistic: 'p99' }, loop.percentile(99) / NANOSECONDS);
    delay.set({ statistic: 'longest' }, loop.max / NANOSECONDS);
    loop.reset();
    const { bavail, blocks, bsize } = await statfs(dataDir);
    free.set(bavail * bsize);
    size.set(blocks * bsize);
    memory.reset();
    memory.set({ process: 'gateway' }, process.memoryUsage.rss());
    for (const [index, bytes] of (await memoryOfChildren()).entries()) {
      memory.set({ process: `pipeline-${index}` }, bytes);
    }
  };
}

/**
 * Returns the resident memory of the child processes, in the order of their process ids; empty if
 * the system does not report it (proc(5)).
 */
async function memoryOfChildren(): Promise<number[]> {
  try {
    const threads = await readdir('/proc/self/task');
    const lists = await Promise.all(
      threads.map((thread) => readFile(`/proc/self/task/${thread}/children`, 'utf8')),
    );
    const children = lists.join(' ').split(/\s+/).filter(Boolean).map(Number);
    const sizes = await Promise.all(
      children
        .sort((a, b) => a - b)
        .map((pid) => readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')),
    );
    return sizes.flatMap((status) => {
      const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
      return kibibytes === undefined ? [] : [Number(kibibytes) * KIBIBYTE];
    });
  } catch {
    return [];
  }
}

/** Counts the work of this process; see docs/monitoring.md. */
interface ProcessMeters {
  registry: Registry;
  onEvent: OnEvent;
  onReception(source: string, reception: Reception): void;
  onInference(run: InferenceRun): void;
  /** Called when the models are open. */
  modelsReady(models: readonly ModelInUse[]): void;
  models(): readonly ModelInUse[];
}

export function createProcessMeters(): ProcessMeters {
  const registry = new Registry();
  const registers = [registry];
  let models: readonly ModelInUse[] = [];
  const events = new Counter({
    name: 'sonogate_events_total',
    help: 'Log events of this process by id, and by error code where they have one.',
    labelNames: ['event', 'code'],
    registers,
  });
  const open = new Gauge({
    name: 'sonogate_dicom_associations_open',
    help: 'Associations that peers hold open with this process.',
    registers,
  });
  const objects = new Counter({
    name: 'sonogate_dicom_objects_total',
    help: 'Objects received by C-STORE, by source and outcome.',
    labelNames: ['source', 'outcome'],
    registers,
  });
  const bytes = new Counter({
    name: 'sonogate_dicom_received_bytes_total',
    help: 'Bytes of data sets received by C-STORE, by source.',
    labelNames: ['source'],
    registers,
  });
  const seconds = new Histogram({
    name: 'sonogate_dicom_store_seconds',
    help: 'Time from the C-STORE request until the object is durable, by source.',
    labelNames: ['source'],
    buckets: WORKING_SECONDS,
    registers,
  });
  const images = new Counter({
    name: 'sonogate_model_images_total',
    help: 'Images that each model has processed in the pipelines of this process.',
    labelNames: ['model'],
    registers,
  });
  const inference = new Histogram({
    name: 'sonogate_model_seconds',
    help: 'Duration of one inference call, by model, with a batch of images.',
    labelNames: ['model'],
    buckets: WORKING_SECONDS,
    registers,
  });
  const opened = new Gauge({
    name: 'sonogate_models',
    help: 'Models loaded in the pipeline process of this gateway, and what each runs on.',
    labelNames: ['model', 'version', 'pack', 'provider'],
    registers,
  });
  return {
    registry,
    onEvent(event, { code }) {
      events.inc({ event, code: typeof code === 'string' ? code : '' });
      if (event === 'association_accepted') open.inc();
      if (event === 'association_ended') open.dec();
    },
    onReception(source, reception) {
      objects.inc({ source, outcome: reception.outcome });
      bytes.inc({ source }, reception.bytes);
      if (reception.outcome === 'stored') seconds.observe({ source }, reception.seconds);
    },
    onInference({ model, images: many, seconds: took }) {
      images.inc({ model }, many);
      inference.observe({ model }, took);
    },
    modelsReady(inUse) {
      models = inUse;
      opened.reset();
      for (const { id: model, version, pack, provider } of inUse) {
        opened.set({ model, version, pack, provider }, 1);
      }
    },
    models: () => models,
  };
}

/** Prometheus text exposition format 0.0.4. */
type Scrape = () => Promise<string>;

/**
 * Creates all metrics for `GET /metrics`: those of this process, and those of the whole
 * installation, which are read from the tables. They contain no patient identity.
 */
export function createMetrics({
  database,
  queue,
  meters: { registry },
  ...process
}: {
  database: Queryable;
  queue: Pick<RequestQueue, 'counts'>;
  meters: Pick<ProcessMeters, 'registry'>;
  version: string;
  commit: string | null;
  roles: readonly string[];
  dataDir: string;
}): Scrape {
  const ended = followEndedWork(database, registry);
  // The first call is made now rather than at the first scrape, so that work finished in between is
  // counted.
  const begun = ended().catch(() => undefined);
  const self = watchThisProcess({ ...process, registry });
  const open = watchOpenWork(database, queue, registry);
  // Two concurrent scrapes share one snapshot, because the watchers keep their position in the tables.
  let reading: Promise<string> | null = null;
  const read = async () => {
    await begun;
    await self();
    await open();
    await ended();
    return registry.metrics();
  };
  return () => {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };
}

/**
 * A separate HTTP port without TLS for probes and scrapes, available even in processes without the
 * role `api`.
 */
interface MonitoringServer {
  port: number;
  stop(): Promise<void>;
}

/**
 * Serves `GET /metrics`, `/health/live` and `/health/ready`. Only the monitoring network should
 * reach it.
 * @param ready rejects if the process is not ready.
 * @throws the system error if the address cannot be bound.
 */
export async function startMonitoringServer(
  { host, port }: { host: string; port: number },
  { metrics, ready }: { metrics: Scrape; ready: () => Promise<unknown> },
): Promise<MonitoringServer> {
  const answers: Readonly<Record<string, () => Promise<[status: number, text: string]>>> = {
    '/metrics': async () => [200, await metrics()],
    '/health/live': async () => [200, 'live\n'],
    '/health/ready': () =>
      ready().then(
        () => [200, 'ready\n'],
        () => [503, 'not ready\n'],
      ),
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url?.split('?')[0] ?? ''];
    const answered = answer?.() ?? Promise.resolve([404, 'not found\n'] as const);
    answered
      .catch(() => [503, 'not available\n'] as const)
      .then(([status, text]) => {
        response.writeHead(status, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE });
        response.end(text);
      });
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Monitoring extends Pick<HttpDeps, 'checks' | 'metrics'> {
  /**
   * Sets whether the gateway is ready: true once all its roles have started, false when it is about
   * to stop.
   */
  serving(yes: boolean): void;
  stop(): Promise<void>;
}

/**
 * Throws if there is too little free space. Objects and uploads would be refused, so a load
 * balancer must send them to another host.
 */
async function requireRoom({
  dataDir,
  dicom: { minFreeBytes },
}: Pick<Config, 'dataDir' | 'dicom'>): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir);
  const free = bavail * bsize;
  if (free >= minFreeBytes) return;
  throw new Error(
    `${free} bytes are free below ${dataDir}; objects are refused when fewer than ${minFreeBytes} are free`,
  );
}

/** Throws if the database is a standby or read-only: nothing could be acknowledged. */
async function requireWritable(database: Queryable): Promise<void> {
  const { rows } = await database.query<{ transaction_read_only: string }>(
    'SHOW transaction_read_only',
  );
  if (rows[0]?.transaction_read_only === 'on') throw new Error('the database is read-only');
}

/** Minimum milliseconds between two writes to the bucket that check its state. */
const BUCKET_CHECK_MS = 15_000;

/**
 * Returns a check that runs at most once in `milliseconds`, and in between repeats its last
 * outcome, even a failure: a bucket may charge for each write, and keep each as a version.
 */
function atMostEvery(milliseconds: number, check: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> | null = null;
  let until = 0;
  return () => {
    if (last === null || Date.now() >= until) {
      last = check();
      until = Date.now() + milliseconds;
    }
    return last;
  };
}

/**
 * Creates the metrics and readiness checks, and serves them on a separate port if one is
 * configured.
 */
export async function startMonitoring(
  config: Pick<Config, 'roles' | 'dataDir' | 'monitoring' | 'dicom'>,
  {
    database,
    queue,
    blobs,
    meters,
  }: {
    database: Queryable;
    queue: Pick<RequestQueue, 'counts' | 'requireWritable'>;
    blobs: Pick<BlobStore, 'direct' | 'requireWritable'>;
    meters: ProcessMeters;
  },
): Promise<Monitoring> {
  let serves = false;
  const checks = {
    database: () => requireWritable(database),
    queue: () => queue.requireWritable(),
    disk: () => requireRoom(config),
    // Without the bucket, no object is acknowledged and no request succeeds.
    ...(blobs.direct && { bucket: atMostEvery(BUCKET_CHECK_MS, blobs.requireWritable) }),
    serving: async () => {
      if (!serves) throw new Error('the gateway is starting or about to stop');
    },
  };
  const { roles, dataDir } = config;
  const build = { version: VERSION, commit: COMMIT };
  const metrics = createMetrics({ database, queue, meters, ...build, roles, dataDir });
  const ready = () => Promise.all(Object.values(checks).map((check) => check()));
  const server = config.monitoring
    ? await startMonitoringServer(config.monitoring, { metrics, ready })
    : null;
  return {
    checks,
    metrics,
    serving(yes) {
      serves = yes;
    },
    stop: async () => server?.stop(),
  };
}
