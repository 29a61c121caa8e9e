/**
 * The gateway that fuzzers attack, in a separate process that exposes the garbage collector:
 * `gateway-process.ts DATA_DIR`. A rejection that nobody handles ends it, as it ends a real one.
 */
import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import { startGateway } from '../../src/app/main.ts';
import { createLogger } from '../../src/platform/logging/logger.ts';
import { siteSettings } from '../gateway/site.ts';

export interface Started {
  dicomPort: number;
  url: string;
  key: string;
}

/** What a leak would make larger, after a full collection. */
export interface Footprint {
  heapBytes: number;
  sockets: number;
  /** Timers, sockets and the like that Node.js keeps alive. */
  resources: number;
}

const ANY_NUMBER_OF_CALLS = 1_000_000_000;

const [dataDir = ''] = process.argv.slice(2);
const settings = siteSettings(dataDir);
const config = loadConfig(
  {},
  {
    ...settings,
    roles: ['api', 'dimse'],
    http: { ...settings.http, callsPerMinute: ANY_NUMBER_OF_CALLS },
    // A silent peer is disconnected soon, so that a short run covers this.
    sources: settings.sources.map((source) => ({ ...source, idleTimeoutSeconds: 1 })),
  },
);
const gateway = await startGateway(config, createLogger(process.env.FUZZ_LOG ? 'error' : 'silent'));
const made = await gateway.run('keys.create', { name: 'fuzz' });

process.on('message', async () => {
  globalThis.gc?.();
  const footprint: Footprint = {
    heapBytes: process.memoryUsage().heapUsed,
    sockets: (await descriptors()).filter((target) => target.startsWith('socket:')).length,
    resources: process.getActiveResourcesInfo().length,
  };
  process.send?.(footprint);
});
/** What each open descriptor leads to; those of the embedded database's files come and go. */
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
