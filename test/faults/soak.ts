import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './faults.ts';
import { pipelinesOf, type SiteUnderFault } from './site-under-fault.ts';

/** One hour in the long form. */
const MINUTES = Number(process.env.SONOGATE_SOAK_MINUTES ?? 60);
const SAMPLE_MS = 5000;
const MEBIBYTE = 1024 ** 2;

interface Sample {
  residentMegabytes: number;
  descriptors: number;
  databaseMegabytes: number;
}

async function sample(site: SiteUnderFault): Promise<Sample> {
  const { pid } = site.process('gateway');
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const descriptors = await readdir(`/proc/${pid}/fd`);
  const files = await readdir(join(site.dataDir, 'database'), {
    recursive: true,
    withFileTypes: true,
  });
  const sizes = await Promise.all(
    files
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) =>
        stat(join(parentPath, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
  );
  return {
    residentMegabytes: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024,
    descriptors: descriptors.length,
    databaseMegabytes: sizes.reduce((sum, size) => sum + size, 0) / MEBIBYTE,
  };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/**
 * Maximum growth between the second quarter and the last. Memory may grow by what the garbage
 * collector has not freed yet, and the database by its rows (a study of two objects takes about 30
 * kB) and one file of its log.
 */
const MAY_GROW: Readonly<Record<keyof Sample, number>> = {
  residentMegabytes: 150,
  descriptors: 30,
  databaseMegabytes: 64,
};

/**
 * The gateway with default settings under steady traffic. Its pipelines are killed now and then.
 */
export const soak: Fault = {
  name: 'soak',
  done: `${MINUTES} minutes of studies and submits on the embedded database; a pipeline process is killed every minute`,
  // Keeps less than two cores busy, since a soak should show what accumulates, not how a queue
  // grows.
  traffic: { studies: 6 * MINUTES, submits: 12 * MINUTES, pauseMs: 10_000 },
  prepare: async () => ({ site: { backend: 'PGlite' }, remove: async () => {} }),
  async strike(site) {
    const samples: Sample[] = [];
    const end = performance.now() + MINUTES * 60_000;
    for (let n = 1; performance.now() < end; n += 1) {
      await delay(SAMPLE_MS);
      samples.push(await sample(site));
      if (n % 12 !== 0) continue;
      for (const pid of await pipelinesOf(site.process('gateway').pid))
        process.kill(pid, 'SIGKILL');
    }
    const quarter = Math.floor(samples.length / 4);
    const early = samples.slice(quarter, 2 * quarter);
    const late = samples.slice(-quarter);
    const grown = (Object.keys(MAY_GROW) as (keyof Sample)[]).map((key) => {
      const [from, to] = [early, late].map((part) => Math.round(median(part.map((s) => s[key]))));
      return { key, from: from ?? 0, to: to ?? 0 };
    });
    const told = grown.map(({ key, from, to }) => `${WORDS[key]} ${from} → ${to}`).join(', ');
    const beyond = grown.filter(({ key, from, to }) => to - from > MAY_GROW[key]);
    if (beyond.length > 0) throw new Error(`grows without bound: ${told}`);
    return `median of the second and of the last quarter: ${told}`;
  },
};

const WORDS: Readonly<Record<keyof Sample, string>> = {
  residentMegabytes: 'memory of the gateway (MiB)',
  descriptors: 'descriptors',
  databaseMegabytes: 'folder of the database (MiB)',
};
