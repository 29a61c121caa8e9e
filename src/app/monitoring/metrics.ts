import { once } from 'node:events';
import { readdir, readFile, statfs } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Config } from '../../../config/schema.ts';
import type { Reception } from '../../../dimse/receive/storage-scp.ts';
import type { ModelInUse } from '../../../pipelines/contract/job.ts';
import type { InferenceRun } from '../../../pipelines/inference/inference-channel.ts';
import type { RequestQueue } from '../../core/queue/queue.ts';
import type { HttpDeps } from '../../doors/http/context.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { OnEvent } from '../../platform/logging/logger.ts';
import {
  createCounter,
  createHistogram,
  type Metric,
  renderMetrics,
} from '../../platform/metrics/metrics.ts';
import { VERSION } from '../../platform/version.ts';
import { followEndedWork, readOpenWork, WORKING_SECONDS } from './work.ts';

const NANOSECONDS = 1e9;
const LOOP_RESOLUTION_MILLISECONDS = 10;
const KIBIBYTE = 1024;

/** Metrics of this process. Each process of a site has its own. */
function watchThisProcess({
  version,
  roles,
  dataDir,
  models,
}: {
  version: string;
  roles: readonly string[];
  dataDir: string;
  models: () => readonly ModelInUse[];
}): () => Promise<Metric[]> {
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MILLISECONDS });
  loop.enable();
  const started = Math.round(Date.now() / 1000 - process.uptime());

  return async () => {
    const delay = Object.entries({
      median: loop.percentile(50),
      p99: loop.percentile(99),
      longest: loop.max,
    }).map(([statistic, value]) => ({ labels: { statistic }, value: value / NANOSECONDS }));
    loop.reset();
    const { bavail, blocks, bsize } = await statfs(dataDir);
    const memory = [
      { labels: { process: 'gateway' }, value: process.memoryUsage.rss() },
      ...(await memoryOfChildren()).map((value, index) => ({
        labels: { process: `pipeline-${index}` },
        value,
      })),
    ];
    return [
      gauge('sonogate_build_info', 'Version of the gateway and of Node.js, and its roles.', [
        { labels: { version, node: process.versions.node, roles: roles.join(',') }, value: 1 },
      ]),
      gauge('sonogate_process_start_time_seconds', 'Start time of the process, Unix time.', [
        { labels: {}, value: started },
      ]),
      gauge('sonogate_event_loop_delay_seconds', 'Delay of timers since the last scrape.', delay),
      gauge('sonogate_process_memory_bytes', 'Resident memory of gateway and pipelines.', memory),
      gauge('sonogate_disk_free_bytes', 'Free on the disk of the data folder.', [
        { labels: {}, value: bavail * bsize },
      ]),
      gauge('sonogate_disk_size_bytes', 'Size of the disk of the data folder.', [
        { labels: {}, value: blocks * bsize },
      ]),
      gauge(
        'sonogate_models',
        'Models open in the pipeline process of this gateway, and what each runs on.',
        models().map(({ id, version: of, pack, provider }) => ({
          labels: { model: id, version: of, pack, provider },
          value: 1,
        })),
      ),
    ];
  };
}

function gauge(name: string, help: string, samples: Metric['samples']): Metric {
  return { name, help, type: 'gauge', samples };
}

/**
 * Resident memory of the child processes, oldest first; empty where the system does not report it
 * (proc(5)).
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

/** Counters of the work of this process; see docs/monitoring.md. */
interface ProcessMeters {
  onEvent: OnEvent;
  /** An object of the source arrived by C-STORE. */
  onReception(source: string, reception: Reception): void;
  /** A model was called in a pipeline process of this gateway. */
  onInference(run: InferenceRun): void;
  /** Called once the models are open. */
  modelsReady(models: readonly ModelInUse[]): void;
  models(): readonly ModelInUse[];
  read(): Metric[];
}

export function createProcessMeters(): ProcessMeters {
  let models: readonly ModelInUse[] = [];
  let open = 0;
  const events = createCounter({
    name: 'sonogate_events_total',
    help: 'Log events of this process by id, and by error code where they have one.',
  });
  const objects = createCounter({
    name: 'sonogate_dicom_objects_total',
    help: 'Objects received by C-STORE, by source and outcome.',
  });
  const bytes = createCounter({
    name: 'sonogate_dicom_received_bytes_total',
    help: 'Bytes of data sets received by C-STORE, by source.',
  });
  const seconds = createHistogram({
    name: 'sonogate_dicom_store_seconds',
    help: 'From the C-STORE request until the object is durable, by source.',
    buckets: WORKING_SECONDS,
  });
  const images = createCounter({
    name: 'sonogate_model_images_total',
    help: 'Images that each model has processed in the pipelines of this process.',
  });
  const inference = createHistogram({
    name: 'sonogate_model_seconds',
    help: 'Time of one call of a model, with a batch of images.',
    buckets: WORKING_SECONDS,
  });
  return {
    onEvent(event, { code }) {
      events.add(1, { event, code: typeof code === 'string' ? code : '' });
      if (event === 'association_accepted') open += 1;
      if (event === 'association_ended') open -= 1;
    },
    onReception(source, reception) {
      objects.add(1, { source, outcome: reception.outcome });
      bytes.add(reception.bytes, { source });
      if (reception.outcome === 'stored') seconds.observe(reception.seconds, { source });
    },
    onInference({ model, images: many, seconds: took }) {
      images.add(many, { model });
      inference.observe(took, { model });
    },
    modelsReady(opened) {
      models = opened;
    },
    models: () => models,
    read: () => [
      events.read(),
      {
        name: 'sonogate_dicom_associations_open',
        help: 'Associations that peers hold open with this process.',
        type: 'gauge',
        samples: [{ labels: {}, value: open }],
      },
      objects.read(),
      bytes.read(),
      seconds.read(),
      images.read(),
      inference.read(),
    ],
  };
}

/**
 * All metrics of `GET /metrics`: those of this process, and those of the site, which are read from
 * the tables. Contains no identity.
 */
export function createMetrics({
  database,
  queue,
  meters,
  ...process
}: {
  database: Queryable;
  queue: Pick<RequestQueue, 'counts'>;
  meters: ProcessMeters;
  version: string;
  roles: readonly string[];
  dataDir: string;
}): () => Promise<Metric[]> {
  const ended = followEndedWork(database);
  // Starts counting work that ends from now on, however late the first scrape is.
  const begun = ended().catch(() => []);
  const self = watchThisProcess({ ...process, models: meters.models });
  // Two concurrent scrapes share one reading: the followers of the tables keep a position in them.
  let reading: Promise<Metric[]> | null = null;
  const read = async () => {
    await begun;
    return [
      ...(await self()),
      ...meters.read(),
      ...(await readOpenWork(database, queue)),
      ...(await ended()),
    ];
  };
  return () => {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };
}

/** A separate plain port for probes and scrapes, also for processes without the role `api`. */
interface MonitoringServer {
  port: number;
  stop(): Promise<void>;
}

/**
 * Serves `GET /metrics`, `/health/live` and `/health/ready`; only the monitoring network should
 * reach it.
 * @param ready rejects when the process is not ready.
 * @throws the system's error when the address cannot be bound.
 */
export async function startMonitoringServer(
  { host, port }: { host: string; port: number },
  { metrics, ready }: { metrics: () => Promise<readonly Metric[]>; ready: () => Promise<unknown> },
): Promise<MonitoringServer> {
  const answers: Readonly<Record<string, () => Promise<[status: number, text: string]>>> = {
    '/metrics': async () => [200, renderMetrics(await metrics())],
    '/health/live': async () => [200, 'live\n'],
    '/health/ready': () =>
      ready().then(
        () => [200, 'ready\n'],
        () => [503, 'not ready\n'],
      ),
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url?.split('?')[0] ?? ''];
    const told = answer?.() ?? Promise.resolve([404, 'not found\n'] as const);
    told
      .catch(() => [503, 'not available\n'] as const)
      .then(([status, text]) => {
        response.writeHead(status, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
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
   * Sets whether the gateway is ready. It is not ready before all its roles are open, nor when it
   * is about to stop.
   */
  serving(yes: boolean): void;
  stop(): Promise<void>;
}

/** Answers to probes and scrapes, on the port of the role `api` and, if set, on a separate one. */
export async function startMonitoring(
  config: Pick<Config, 'roles' | 'dataDir' | 'monitoring'>,
  {
    database,
    queue,
    meters,
  }: { database: Queryable; queue: Pick<RequestQueue, 'counts'>; meters: ProcessMeters },
): Promise<Monitoring> {
  let serves = false;
  const checks = {
    database: () => database.query('SELECT 1'),
    queue: () => queue.counts(),
    serving: async () => {
      if (!serves) throw new Error('the gateway is starting or about to stop');
    },
  };
  const { roles, dataDir } = config;
  const metrics = createMetrics({ database, queue, meters, version: VERSION, roles, dataDir });
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
