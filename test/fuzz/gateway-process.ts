/**
 * The gateway that fuzzers attack, in a separate process with an exposed garbage collector:
 * `gateway-process.ts DATA_DIR`. As in production, an unhandled rejection ends it.
 */
import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { loadConfig } from '../../config/load.ts';
import { startGateway } from '../../src/app/main.ts';
import { SCOPES } from '../../src/core/accounts/keys.ts';
import { createLogger } from '../../src/platform/logging/logger.ts';
import { siteSettings } from '../gateway/site.ts';

export interface Started {
  dicomPort: number;
  url: string;
  key: string;
}

/** Quantities that a leak would increase, measured after a full garbage collection. */
export interface Footprint {
  heapBytes: number;
  sockets: number;
  /** Timers, sockets and other resources that keep Node.js alive. */
  resources: number;
}

/** How long the event loop was blocked since the previous query, in ms. */
export interface LoopDelay {
  p99: number;
  longest: number;
  /** The same delays, in processor time of the thread, which does not depend on other load. */
  work: { p99: number; longest: number };
}

export type Question = 'footprint' | 'loop-delay';

const ANY_NUMBER_OF_CALLS = 1_000_000_000;

const [dataDir = ''] = process.argv.slice(2);
const settings = siteSettings({ dataDir });
const config = loadConfig(
  {},
  {
    ...settings,
    roles: ['api', 'dimse'],
    http: {
      ...settings.http,
      callsPerMinute: ANY_NUMBER_OF_CALLS,
      queuedPerKey: ANY_NUMBER_OF_CALLS,
    },
    // A silent peer is disconnected quickly, so that a short run covers this case.
    sources: settings.sources.map((source) => ({
      ...source,
      apiKeys: ['*'],
      idleTimeoutSeconds: 1,
    })),
  },
);
const gateway = await startGateway(config, createLogger(process.env.FUZZ_LOG ? 'error' : 'silent'));
const made = await gateway.run('keys.create', { name: 'fuzz', scopes: [...SCOPES] });

const RESOLUTION_MS = 5;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();

/** Processor time of the thread between two timer ticks, in microseconds. */
const work = createHistogram();
let before = process.threadCpuUsage();
setInterval(() => {
  const now = process.threadCpuUsage();
  work.record(Math.max(1, now.user - before.user + now.system - before.system));
  before = now;
}, RESOLUTION_MS);

function loopDelay(): LoopDelay {
  const answer = {
    p99: delay.percentile(99) / 1e6,
    longest: delay.max / 1e6,
    work: { p99: work.percentile(99) / 1e3, longest: work.max / 1e3 },
  };
  delay.reset();
  work.reset();
  return answer;
}

async function footprint(): Promise<Footprint> {
  globalThis.gc?.();
  return {
    heapBytes: process.memoryUsage().heapUsed,
    sockets: (await descriptors()).filter((target) => target.startsWith('socket:')).length,
    resources: process.getActiveResourcesInfo().length,
  };
}

process.on('message', async (question: Question) => {
  process.send?.(question === 'loop-delay' ? loopDelay() : await footprint());
});
/**
 * Returns the target of each open descriptor, except for the embedded database's files, which are
 * opened and closed all the time.
 */
async function descriptors(): Promise<string[]> {
  const folder = '/proc/self/fd';
  const open = await readdir(folder);
  return Promise.all(open.map((name) => readlink(join(folder, name)).catch(() => '')));
}

process.once('SIGTERM', () => {
  void gateway.close().then(() => process.exit());
});
const started: Started = {
  dicomPort: gateway.dicom?.port ?? 0,
  url: gateway.http?.url ?? '',
  key: made.key,
};
process.send?.(started);
