import { readdir, readFile, statfs } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ModelInUse } from '../../pipelines/contract/job.ts';
import type { Metric } from './exposition.ts';

const NANOSECONDS = 1e9;
const LOOP_RESOLUTION_MILLISECONDS = 10;
const KIBIBYTE = 1024;

/** What this process is, and how it fares. Each process of a site has its own. */
export function watchThisProcess({
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
      gauge('sonogate_process_start_time_seconds', 'When the process was started, Unix time.', [
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

/** Resident memory of the child processes, oldest first; none where the system does not tell (proc(5)). */
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
