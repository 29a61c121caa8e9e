import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openDatabase } from '../../src/platform/database/open.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { serve, siteFile } from '../gateway/serve.ts';
import { siteSettings } from '../gateway/site.ts';
import { startListening, startStorescp } from '../peers/dcmtk.ts';
import { freshDataDir } from '../peers/embedded.ts';
import { startOrthanc } from '../peers/orthanc.ts';
import { fillHistory } from './history.ts';

/** A storage SCP to which a benchmark sends. */
export interface Receiver {
  name: string;
  aeTitle: string;
  port: number;
  /** Null if the benchmark does not measure the process's memory. */
  pid: number | null;
  stop(): Promise<void>;
}

/** Number of associations open at a time in the benchmarks with many associations. */
export const ASSOCIATIONS = 50;

/** Starts a whole gateway with the role `dimse` in a separate process. */
export async function startSonogate({
  name,
  databaseUrl,
  history = 0,
  environment = {},
  ...program
}: {
  name: string;
  databaseUrl?: string | undefined;
  /** Number of studies already in its database. */
  history?: number;
  environment?: Record<string, string>;
  /** Folder of the project whose gateway is started, and flags of Node.js. */
  tree?: string;
  flags?: readonly string[];
}): Promise<Receiver> {
  const dataDir = await freshDataDir();
  const database = await openDatabase({ dataDir, databaseUrl, logger: silentLogger });
  await migrate(database);
  if (history > 0) await fillHistory(database, history);
  await database.close();
  const config = await siteFile(
    siteSettings(
      { dataDir },
      {
        databaseUrl,
        roles: ['dimse'],
        dicom: { host: '127.0.0.1', port: 0, maxAssociations: 2 * ASSOCIATIONS },
        routing: { rules: [{ name: 'none', when: { modality: 'US' }, ignore: true }] },
      },
    ),
  );
  const served = await serve(config, { SONOGATE_LOG_LEVEL: 'info', ...environment }, program);
  return {
    name,
    aeTitle: 'SONOGATE',
    port: served.dicomPort,
    pid: served.pid,
    async stop() {
      await served.stop('SIGTERM');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Starts DCMTK `storescp +B --fork`: one process per association, files stored as received, no
 * sync.
 */
export async function startDcmtk(): Promise<Receiver> {
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-storescp-'));
  const program = await startStorescp(folder, ['--fork']);
  return {
    name: 'DCMTK storescp +B --fork',
    aeTitle: 'STORESCP',
    ...program,
    async stop() {
      await program.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Starts `dicom-storescp` from dicom-rs (`cargo install dicom-storescp`); null if it is not
 * installed.
 */
export async function startRust(): Promise<Receiver | null> {
  const places = [...(process.env.PATH ?? '').split(':'), join(homedir(), '.cargo', 'bin')];
  const found = places
    .map((place) => join(place, 'dicom-storescp'))
    .find((path) => runs(path, '--version'));
  if (found === undefined) return null;
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-dicom-rs-'));
  await mkdir(join(folder, 'objects'));
  const program = await startListening(found, (port) => [
    ...['--promiscuous', '-n', '--max-pdu-length', '131072'],
    ...['-o', join(folder, 'objects'), '-p', String(port)],
  ]);
  return {
    name: 'dicom-storescp (Rust)',
    aeTitle: 'STORE-SCP',
    ...program,
    async stop() {
      await program.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function startOrthancReceiver(): Promise<Receiver | null> {
  const orthanc = await startOrthanc();
  if (!orthanc) return null;
  const { aeTitle, dicomPort: port } = orthanc;
  return { name: 'Orthanc', aeTitle, port, pid: null, stop: () => orthanc.stop() };
}

function runs(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Outcome of sending files over many associations. */
export interface Traffic {
  seconds: number;
  /** Duration of each association in milliseconds. */
  latencies: number[];
  failed: number;
}

/** Sends each file over a separate association, by default 50 associations at a time. */
export async function sendOverAssociations(
  { port, aeTitle }: Pick<Receiver, 'port' | 'aeTitle'>,
  files: readonly string[],
  associations = ASSOCIATIONS,
): Promise<Traffic> {
  const paths = [...files];
  const node = {
    host: '127.0.0.1',
    port,
    aeTitle,
    callingAeTitle: 'CART',
    timeoutSeconds: 60,
  };
  const traffic: Traffic = { seconds: 0, latencies: [], failed: 0 };
  const begin = performance.now();
  const association = async () => {
    for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
      const sent = performance.now();
      const [result] = await sendFiles(node, [path]).catch(() => []);
      traffic.latencies.push(performance.now() - sent);
      if (result?.outcome !== 'stored') traffic.failed += 1;
    }
  };
  await Promise.all(Array.from({ length: associations }, association));
  traffic.seconds = (performance.now() - begin) / 1000;
  return traffic;
}

export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / 1024;
}

const TICKS_EACH_SECOND = 100;

/** Returns the processor time used by a process, including its threads but not its children. */
export async function processorSeconds(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The program name is in brackets and may contain spaces; user and system time follow it.
  const [user, system] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) / TICKS_EACH_SECOND;
}

/**
 * Reads the event-loop delay of a gateway that was started with `environment`. Each call of `take`
 * returns the delays since the previous one, in milliseconds.
 * @param file where the gateway writes them.
 */
export function loopDelayOf(file: string) {
  return {
    environment: {
      LOOP_DELAY_FILE: file,
      NODE_OPTIONS: `--import ${new URL('./loop-delay.ts', import.meta.url).href}`,
    },
    async take(pid: number): Promise<{ p50: number; p99: number; longest: number }> {
      await rm(file, { force: true });
      process.kill(pid, 'SIGUSR2');
      for (;;) {
        const text = await readFile(file, 'utf8').catch(() => '');
        if (text !== '') return JSON.parse(text);
        await pause(20);
      }
    },
  };
}

export function printTable(head: readonly string[], rows: readonly (string | number)[][]): void {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  process.stdout.write(`${lines.join('\n')}\n`);
}
