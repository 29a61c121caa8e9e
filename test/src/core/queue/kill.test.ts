import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../../../src/platform/database/open.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { freshDataDir } from '../../../peers/embedded.ts';
import { openSite } from '../requests/site.ts';

// Three gateways start one after the other, each with its own database engine.
vi.setConfig({ testTimeout: 120_000 });

const PROGRAM = fileURLToPath(new URL('./gateway-process.ts', import.meta.url));

let dataDir: string;
let child: ChildProcess | null;

beforeEach(async () => {
  dataDir = await freshDataDir();
  child = null;
});
afterEach(async () => {
  await kill();
  await rm(dataDir, { recursive: true, force: true });
});

async function kill(): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child?.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
}

/** Starts a gateway that submits a request, and waits until that request has reached `status`. */
async function submitIn(behaviour: string, status: string): Promise<string> {
  child = spawn(process.execPath, [PROGRAM, dataDir, behaviour], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  let id = '';
  for await (const line of lines) {
    if (line === status) return id;
    id ||= line;
  }
  throw new Error('the gateway ended early');
}

/**
 * Returns the runs that have files below `work/`, either in their own folder or in that of a
 * pipeline process.
 */
async function runsLeft(): Promise<string[]> {
  const paths = await readdir(join(dataDir, 'work'), { recursive: true });
  const jobs = paths.filter((path) => basename(path) === 'job.json');
  return [...new Set(jobs.map((path) => basename(dirname(path))))];
}

describe('kill -9 of the whole gateway', () => {
  it('frees the database, ends the pipeline process, and runs the request again', async () => {
    const id = await submitIn('spin', 'running');
    const open = () => openDatabase({ dataDir, logger: silentLogger });
    await expect(open()).rejects.toThrow(/in use by process \d+.*DATABASE_URL/s);
    const pids = await childrenOf(child?.pid ?? 0);
    expect(pids.length).toBeGreaterThan(0);
    await kill();
    await expect.poll(() => Promise.all(pids.map(isRunning))).toEqual(pids.map(() => false));

    expect(await runsLeft()).toEqual([`${id}.1`]);
    const site = await openSite({ dataDir });
    expect(await site.row(id)).toMatchObject({ status: 'running', attempts: 1 });
    await site.database.query(
      `UPDATE requests SET input = jsonb_set(input, '{options,behaviour}', '"result"')`,
    );
    await site.startWorker();
    const events = await site.follow(id);
    await expect.poll(runsLeft).toEqual([]);
    expect(await site.row(id)).toMatchObject({ status: 'succeeded', attempts: 2, lost_runs: 1 });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    expect(events.filter(({ name }) => name === 'done')).toHaveLength(1);
    await site.close();
  });
});

describe('a stop in the middle of a run', () => {
  it('does not count against the request', async () => {
    let site = await openSite({ dataDir });
    await site.startWorker();
    const id = await site.submit('wait', {}, { seconds: 60 });
    await site.until(id, 'running');
    await site.close();

    site = await openSite({ dataDir });
    expect(await site.row(id)).toMatchObject({ status: 'running', attempts: 1, lost_runs: 1 });
    await site.startWorker();
    await expect.poll(async () => (await site.row(id)).attempts).toBe(2);
    await site.core.cancel(id, null);
    await site.close();
  });
});

/** Returns the child processes of `pid` (Linux). */
async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.trim().split(/\s+/).filter(Boolean).map(Number);
}

async function isRunning(pid: number): Promise<boolean> {
  return stat(`/proc/${pid}`).then(
    () => true,
    () => false,
  );
}
