import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';

const CLI = 'src/app/cli/bin.mjs';
const TREE = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Flags of vitest.config.ts that a program started by a test gets too; `bin.mjs` passes them on. A
 * gateway started by a benchmark gets none.
 */
export const TEST_FLAGS = process.execArgv.filter((flag) => flag === '--liftoff-only');

/** `sonogate serve` in a separate process, so that a test can kill it. */
export interface Served {
  pid: number;
  dicomPort: number;
  url: string;
  log: readonly string[];
  /** Null while the process runs, and if a signal ended it. */
  exitCode(): number | null;
  stop(signal: NodeJS.Signals): Promise<void>;
}

/** Writes the settings of a site to a file, for `SONOGATE_CONFIG`. */
export async function siteFile(settings: unknown): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'sonogate-site-')), 'site.yaml');
  await writeFile(path, stringify(settings));
  return path;
}

interface ServeOptions {
  /** Niceness of the gateway's process, if it differs from the caller's. */
  niceness?: number;
  /** Folder of the project whose gateway is started; by default this one. */
  tree?: string;
  /** Flags of Node.js. */
  flags?: readonly string[];
}

/** Starts the gateway as an operator does, and waits until it reports that it has started. */
export async function serve(
  configFile: string,
  environment: Record<string, string> = {},
  { niceness, tree = TREE, flags = TEST_FLAGS }: ServeOptions = {},
): Promise<Served> {
  const child: ChildProcess = spawn(process.execPath, [...flags, join(tree, CLI), 'serve'], {
    env: {
      ...process.env,
      SONOGATE_CONFIG: configFile,
      SONOGATE_LOG_LEVEL: 'info',
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (niceness !== undefined && child.pid !== undefined) setPriority(child.pid, niceness);
  const log: string[] = [];
  const started = await new Promise<{ dicom: number; http: string }>((done, fail) => {
    child.once('exit', (code) => fail(new Error(`ended with ${code}:\n${log.join('\n')}`)));
    if (!child.stderr) return fail(new Error('no log'));
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line);
      if (line.includes('"gateway started"')) done(JSON.parse(line));
    });
  });
  return {
    pid: child.pid ?? 0,
    dicomPort: started.dicom,
    url: started.http,
    log,
    exitCode: () => child.exitCode,
    async stop(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    },
  };
}
