import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunningWorker } from '../../../../src/core/queue/worker.ts';
import { STAGES } from '../../../../src/core/requests/transitions.ts';
import { signingFolder } from '../../../../src/core/requests/work-folder.ts';
import type { Database } from '../../../../src/platform/database/port.ts';
import { openSite, type Site } from '../requests/site.ts';

/**
 * Two workers of one site that share a data folder (docs/several-machines.md). The first loses a
 * request to the second while it still runs it.
 */
let site: Site;
let workers: RunningWorker[];

beforeEach(async () => {
  site = await openSite({ worker: { openModelsAtStart: false } });
  workers = [];
});
afterEach(async () => {
  for (const worker of workers) await worker.stop();
  await site.close();
});

/** Starts a worker that runs only the requests given to it. */
async function startWorker(database: Database = site.database) {
  let give: (id: string) => Promise<void> = async () => {};
  const work: typeof site.queue.work = (_slots, process) => {
    give = process;
    return { close: async () => {} };
  };
  const queue = Object.create(site.queue, { work: { value: work } });
  workers.push(await site.startWorker({ database: Object.create(database), queue }));
  return give;
}

/** Ends the lease of the present worker and gives the request to another, whose run is returned. */
async function handOver(id: string, give: (id: string) => Promise<void>) {
  await site.database.query(
    "UPDATE requests SET lease_until = now() - interval '1 s' WHERE id = $1",
    [id],
  );
  const run = give(id);
  await expect.poll(async () => (await site.row(id)).attempts).toBe(2);
  return { run };
}

/**
 * Lets the pipeline of this attempt continue. Its work folder is moved when it starts, and is
 * missing for a moment.
 */
const letContinue = (id: string, attempt: number) =>
  vi.waitFor(() => writeFile(join(site.config.dataDir, 'work', `${id}.${attempt}`, 'read'), ''));

async function readStored(id: string, name: string): Promise<string> {
  return readFile((await site.core.artifactPath(id, name)) ?? `no ${name}`, 'utf8');
}

describe('a run whose request was claimed by another worker', () => {
  it('removes only its own files, and the other run succeeds', async () => {
    const [first, second] = [await startWorker(), await startWorker()];
    const id = await site.submit('wait-after-preview', {}, { until: 'read' });
    const lost = first(id);
    await expect.poll(async () => (await site.core.artifacts(id)).length).toBe(1);

    const later = await handOver(id, second);
    // The first worker renews its lease every four seconds, and then learns that it lost it.
    await lost;
    // The UIDs of the documents are derived from the request, whichever run writes them.
    const job = join(site.config.dataDir, 'work', `${id}.2`, 'job.json');
    const named = await vi.waitFor(async () => JSON.parse(await readFile(job, 'utf8')).request);
    expect(named).toBe(id);
    await letContinue(id, 2);
    await later.run;

    expect(await site.row(id)).toMatchObject({ status: 'succeeded', attempts: 2, fault: null });
    expect(await readStored(id, 'overlay-biometry-1.png')).toBe('hello');
  });

  it('leaves the stored result of the other run alone if it had finished its own', async () => {
    let reach = () => {};
    let release = () => {};
    const reached = new Promise<void>((resolve) => {
      reach = resolve;
    });
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    /** Holds back the transaction that would end the request. */
    const transaction: typeof site.database.transaction = async (work) => {
      const { rows } = await site.database.query(
        "SELECT 1 FROM requests WHERE attempts = 1 AND stage->>'name' = $1",
        [STAGES.uploading.name],
      );
      if (rows.length > 0) {
        reach();
        await released;
      }
      return site.database.transaction(work);
    };
    const held = Object.create(site.database, { transaction: { value: transaction } });
    const [first, second] = [await startWorker(held), await startWorker()];
    const id = await site.submit('result');
    const lost = first(id);
    await reached;

    await (await handOver(id, second)).run;
    expect(await site.row(id)).toMatchObject({ status: 'succeeded', attempts: 2 });
    release();
    await lost;

    expect(await site.core.result(id)).toMatchObject({ texts: ['hello'] });
    expect(await readStored(id, 'overlay-biometry-1.png')).toBe('hello');
  });
});

describe('the work folder of a worker that was killed a moment ago', () => {
  it('is kept while its lease lasts, and removed when the request is run again', async () => {
    const id = await site.submit('result');
    const place = join(site.config.dataDir, 'work', 'process-killed');
    await mkdir(join(place, `${id}.1`, 'files'), { recursive: true });
    await writeFile(join(place, `${id}.1`, 'files', 'a.dcm'), 'image');
    await site.database.query(
      `UPDATE requests SET status = 'running', attempts = 1, lease_until = now() + interval '20 s'
       WHERE id = $1`,
      [id],
    );
    const work = await startWorker();
    expect(await readdir(place)).toEqual([`${id}.1`]);

    await (await handOver(id, work)).run;
    expect(await site.row(id)).toMatchObject({ status: 'succeeded', attempts: 2 });
    await expect.poll(() => readdir(place), { timeout: 15_000 }).toEqual([]);
  });
});

describe('the folder in which the documents of a signature are written', () => {
  it('is kept when a worker starts, unless it is an hour old', async () => {
    const { dataDir } = site.config;
    const [recent, old] = [signingFolder(dataDir, 'req_1'), signingFolder(dataDir, 'req_1')];
    for (const folder of [recent, old]) await mkdir(folder, { recursive: true });
    const hoursAgo = new Date(Date.now() - 2 * 3_600_000);
    await utimes(old, hoursAgo, hoursAgo);
    await startWorker();
    const names = await readdir(join(dataDir, 'work'));
    expect(names).toContain(basename(recent));
    expect(names).not.toContain(basename(old));
  });
});
