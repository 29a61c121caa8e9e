import { access, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { STAGES } from '../../../../src/core/requests/transitions.ts';
import { PROCESS_FOLDER } from '../../../../src/core/requests/work-folder.ts';
import { DatabaseUnreachableError } from '../../../../src/platform/database/pooled.ts';
import { SonogateError } from '../../../../src/platform/errors/catalogue.ts';
import { createLogger } from '../../../../src/platform/logging/logger.ts';
import { openSite, type Site } from '../requests/site.ts';

const TIMEOUT_SECONDS = 45;

let site: Site;

beforeAll(async () => {
  // The timeout is longer than any of these runs takes on a busy machine. Runs that hang have a
  // separate site.
  site = await openSite({ worker: { timeoutSeconds: TIMEOUT_SECONDS, childMemoryMegabytes: 96 } });
  await site.startWorker();
});
afterAll(() => site.close());

describe('a worker that has started', () => {
  it.each([
    { openModelsAtStart: true, processes: 1 },
    { openModelsAtStart: false, processes: 0 },
  ])(
    'has $processes pipeline processes with openModelsAtStart: $openModelsAtStart',
    async ({ openModelsAtStart, processes }) => {
      const own = await openSite({ worker: { openModelsAtStart } });
      await own.startWorker();
      const places = await readdir(join(own.config.dataDir, 'work')).catch(() => []);
      expect(places.filter((name) => name.startsWith(PROCESS_FOLDER))).toHaveLength(processes);
      await own.close();
    },
  );
});

describe('a request whose pipeline comes to an end', () => {
  it('succeeds with its result, its artifacts and one log from queued to done', async () => {
    const id = await site.submit('result');
    const events = await site.follow(id);

    expect(await site.row(id)).toMatchObject({ status: 'succeeded', attempts: 1, fault: null });
    expect(await site.core.result(id)).toMatchObject({ texts: ['hello'] });
    expect((await site.core.artifacts(id)).map(({ name }) => name)).toEqual([
      'result.json',
      'overlay-biometry-1.png',
    ]);
    await access((await site.core.artifactPath(id, 'overlay-biometry-1.png')) ?? '');
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    expect(statuses(events)).toEqual(['queued', 'preparing', 'running', 'succeeded']);
    expect(events.map(({ name }) => name)).toEqual(expect.arrayContaining(['partial', 'triage']));
    expect(events.at(-1)).toMatchObject({ name: 'done', data: { id, status: 'succeeded' } });
  });

  it('starts with the objects of its archive, and fails if the archive does not send them all', async () => {
    const archived = (sopInstanceUid: string) => ({
      name: 'a.txt',
      archive: {
        archive: 'pacs',
        studyInstanceUid: '1.2',
        seriesInstanceUid: '1.2.1',
        sopInstanceUid,
        sopClassUid: '',
      },
      path: '',
      bytes: 0,
      sha256: '',
    });
    const here = await site.submit('result', { files: [archived('1.2.1.1')] });
    await site.follow(here);
    expect(await site.core.result(here)).toMatchObject({ texts: ['1.2.1.1'] });
    const gone = await site.submit('result', { files: [archived('gone')] });
    await site.follow(gone);
    expect(await site.row(gone)).toMatchObject({
      status: 'failed',
      fault: { code: 'archive_refused_query' },
    });
  });

  it("shows progress that never goes back, even if the pipeline's does", async () => {
    const id = await site.submit('result');
    const progress = (await site.follow(id)).flatMap(({ name, data }) =>
      name === 'stage' ? [(data as { progress: number }).progress] : [],
    );
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    expect(progress.at(-1)).toBe(1);
  });

  it.each([
    [1000, '0.08'],
    [1001, '0.15'],
  ])(
    'of %i frames costs %s, by the frames that its result says were read',
    async (frames, total) => {
      const id = await site.submit('result', {}, { frames });
      expect((await site.row(id)).cost.total).toBe('0.08');
      const events = await site.follow(id);
      expect((await site.row(id)).cost).toMatchObject({ total, lines: [{ amount: total }] });
      expect(events.at(-1)?.data).toMatchObject({ cost: { total } });
    },
  );

  it('costs nothing if it was rejected', async () => {
    const rejected = await site.submit('reject', {}, { frames: 1001 });
    await site.follow(rejected);
    expect((await site.row(rejected)).cost).toMatchObject({ total: '0.00', lines: [] });
  });

  it('leaves no work folder behind', async () => {
    const id = await site.submit('result');
    await site.follow(id);
    await site.submit('result').then(site.follow);
    const left = await readdir(join(site.config.dataDir, 'work'));
    expect(left.filter((name) => name.startsWith(id))).toEqual([]);
  });

  it('is rejected, with what is wrong with the input', async () => {
    const id = await site.submit('reject');
    const events = await site.follow(id);
    expect((await site.row(id)).fault).toEqual({
      code: 'no_readable_image',
      detail: 'a.dcm: not an image',
    });
    expect(events.slice(-3).map(({ name }) => name)).toEqual(['status', 'error', 'done']);
    expect(events.at(-2)?.data).toMatchObject({ status: 422, code: 'no_readable_image' });
  });

  it('is rejected if a file was removed after it was submitted', async () => {
    const gone = join(site.config.dataDir, 'gone.dcm');
    await rm(gone, { force: true });
    const id = await site.submit('result', {
      files: [{ name: 'gone.dcm', path: gone, sha256: '' }],
    });
    await site.follow(id);
    expect(await site.row(id)).toMatchObject({
      status: 'rejected',
      fault: { code: 'file_not_ready', detail: expect.stringContaining('gone.dcm') },
    });
  });
});

describe('a study whose result is signed', () => {
  it('sends no report with the draft of a later request, only the documents', async () => {
    const target = (kind: 'dicom' | 'fhir' | 'hl7v2') => ({ kind, destination: kind, object: 'x' });
    const deliverTo = [target('dicom'), target('fhir'), target('hl7v2')];
    const first = await site.submit();
    await site.follow(first);
    const later = await site.submit('wait-after-preview', { deliverTo }, { until: 'signed' });
    await site.database.query(
      `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
         identity, first_received_at, last_received_at, complete_after)
       VALUES (gen_random_uuid(), '1.2.3', 's', 'A', 'B', 'submitted', '{}', now(), now(), now())`,
    );
    await site.database.query(
      `INSERT INTO study_requests (study_id, revision, rule, request_id, submitted_at)
       SELECT study.id, run.revision, 'rule', run.id, now()
       FROM studies study, (VALUES (1, $1), (2, $2)) AS run (revision, id)
       WHERE study.study_instance_uid = '1.2.3'`,
      [first, later],
    );
    await site.database.query(
      `INSERT INTO reviews (request_id, state, signed_revision) VALUES ($1, 'signed', 1)`,
      [first],
    );
    await site.until(later, 'running');
    // The work folder is moved when the run starts, and is missing for a moment.
    await vi.waitFor(() =>
      writeFile(join(site.config.dataDir, 'work', `${later}.1`, 'signed'), ''),
    );
    await site.follow(later);
    const { rows } = await site.database.query<{ destination: string }>(
      'SELECT destination FROM deliveries WHERE request_id = $1',
      [later],
    );
    expect(rows).toEqual([{ destination: 'dicom' }]);
  });
});

describe('a preview', () => {
  it('can be fetched from the moment it is announced, while the request still runs', async () => {
    const id = await site.submit('wait-after-preview', {}, { until: 'read' });
    const patience = AbortSignal.timeout(40_000);
    for await (const { name, data } of site.core.events.follow(id, 0, 'http://site', patience)) {
      if (name !== 'partial') continue;
      expect(data).toMatchObject({
        artifact: { url: `http://site/v1/requests/${id}/artifacts/overlay-biometry-1.png` },
      });
      expect((await site.row(id)).status).toBe('running');
      const path = await site.core.artifactPath(id, 'overlay-biometry-1.png');
      expect(await readFile(path ?? '', 'utf8')).toBe('hello');
      await writeFile(join(site.config.dataDir, 'work', `${id}.1`, 'read'), '');
    }
    expect((await site.row(id)).status).toBe('succeeded');
  });
});

describe('a pipeline process', () => {
  it('is given only the environment variables that a pipeline needs', async () => {
    process.env.DATABASE_URL_FOR_TEST = 'secret';
    const logged: string[] = [];
    const own = await openSite({
      logger: createLogger('error', { write: (line) => logged.push(line) }),
    });
    await own.startWorker();
    await own.submit('show-environment').then(own.follow);
    delete process.env.DATABASE_URL_FOR_TEST;
    expect(logged.join()).toContain('PATH');
    expect(logged.join()).not.toContain('DATABASE_URL');
    await own.close();
  });
});

describe('a request whose pipeline fails', () => {
  it.each([
    ['throw', 'pipeline_failed', 1],
    ['die', 'pipeline_crashed', 2],
    ['fill-memory', 'pipeline_crashed', 2],
    ['fill-disk', 'out_of_space', 5],
    ['no-result', 'invalid_result', 1],
    ['wrong-shape', 'invalid_result', 1],
    ['wrong-digest', 'invalid_result', 1],
    ['bad-name', 'invalid_result', 1],
    ['write-outside', 'pipeline_failed', 1],
  ])('%s: failed with %s after %i attempts', async (behaviour, code, attempts) => {
    const id = await site.submit(behaviour);
    await site.follow(id);
    expect(await site.row(id)).toMatchObject({ status: 'failed', attempts, fault: { code } });
    expect(await site.core.result(id)).toBeNull();
  });

  it('hang: failed with pipeline_timeout when its time is over', async () => {
    const own = await openSite({ worker: { timeoutSeconds: 1 } });
    await own.startWorker();
    const id = await own.submit('hang');
    await own.follow(id);
    expect(await own.row(id)).toMatchObject({
      status: 'failed',
      attempts: 1,
      fault: { code: 'pipeline_timeout' },
    });
    await own.close();
  });

  it('reports the file on which it hung, and is run again without it', async () => {
    const own = await openSite({ worker: { readSeconds: 1 } });
    await own.startWorker();
    const id = await own.submit('read-for-ever');
    const other = await own.submit('result');
    await own.follow(id);
    // In the second run, the job lists the file as `unreadable`.
    expect(await own.row(id)).toMatchObject({ status: 'succeeded', attempts: 1 });
    await own.follow(other);
    await own.close();
  });

  it('reveals no internals to the client', async () => {
    const id = await site.submit('throw');
    expect(JSON.stringify(await site.follow(id))).not.toMatch(/secret inside|obedient\.ts/);
  });

  it('is run again in a new process if its first one was killed', async () => {
    const id = await site.submit('die-once');
    await site.follow(id);
    expect(await site.row(id)).toMatchObject({ status: 'succeeded', attempts: 2 });
  });

  it('is run again if the disk was full, which counts as an attempt', async () => {
    const id = await site.submit('fill-disk-once');
    await site.follow(id);
    expect(await site.row(id)).toMatchObject({ status: 'succeeded', attempts: 2 });
  });

  it('is run again if the database was briefly away while it ran', async () => {
    const own = await openSite();
    let away = 0;
    const transaction: typeof own.database.transaction = async (work) => {
      // The request has not ended, but its result is being stored, which is the last step of the
      // run.
      const { rows } = await own.database.query(
        "SELECT 1 FROM requests WHERE stage->>'name' = $1",
        [STAGES.uploading.name],
      );
      if (rows.length > 0 && away === 0) {
        away += 1;
        throw new DatabaseUnreachableError('Connection terminated unexpectedly');
      }
      return own.database.transaction(work);
    };
    const database = Object.create(own.database, { transaction: { value: transaction } });
    await own.startWorker({ database });
    const id = await own.submit('result');
    await own.follow(id);
    expect(await own.row(id)).toMatchObject({ status: 'succeeded' });
    expect(away).toBe(1);
    await own.close();
  });

  it('waits for the storage if that is away when its files are read', async () => {
    const own = await openSite();
    let reads = 0;
    const place = async (_sha256: string, path: string) => {
      reads += 1;
      if (reads === 1) throw new SonogateError('storage_unreachable');
      await writeFile(path, 'from the bucket');
    };
    await own.startWorker({ blobs: Object.create(own.blobs, { place: { value: place } }) });
    const id = await own.submit('result', {
      files: [{ name: 'a.txt', path: '', sha256: 'in the bucket' }],
    });
    await own.follow(id);
    expect(await own.row(id)).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect(await own.core.result(id)).toMatchObject({ texts: ['from the bucket'] });
    expect(reads).toBe(2);
    await own.close();
  });

  it('continues if its lease expired, and it was given to another slot, while the database was away', async () => {
    const own = await openSite({ worker: { concurrency: 2 } });
    let give: (id: string) => Promise<void> = async () => {};
    const work: typeof own.queue.work = (_slots, process) => {
      give = process;
      return { close: async () => {} };
    };
    await own.startWorker({ queue: Object.create(own.queue, { work: { value: work } }) });
    const id = await own.submit('wait-after-preview', {}, { until: 'read' });
    const first = give(id);
    await expect.poll(async () => (await own.core.artifacts(id)).length).toBe(1);
    await own.database.query("UPDATE requests SET lease_until = now() - interval '1 s'");
    const second = give(id);
    await Promise.race([first, second]);
    await writeFile(join(own.config.dataDir, 'work', `${id}.1`, 'read'), '');
    await Promise.all([first, second]);
    expect(await own.row(id)).toMatchObject({ status: 'succeeded', attempts: 1, fault: null });
    await own.close();
  });

  it('keeps its critical flag if the database failed at that moment', async () => {
    const own = await openSite();
    const flags = "SELECT count(*)::int AS n FROM request_events WHERE name = 'triage'";
    let refused = 0;
    const transaction: typeof own.database.transaction = (work) =>
      own.database.transaction(async (tx) => {
        const before = (await tx.query<{ n: number }>(flags)).rows[0]?.n;
        const done = await work(tx);
        const after = (await tx.query<{ n: number }>(flags)).rows[0]?.n;
        if (after !== before && refused === 0) {
          refused += 1;
          throw new Error('deadlock detected');
        }
        return done;
      });
    await own.startWorker({
      database: Object.create(own.database, { transaction: { value: transaction } }),
    });
    const events = await own.submit('result').then(own.follow);
    expect(events.filter(({ name }) => name === 'triage')).toHaveLength(1);
    expect(refused).toBe(1);
    await own.close();
  });

  it('does not prevent the next request from succeeding', async () => {
    const [bad, good] = [await site.submit('die'), await site.submit('result')];
    await Promise.all([site.follow(bad), site.follow(good)]);
    expect((await site.row(good)).status).toBe('succeeded');
  });
});

describe('cancel', () => {
  it.each(['spin', 'wait'])(
    'ends a running request (%s) and the next one runs, long before the time of the first is over',
    async (behaviour) => {
      const id = await site.submit(behaviour, {}, { seconds: 30 });
      await site.until(id, 'running');
      const started = performance.now();
      expect((await site.core.cancel(id, 'acc_1')).status).toBe('canceled');
      const events = await site.follow(id);
      expect(events.at(-1)).toMatchObject({ name: 'done', data: { status: 'canceled' } });

      await site.submit('result').then(site.follow);
      expect(performance.now() - started).toBeLessThan((TIMEOUT_SECONDS * 1000) / 2);
      expect((await site.row(id)).status).toBe('canceled');
    },
  );

  it('ends a queued request at once, and it never runs', async () => {
    const first = await site.submit('wait', {}, { seconds: 40 });
    const second = await site.submit('result');
    await site.core.cancel(second, 'acc_1');
    await site.core.cancel(first, 'acc_1');
    await site.submit('result').then(site.follow);
    expect(await site.row(second)).toMatchObject({ status: 'canceled', attempts: 0 });
  });

  it('is refused for a request that has ended, and for another account', async () => {
    const id = await site.submit('result');
    await site.follow(id);
    await expect(site.core.cancel(id, 'acc_1')).rejects.toMatchObject({ code: 'already_finished' });
    await expect(site.core.cancel(id, 'acc_2')).rejects.toMatchObject({ code: 'not_found' });
  });
});

function statuses(events: { name: string; data: unknown }[]): string[] {
  return events.flatMap(({ name, data }) =>
    name === 'status' ? [(data as { status: string }).status] : [],
  );
}
